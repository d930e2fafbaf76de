import Media
import Testing

@testable import Loading

/// The meaning of each response that servers send.
@Suite struct AnswerMeaningTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var answer: RangeAnswer
        var meaning: AnswerMeaning
        var wanted: ByteRange? = 500..<600
        var stored: ByteRange = 0..<500
        var length: Int64? = 1_000
        var validators = Validators(etag: "\"1\"")
        var acceptsRanges: Bool?
        var step = IfRangeStep.entityTag
        var hasFallenBack = false

        init(_ description: String, _ answer: RangeAnswer, _ meaning: AnswerMeaning) {
            (testDescription, self.answer, self.meaning) = (description, answer, meaning)
        }

        /// This row with nothing stored, and a request for the first bytes.
        var atStart: Row { with { ($0.wanted, $0.stored) = (0..<100, 0..<0) } }

        func with(_ change: (inout Row) -> Void) -> Row {
            var row = self
            change(&row)
            return row
        }
    }

    static let other: SafeText = "the server sends another part than was asked for"
    static let has: SafeText = "the server refuses a part that it says it has"
    static let portal: SafeText =
        "got a web page instead of the rest; sign in to the network and play it again"

    static let parts: [Row] = [
        Row("the part", .part(500..<600, of: 1_000), .part(500..<600)),
        Row("earlier", .part(300..<600, of: 1_000), .part(300..<600)),
        Row("shorter", .part(500..<510, of: 1_000), .part(500..<510)),
        Row("longer", .part(500..<1_000, of: 1_000), .part(500..<1_000)),
        Row("no total", .part(500..<600, of: nil), .part(500..<600)),
        Row("later", .part(501..<600, of: 1_000), .withoutRange(other)),
        Row("elsewhere", .part(0..<100, of: 1_000), .withoutRange(other)),
        Row(
            "later, when the whole was asked for before",
            .part(501..<600, of: 1_000),
            .refused(.httpStatus, other)
        ).with { $0.hasFallenBack = true },
        Row(
            "a part of the whole",
            .part(0..<100, of: 1_000),
            .refused(.httpStatus, "the server sends a part of what was asked for as a whole")
        ).with { $0.wanted = nil },
        Row("another total", .part(500..<600, of: 1_001), .changed),
        Row("another tag", .part(500..<600, of: 1_000, etag: "\"2\""), .changed),
        Row("the same tag, weak", .part(500..<600, of: 1_000, etag: "W/\"1\""), .part(500..<600)),
        Row("a weak tag that differs", .part(500..<600, of: 1_000, etag: "W/\"2\""), .changed).with {
            $0.validators = Validators(etag: "W/\"1\"")
        },
        Row(
            "another date",
            RangeAnswer(
                kind: .part(range: 500..<600, total: nil),
                validators: Validators(lastModified: "Tue, 02 Jan 2024 00:00:00 GMT")
            ),
            .changed
        ).with { $0.validators = Validators(lastModified: "Mon, 01 Jan 2024 00:00:00 GMT") },
        Row(
            "with nothing stored nothing is another file",
            .part(0..<100, of: 2_000, etag: "\"2\""),
            .part(0..<100)
        ).atStart,
    ]

    static let wholes: [Row] = [
        Row("200 at 0", .whole(1_000), .whole).atStart,
        Row("200 in the middle, the tag confirmed", .whole(1_000), .whole),
        Row("200 of another file", .whole(1_000, etag: "\"2\""), .changed),
        Row("200 that confirms nothing", .whole(1_000, etag: nil), .changed),
        Row("200 where there are no validators", .whole(1_000, etag: nil), .whole).with {
            $0.validators = Validators()
        },
        Row("200 where there are no validators, another length", .whole(999, etag: nil), .changed).with {
            $0.validators = Validators()
        },
        Row(
            "200 where ranges worked: the condition is not understood",
            .whole(1_000),
            .weakerCondition(.date)
        ).with { $0.acceptsRanges = true },
        Row("200 to a plain range: there are no ranges any more", .whole(1_000), .whole).with {
            ($0.acceptsRanges, $0.step) = (true, .comparison)
        },
        Row(
            "packed, its length is another one",
            RangeAnswer(kind: .whole(length: 700), validators: Validators(etag: "W/\"1\""), isEncoded: true),
            .whole
        ).with { $0.validators = Validators(etag: "W/\"1\"") },
        Row(
            "a page in place of music",
            RangeAnswer(kind: .whole(length: 40), contentType: "text/html"),
            .refused(.badAnswer, portal)
        ),
        Row(
            "a page with nothing stored is the decoder's matter",
            RangeAnswer(kind: .whole(length: 40), contentType: "text/html"),
            .whole
        ).atStart,
        Row("a station", RangeAnswer(kind: .whole(length: nil), station: Station()), .live).atStart.with {
            $0.length = nil
        },
        Row(
            "304 to a plain request",
            RangeAnswer(kind: .notModified),
            .refused(.httpStatus, "the server answers 304 to a plain request")
        ),
    ]

    static func unsatisfiable(_ total: Int64?) -> RangeAnswer {
        RangeAnswer(kind: .unsatisfiable(total: total))
    }

    static let unsatisfiables: [Row] = [
        Row("416 with the total, nothing known", unsatisfiable(500), .nothingThere(end: 500)).with {
            $0.length = nil
        },
        Row("416 far behind the end", unsatisfiable(700), .nothingThere(end: 700)).with {
            ($0.wanted, $0.length) = (900..<1_000, nil)
        },
        Row(
            "416 that confirms the file: the stated length was wrong",
            unsatisfiable(500),
            .nothingThere(end: 500)
        ),
        Row("416 of a shorter file", unsatisfiable(500), .changed).with { $0.validators = Validators() },
        Row("416 for what it says it has", unsatisfiable(1_000), .withoutRange(has)),
        Row("416 without a total inside", unsatisfiable(nil), .withoutRange(has)),
        Row("416 without a total right behind what is stored", unsatisfiable(nil), .nothingThere(end: 500))
            .with { $0.length = nil },
        Row("416 without a total far behind what is stored", unsatisfiable(nil), .nothingThere(end: nil)).with
        { ($0.wanted, $0.length) = (900..<1_000, nil) },
        Row(
            "416 without a total at the very start",
            unsatisfiable(nil),
            .withoutRange("the server refuses the first part")
        ).atStart.with { $0.length = nil },
        Row(
            "416 to a plain request",
            unsatisfiable(nil),
            .refused(.httpStatus, "the server answers 416 to a plain request")
        ).with { $0.wanted = nil },
    ]

    static let statuses: [Row] =
        [400, 403, 405, 412, 418, 501].map { status in
            Row("\(status) to a range", .refused(status), .withoutRange(AnswerMeaning.cause(status: status)))
        }
        + [400, 403, 405, 501].map { status in
            Row(
                "\(status) to the whole",
                .refused(status),
                .refused(.httpStatus, AnswerMeaning.cause(status: status))
            ).with { $0.wanted = nil }
        }
        + [200, 301, 401, 404, 407, 410, 451].map { status in
            Row("\(status)", .refused(status), .refused(.httpStatus, AnswerMeaning.cause(status: status)))
        }
        + [408, 425, 429, 500, 502, 503, 504].map { status in
            Row("\(status)", .refused(status), .later(status: status))
        }
        + [
            Row(
                "a 206 that cannot be placed",
                .refused(206),
                .withoutRange("the server sends a part without saying which, or packed")
            )
        ]

    @Test(arguments: parts + wholes + unsatisfiables + statuses)
    func `an answer means`(row: Row) {
        var description = EntryDescription()
        description.length = row.length
        description.validators = row.validators
        description.acceptsRanges = row.acceptsRanges
        var plan = FetchPlan(id: .init(value: 1), why: .demand, wanted: row.wanted, overlap: 0..<0)
        if !row.stored.isEmpty { plan.ifRange = row.step.condition(for: row.validators) }
        var answers = LoadAnswers(description)
        answers.learn(row.answer, .weakerCondition(row.step), to: plan)
        if row.hasFallenBack { answers.learn(row.answer, .withoutRange(""), to: plan) }
        #expect(answers.meaning(of: row.answer, to: plan, stored: ByteRangeSet(row.stored)) == row.meaning)
    }

    /// The meaning of a part to a request for 500..<600 that compares the 100 stored bytes before it.
    private func meaning(ofPart part: ByteRange, of total: Int64?, length: Int64? = nil) -> AnswerMeaning {
        var description = EntryDescription()
        description.length = length
        let plan = FetchPlan(id: .init(value: 1), why: .demand, wanted: 500..<600, overlap: 400..<500)
        return LoadAnswers(description).meaning(
            of: .part(part, of: total),
            to: plan,
            stored: ByteRangeSet(0..<500)
        )
    }

    @Test func `the part must include the overlap, too`() {
        #expect(meaning(ofPart: 450..<600, of: nil) == .withoutRange(Self.other))
        #expect(meaning(ofPart: 400..<600, of: nil) == .part(400..<600))
    }

    @Test func `a part that is only the overlap shows where a resource of unknown length ends`() {
        #expect(meaning(ofPart: 400..<500, of: nil) == .nothingThere(end: 500))
        #expect(meaning(ofPart: 400..<500, of: 500) == .nothingThere(end: 500))
        #expect(meaning(ofPart: 400..<500, of: nil, length: 1_000) == .withoutRange(Self.other))
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
