import Media
import Testing

@testable import Loading

/// What may be done with what an answer brings.
@Suite struct AnswerUsesTests {
    struct StorageTime: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var meaning: AnswerMeaning
        var forbidsStoring = false
        var isEncoded = false
        var expected: Loading.StorageTime?
    }

    static let keepings: [StorageTime] = [
        StorageTime(testDescription: "a part", meaning: .part(0..<10), expected: .lasting),
        StorageTime(testDescription: "the whole", meaning: .whole, expected: .lasting),
        StorageTime(
            testDescription: "a part with no-store",
            meaning: .part(0..<10),
            forbidsStoring: true,
            expected: .passing
        ),
        StorageTime(
            testDescription: "the whole with no-store",
            meaning: .whole,
            forbidsStoring: true,
            expected: .passing
        ),
        StorageTime(
            testDescription: "the whole, packed",
            meaning: .whole,
            isEncoded: true,
            expected: .passing
        ),
        StorageTime(testDescription: "a live stream", meaning: .live, expected: .passing),
        StorageTime(
            testDescription: "an error with no-store",
            meaning: .later(status: 503),
            forbidsStoring: true
        ),
        StorageTime(testDescription: "a refusal", meaning: .refused(.httpStatus, ""), forbidsStoring: true),
        StorageTime(testDescription: "another file", meaning: .changed, forbidsStoring: true),
        StorageTime(testDescription: "nothing there", meaning: .nothingThere(end: 5)),
    ]

    @Test(arguments: keepings)
    func `what may be kept is what the answer allows`(row: StorageTime) {
        var answer = RangeAnswer(kind: .whole(length: 100), forbidsStoring: row.forbidsStoring)
        answer.isEncoded = row.isEncoded
        #expect(row.meaning.storageTime(of: answer) == row.expected)
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
