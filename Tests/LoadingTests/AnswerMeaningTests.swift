import Media
import Testing

@testable import Loading

/// What each answer means: the rows of what servers do.
@Suite struct AnswerMeaningTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var answer: RangeAnswer
        var wanted: ByteRange? = 500..<600
        var stored: [ByteRange] = [0..<500]
        var length: Int64? = 1_000
        var validators = Validators(etag: "\"1\"")
        var acceptsRanges: Bool?
        var step = IfRangeStep.entityTag
        var hasFallenBack = false
        var meaning: AnswerMeaning
    }

    static let other: SafeText = "the server sends another part than was asked for"
    static let has: SafeText = "the server refuses a part that it says it has"
    static let portal: SafeText =
        "got a web page instead of the rest; sign in to the network and play it again"

    static let parts: [Row] = [
        Row(testDescription: "the part", answer: .part(500..<600, of: 1_000), meaning: .part(500..<600)),
        Row(testDescription: "earlier", answer: .part(300..<600, of: 1_000), meaning: .part(300..<600)),
        Row(testDescription: "shorter", answer: .part(500..<510, of: 1_000), meaning: .part(500..<510)),
        Row(testDescription: "longer", answer: .part(500..<1_000, of: 1_000), meaning: .part(500..<1_000)),
        Row(testDescription: "no total", answer: .part(500..<600, of: nil), meaning: .part(500..<600)),
        Row(testDescription: "later", answer: .part(501..<600, of: 1_000), meaning: .withoutRange(other)),
        Row(testDescription: "elsewhere", answer: .part(0..<100, of: 1_000), meaning: .withoutRange(other)),
        Row(
            testDescription: "later, when the whole was asked for before",
            answer: .part(501..<600, of: 1_000),
            hasFallenBack: true,
            meaning: .refused(.httpStatus, other)
        ),
        Row(
            testDescription: "a part of the whole",
            answer: .part(0..<100, of: 1_000),
            wanted: nil,
            meaning: .refused(.httpStatus, "the server sends a part of what was asked for as a whole")
        ),
        Row(testDescription: "another total", answer: .part(500..<600, of: 1_001), meaning: .changed),
        Row(
            testDescription: "another tag",
            answer: .part(500..<600, of: 1_000, etag: "\"2\""),
            meaning: .changed
        ),
        Row(
            testDescription: "the same tag, weak",
            answer: .part(500..<600, of: 1_000, etag: "W/\"1\""),
            meaning: .part(500..<600)
        ),
        Row(
            testDescription: "a weak tag that differs",
            answer: .part(500..<600, of: 1_000, etag: "W/\"2\""),
            validators: Validators(etag: "W/\"1\""),
            meaning: .changed
        ),
        Row(
            testDescription: "another date",
            answer: RangeAnswer(
                kind: .part(range: 500..<600, total: nil),
                validators: Validators(lastModified: "Tue, 02 Jan 2024 00:00:00 GMT")
            ),
            validators: Validators(lastModified: "Mon, 01 Jan 2024 00:00:00 GMT"),
            meaning: .changed
        ),
        Row(
            testDescription: "with nothing stored nothing is another file",
            answer: .part(0..<100, of: 2_000, etag: "\"2\""),
            wanted: 0..<100,
            stored: [],
            meaning: .part(0..<100)
        ),
    ]

    static let wholes: [Row] = [
        Row(testDescription: "200 at 0", answer: .whole(1_000), wanted: 0..<100, stored: [], meaning: .whole),
        Row(testDescription: "200 in the middle, the tag confirmed", answer: .whole(1_000), meaning: .whole),
        Row(testDescription: "200 of another file", answer: .whole(1_000, etag: "\"2\""), meaning: .changed),
        Row(
            testDescription: "200 that confirms nothing",
            answer: .whole(1_000, etag: nil),
            meaning: .changed
        ),
        Row(
            testDescription: "200 where there are no validators",
            answer: .whole(1_000, etag: nil),
            validators: Validators(),
            meaning: .whole
        ),
        Row(
            testDescription: "200 where there are no validators, another length",
            answer: .whole(999, etag: nil),
            validators: Validators(),
            meaning: .changed
        ),
        Row(
            testDescription: "200 where ranges worked: the condition is not understood",
            answer: .whole(1_000),
            acceptsRanges: true,
            meaning: .weakerCondition(.date)
        ),
        Row(
            testDescription: "200 to a plain range: there are no ranges any more",
            answer: .whole(1_000),
            acceptsRanges: true,
            step: .comparison,
            meaning: .whole
        ),
        Row(
            testDescription: "packed, its length is another one",
            answer: RangeAnswer(
                kind: .whole(length: 700),
                validators: Validators(etag: "W/\"1\""),
                isEncoded: true
            ),
            validators: Validators(etag: "W/\"1\""),
            meaning: .whole
        ),
        Row(
            testDescription: "a page in place of music",
            answer: RangeAnswer(kind: .whole(length: 40), contentType: "text/html"),
            meaning: .refused(.badAnswer, portal)
        ),
        Row(
            testDescription: "a page with nothing stored is the decoder's matter",
            answer: RangeAnswer(kind: .whole(length: 40), contentType: "text/html"),
            wanted: 0..<100,
            stored: [],
            meaning: .whole
        ),
        Row(
            testDescription: "a station",
            answer: RangeAnswer(kind: .whole(length: nil), station: Station()),
            wanted: 0..<100,
            stored: [],
            length: nil,
            meaning: .live
        ),
        Row(
            testDescription: "304 to a plain request",
            answer: RangeAnswer(kind: .notModified),
            meaning: .refused(.httpStatus, "the server answers 304 to a plain request")
        ),
    ]

    static func unsatisfiable(_ total: Int64?) -> RangeAnswer {
        RangeAnswer(kind: .unsatisfiable(total: total))
    }

    static let unsatisfiables: [Row] = [
        Row(
            testDescription: "416 with the total, nothing known",
            answer: unsatisfiable(500),
            length: nil,
            meaning: .nothingThere(end: 500)
        ),
        Row(
            testDescription: "416 far behind the end",
            answer: unsatisfiable(700),
            wanted: 900..<1_000,
            length: nil,
            meaning: .nothingThere(end: 700)
        ),
        Row(
            testDescription: "416 that confirms the file: the stated length was wrong",
            answer: unsatisfiable(500),
            meaning: .nothingThere(end: 500)
        ),
        Row(
            testDescription: "416 of a shorter file",
            answer: unsatisfiable(500),
            validators: Validators(),
            meaning: .changed
        ),
        Row(
            testDescription: "416 for what it says it has",
            answer: unsatisfiable(1_000),
            meaning: .withoutRange(has)
        ),
        Row(
            testDescription: "416 without a total inside",
            answer: unsatisfiable(nil),
            meaning: .withoutRange(has)
        ),
        Row(
            testDescription: "416 without a total right behind what is stored",
            answer: unsatisfiable(nil),
            length: nil,
            meaning: .nothingThere(end: 500)
        ),
        Row(
            testDescription: "416 without a total far behind what is stored",
            answer: unsatisfiable(nil),
            wanted: 900..<1_000,
            length: nil,
            meaning: .nothingThere(end: nil)
        ),
        Row(
            testDescription: "416 without a total at the very start",
            answer: unsatisfiable(nil),
            wanted: 0..<100,
            stored: [],
            length: nil,
            meaning: .withoutRange("the server refuses the first part")
        ),
        Row(
            testDescription: "416 to a plain request",
            answer: unsatisfiable(nil),
            wanted: nil,
            meaning: .refused(.httpStatus, "the server answers 416 to a plain request")
        ),
    ]

    static let statuses: [Row] =
        [400, 403, 405, 412, 418, 501].map { status in
            Row(
                testDescription: "\(status) to a range",
                answer: .refused(status),
                meaning: .withoutRange(AnswerContext.cause(status: status))
            )
        }
        + [400, 403, 405, 501].map { status in
            Row(
                testDescription: "\(status) to the whole",
                answer: .refused(status),
                wanted: nil,
                meaning: .refused(.httpStatus, AnswerContext.cause(status: status))
            )
        }
        + [200, 301, 401, 404, 407, 410, 451].map { status in
            Row(
                testDescription: "\(status)",
                answer: .refused(status),
                meaning: .refused(.httpStatus, AnswerContext.cause(status: status))
            )
        }
        + [408, 425, 429, 500, 502, 503, 504].map { status in
            Row(testDescription: "\(status)", answer: .refused(status), meaning: .later(status: status))
        }
        + [
            Row(
                testDescription: "a 206 that cannot be placed",
                answer: .refused(206),
                meaning: .withoutRange("the server sends a part without saying which, or packed")
            )
        ]

    @Test(arguments: parts + wholes + unsatisfiables + statuses)
    func `an answer means`(row: Row) {
        var context = AnswerContext(step: row.step, hasFallenBack: row.hasFallenBack)
        context.description.length = row.length
        context.description.validators = row.validators
        context.description.acceptsRanges = row.acceptsRanges
        for range in row.stored { context.stored.insert(contentsOf: range) }
        var plan = FetchPlan(id: .init(value: 1), why: .demand, wanted: row.wanted, overlap: 0..<0)
        if !row.stored.isEmpty { plan.ifRange = row.step.condition(for: row.validators) }
        #expect(context.meaning(of: row.answer, to: plan) == row.meaning)
    }

    @Test func `the overlap must be in the part, too`() {
        let context = AnswerContext(stored: ByteRangeSet(0..<500))
        let plan = FetchPlan(id: .init(value: 1), why: .demand, wanted: 500..<600, overlap: 400..<500)
        #expect(context.meaning(of: .part(450..<600, of: nil), to: plan) == .withoutRange(Self.other))
        #expect(context.meaning(of: .part(400..<600, of: nil), to: plan) == .part(400..<600))
    }

    @Test func `a part that is nothing but the overlap tells where a resource of unknown length ends`() {
        var context = AnswerContext(stored: ByteRangeSet(0..<500))
        let plan = FetchPlan(id: .init(value: 1), why: .demand, wanted: 500..<600, overlap: 400..<500)
        #expect(context.meaning(of: .part(400..<500, of: nil), to: plan) == .nothingThere(end: 500))
        #expect(context.meaning(of: .part(400..<500, of: 500), to: plan) == .nothingThere(end: 500))
        context.description.length = 1_000
        #expect(context.meaning(of: .part(400..<500, of: nil), to: plan) == .withoutRange(Self.other))
    }

    @Test func `the condition goes down from tag to date to none`() {
        let both = Validators(etag: "\"1\"", lastModified: "Mon, 01 Jan 2024 00:00:00 GMT")
        #expect(IfRangeStep.entityTag.condition(for: both) == "\"1\"")
        #expect(IfRangeStep.entityTag.next(for: both) == .date)
        #expect(IfRangeStep.date.condition(for: both) == both.lastModified)
        #expect(IfRangeStep.date.next(for: both) == .comparison)
        #expect(IfRangeStep.comparison.condition(for: both) == nil)
        #expect(IfRangeStep.comparison.next(for: both) == nil)
        // A weak tag cannot be a condition: there the date comes first already.
        let weak = Validators(etag: "W/\"1\"", lastModified: both.lastModified)
        #expect(IfRangeStep.entityTag.condition(for: weak) == both.lastModified)
        #expect(IfRangeStep.entityTag.next(for: weak) == .comparison)
    }
}
