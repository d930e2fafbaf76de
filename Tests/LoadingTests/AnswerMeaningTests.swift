import Media
import Testing

@testable import Loading

/// The meaning of each response that servers send.
@Suite struct AnswerMeaningTests {
    /// A response to a request for 500..<600 of a resource of 1,000 bytes whose first half is stored.
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
            testDescription = description
            self.answer = answer
            self.meaning = meaning
        }

        var atStart: Row { with { ($0.wanted, $0.stored) = (0..<100, 0..<0) } }
        var asWhole: Row { with { $0.wanted = nil } }
        var ofUnknownLength: Row { with { $0.length = nil } }
        var farAhead: Row { with { ($0.wanted, $0.length) = (900..<1_000, nil) } }
        var withoutValidators: Row { with { $0.validators = Validators() } }
        var weak: Row { with { $0.validators = Validators(etag: "W/\"1\"") } }

        func with(_ change: (inout Row) -> Void) -> Row {
            var row = self
            change(&row)
            return row
        }
    }

    static let other: SafeText = "got another part of the file than requested; the server is at fault"
    static let has: SafeText = "the server refuses a part of the file that it has (416)"
    static let monday = Validators(lastModified: "Mon, 01 Jan 2024 00:00:00 GMT")
    static let tuesday = Validators(lastModified: "Tue, 02 Jan 2024 00:00:00 GMT")
    static let page = RangeAnswer(kind: .whole(length: 40), contentType: "text/html")

    static func refused(_ cause: SafeText) -> AnswerMeaning { .refused(.httpStatus, cause) }
    static func unsatisfiable(_ total: Int64?) -> RangeAnswer {
        RangeAnswer(kind: .unsatisfiable(total: total))
    }

    static let parts: [Row] = [
        Row("the part", .part(500..<600, of: 1_000), .part(500..<600)),
        Row("earlier", .part(300..<600, of: 1_000), .part(300..<600)),
        Row("shorter", .part(500..<510, of: 1_000), .part(500..<510)),
        Row("longer", .part(500..<1_000, of: 1_000), .part(500..<1_000)),
        Row("no total", .part(500..<600, of: nil), .part(500..<600)),
        Row("later", .part(501..<600, of: 1_000), .withoutRange(other)),
        Row("elsewhere", .part(0..<100, of: 1_000), .withoutRange(other)),
        Row("later, after another such answer", .part(501..<600, of: 1_000), .withoutRange(other)).with {
            $0.hasFallenBack = true
        },
        Row(
            "a part of the whole",
            .part(0..<100, of: 1_000),
            refused("requested the whole file, got a part; the server is at fault")
        ).asWhole,
        Row("a smaller total", .part(500..<600, of: 999), .changed),
        Row("a larger total", .part(500..<600, of: 1_001), .grown),
        Row("a larger total and another tag", .part(500..<600, of: 1_001, etag: "\"2\""), .changed),
        Row("another tag", .part(500..<600, of: 1_000, etag: "\"2\""), .changed),
        Row("the same tag, weak", .part(500..<600, of: 1_000, etag: "W/\"1\""), .part(500..<600)),
        Row("another weak tag", .part(500..<600, of: 1_000, etag: "W/\"2\""), .changed).weak,
        Row(
            "another date",
            RangeAnswer(kind: .part(range: 500..<600, total: nil), validators: tuesday),
            .changed
        ).with { $0.validators = monday },
        Row("another tag, with nothing stored", .part(0..<100, of: 2_000, etag: "\"2\""), .part(0..<100))
            .atStart,
    ]

    static let wholes: [Row] = [
        Row("200 at 0", .whole(1_000), .whole).atStart,
        Row("200 in the middle, the tag confirmed", .whole(1_000), .whole),
        Row("200 of another file", .whole(1_000, etag: "\"2\""), .changed),
        Row("200 that confirms nothing", .whole(1_000, etag: nil), .changed),
        Row("200 without validators", .whole(1_000, etag: nil), .whole).withoutValidators,
        Row("200 without validators, of another length", .whole(999, etag: nil), .changed).withoutValidators,
        Row("200 although ranges worked: an unknown condition", .whole(1_000), .weakerCondition(.date)).with {
            $0.acceptsRanges = true
        },
        Row("200 to a plain range: there are no ranges any more", .whole(1_000), .whole).with {
            ($0.acceptsRanges, $0.step) = (true, .comparison)
        },
        Row(
            "packed, and so of another length",
            RangeAnswer(kind: .whole(length: 700), validators: Validators(etag: "W/\"1\""), isEncoded: true),
            .whole
        ).weak,
        Row(
            "a web page instead of music",
            page,
            .refused(
                .badAnswer,
                "got a web page instead of the rest; sign in to the network and play it again"
            )
        ),
        Row("a web page with nothing stored, which the decoder refuses", page, .whole).atStart,
        Row("a station", RangeAnswer(kind: .whole(length: nil), station: Station()), .live).with {
            ($0.wanted, $0.stored, $0.length) = (0..<100, 0..<0, nil)
        },
        Row(
            "304 to a plain request",
            RangeAnswer(kind: .notModified),
            refused("the server answers 304 (unchanged) to an unconditional request")
        ),
    ]

    static let unsatisfiables: [Row] = [
        Row("416 with the total, no length known", unsatisfiable(500), .nothingThere(end: 500))
            .ofUnknownLength,
        Row("416 far behind the end", unsatisfiable(700), .nothingThere(end: 700)).farAhead,
        Row("416 that confirms the file, of another length", unsatisfiable(500), .nothingThere(end: 500)),
        Row("416 of a shorter file", unsatisfiable(500), .changed).withoutValidators,
        Row("416 for a part that exists", unsatisfiable(1_000), .withoutRange(has)),
        Row("416 without a total, inside", unsatisfiable(nil), .withoutRange(has)),
        Row("416 without a total, after the stored bytes", unsatisfiable(nil), .nothingThere(end: 500))
            .ofUnknownLength,
        Row("416 without a total, far ahead", unsatisfiable(nil), .nothingThere(end: nil)).farAhead,
        Row(
            "416 without a total, at the start",
            unsatisfiable(nil),
            .withoutRange("the server refuses even the first part of the file (416)")
        ).atStart.ofUnknownLength,
        Row(
            "416 to a plain request",
            unsatisfiable(nil),
            refused("the server refuses a request without a range (416)")
        ).asWhole,
    ]

    @Test func `a plain request to a port that speaks TLS is told about https`() {
        #expect(AnswerMeaning.cause(status: 400).string.hasSuffix("check the URL, and if it needs https"))
    }

    static let statuses: [Row] =
        [400, 403, 405, 412, 418, 501].map {
            Row("\($0) to a range", .refused($0), .withoutRange(AnswerMeaning.cause(status: $0)))
        }
        + [400, 403, 405, 501].map {
            let meaning = refused(AnswerMeaning.cause(status: $0))
            return Row("\($0) to the whole", .refused($0), meaning).asWhole
        }
        + [200, 301, 401, 404, 407, 410, 451].map {
            Row("\($0)", .refused($0), refused(AnswerMeaning.cause(status: $0)))
        }
        + [408, 425, 429, 500, 502, 503, 504].map { Row("\($0)", .refused($0), .later(status: $0)) }
        + [
            Row(
                "a 206 without its offset",
                .refused(206),
                .withoutRange("got a part of the file at an unknown position (206); the server is at fault")
            )
        ]

    @Test(arguments: parts + wholes + unsatisfiables + statuses)
    func `an answer means`(row: Row) {
        var description = EntryDescription()
        description.length = row.length
        description.validators = row.validators
        description.acceptsRanges = row.acceptsRanges
        var plan = FetchPlan(id: .init(value: 1), urgency: .demand, wanted: row.wanted, overlap: 0..<0)
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
        let plan = FetchPlan(id: .init(value: 1), urgency: .demand, wanted: 500..<600, overlap: 400..<500)
        return LoadAnswers(description).meaning(
            of: .part(part, of: total),
            to: plan,
            stored: ByteRangeSet(0..<500)
        )
    }

    @Test func `a part that lacks the overlap is refused, unless it shows where the resource ends`() {
        #expect(meaning(ofPart: 400..<600, of: nil) == .part(400..<600))
        #expect(meaning(ofPart: 450..<600, of: nil) == .withoutRange(Self.other))
        #expect(meaning(ofPart: 400..<500, of: nil) == .nothingThere(end: 500))
        #expect(meaning(ofPart: 400..<500, of: 500) == .nothingThere(end: 500))
        #expect(meaning(ofPart: 400..<500, of: nil, length: 1_000) == .withoutRange(Self.other))
    }

    @Test(arguments: [0, 65_536], [false, true])
    func `bytes that were stored without validators are compared, also if the server sends some by now`(
        stored: Int64,
        isTrusted: Bool
    ) {
        let known = ByteRangeSet(0..<stored)
        var answers = LoadAnswers(EntryDescription(), stored: known, trustsValidators: isTrusted)
        let range = stored..<stored + 100
        let plan = FetchPlan(id: .init(value: 1), urgency: .demand, wanted: range, overlap: 0..<0)
        answers.learn(.part(range, of: 500_000), .part(range), to: plan)
        #expect(answers.comparesBytes == (stored > 0 || !isTrusted))
    }

    @Test func `the condition is the strong tag, then the date, then none`() {
        let conditions = { (validators: Validators) in
            sequence(first: .entityTag) { (step: IfRangeStep) in step.next(for: validators) }
                .map { $0.condition(for: validators) }
        }
        let date = Self.monday.lastModified
        #expect(conditions(Validators(etag: "\"1\"", lastModified: date)) == ["\"1\"", date, nil])
        #expect(conditions(Validators(etag: "W/\"1\"", lastModified: date)) == [date, nil])
    }
}
