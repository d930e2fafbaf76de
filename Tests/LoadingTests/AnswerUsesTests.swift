import Media
import Testing

@testable import Loading

/// What may be done with what an answer brings.
@Suite struct AnswerUsesTests {
    struct Keeping: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var meaning: AnswerMeaning
        var forbidsStoring = false
        var isEncoded = false
        var expected: Loading.Keeping?
    }

    static let keepings: [Keeping] = [
        Keeping(testDescription: "a part", meaning: .part(0..<10), expected: .lasting),
        Keeping(testDescription: "the whole", meaning: .whole, expected: .lasting),
        Keeping(
            testDescription: "a part with no-store",
            meaning: .part(0..<10),
            forbidsStoring: true,
            expected: .passing
        ),
        Keeping(
            testDescription: "the whole with no-store",
            meaning: .whole,
            forbidsStoring: true,
            expected: .passing
        ),
        Keeping(testDescription: "the whole, packed", meaning: .whole, isEncoded: true, expected: .passing),
        Keeping(testDescription: "a live stream", meaning: .live, expected: .passing),
        Keeping(
            testDescription: "an error with no-store",
            meaning: .later(status: 503),
            forbidsStoring: true
        ),
        Keeping(testDescription: "a refusal", meaning: .refused(.httpStatus, ""), forbidsStoring: true),
        Keeping(testDescription: "another file", meaning: .changed, forbidsStoring: true),
        Keeping(testDescription: "nothing there", meaning: .nothingThere(end: 5)),
    ]

    @Test(arguments: keepings)
    func `what may be kept is what the answer allows`(row: Keeping) {
        var answer = RangeAnswer(kind: .whole(length: 100), forbidsStoring: row.forbidsStoring)
        answer.isEncoded = row.isEncoded
        #expect(row.meaning.keeping(of: answer) == row.expected)
    }

    struct Jump: Sendable {
        var acceptsRanges: Bool?
        var isComplete = false
        var isLive = false
        var expected: Seekability
    }

    @Test(arguments: [
        Jump(acceptsRanges: true, expected: .anywhere),
        Jump(acceptsRanges: nil, expected: .anywhere),
        Jump(acceptsRanges: false, expected: .withinStored),
        Jump(acceptsRanges: false, isComplete: true, expected: .anywhere),
        Jump(acceptsRanges: nil, isLive: true, expected: .nowhere),
        Jump(acceptsRanges: true, isComplete: true, isLive: true, expected: .nowhere),
    ])
    func `one may jump to where the server or the cache has music`(row: Jump) {
        var description = EntryDescription()
        description.acceptsRanges = row.acceptsRanges
        #expect(description.seekability(isComplete: row.isComplete, isLive: row.isLive) == row.expected)
    }
}
