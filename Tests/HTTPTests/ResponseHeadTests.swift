@testable import HTTP
import Media
import Testing

struct ResponseHeadTests {
    @Test(
        arguments: [
            (206, ["Content-Range": "bytes 0-9/20"], .part(range: 0..<10, total: 20)),
            (206, ["content-range": "Bytes 5-5/*", "Content-Length": "1"], .part(range: 5..<6, total: nil)),
            (206, ["Content-Length": "10"], .refused(status: 206)),
            (206, ["Content-Range": "bytes 0-9/9"], .refused(status: 206)),
            (206, ["Content-Range": "bytes */20"], .refused(status: 206)),
            (
                206, ["Content-Range": "bytes 0-9/20", "Content-Type": "Multipart/ByteRanges; boundary=x"],
                .refused(status: 206)
            ),
            (206, ["Content-Range": "bytes 0-9/20", "content-RANGE": "bytes 1-9/20"], .refused(status: 206)),
            (
                206, ["Content-Range": "bytes 0-9/20", "content-RANGE": "bytes 0-9/20"],
                .part(range: 0..<10, total: 20)
            ),
            (
                206, ["Content-Range": "bytes 9223372036854775800-9223372036854775806/*"],
                .refused(status: 206)
            ),
            (206, ["Content-Range": "bytes 0-9/20", "Content-Encoding": "gzip"], .refused(status: 206)),
            (
                206, ["Content-Range": "bytes 0-9/20", "Content-Encoding": "identity"],
                .part(range: 0..<10, total: 20)
            ),
            (200, [:], .whole(length: nil)),
            (200, ["Content-Length": "7", "Content-Range": "bytes 1-7/9"], .part(range: 1..<8, total: 9)),
            (200, ["Content-Range": "bytes 0-6/9"], .part(range: 0..<7, total: 9)),
            (200, ["Content-Length": "7", "Content-Range": "BYTES=0-6 / 9"], .part(range: 0..<7, total: 9)),
            (200, ["Content-Length": "7", "Content-Range": "bytes 0-6"], .part(range: 0..<7, total: nil)),
            (200, ["Content-Length": "7", "Content-Range": "bytes 0-6/*"], .part(range: 0..<7, total: nil)),
            (200, ["Content-Length": "9", "Content-Range": "bytes 0-6/9"], .whole(length: 9)),
            (200, ["Content-Length": "9", "Content-Range": "bytes 0-8/9"], .whole(length: 9)),
            (200, ["Content-Length": "9", "Content-Range": "nonsense"], .whole(length: 9)),
            (
                200, ["Content-Length": "7", "Content-Range": "bytes 0-6/9", "Content-Encoding": "gzip"],
                .refused(status: 206)
            ),
            (200, ["Content-Length": "7, 7"], .whole(length: 7)),
            (200, ["Content-Length": "7", "content-length": "7"], .whole(length: 7)),
            (200, ["Content-Length": "7, 8"], .refused(status: 200)),
            (200, ["Content-Length": "7", "content-length": "8"], .refused(status: 200)),
            (
                200, ["Content-Length": "7", "content-length": "8", "Transfer-Encoding": "chunked"],
                .whole(length: nil)
            ),
            (200, ["Content-Length": "7", "Content-Encoding": "gzip"], .whole(length: nil)),
            (200, ["Content-Length": "7", "Content-Encoding": "identity"], .whole(length: 7)),
            (200, ["Content-Length": "7", "icy-metaint": "16000"], .whole(length: nil)),
            (200, ["Content-Length": "7", "icy-metaint": "0"], .whole(length: 7)),
            (200, ["Content-Length": "0", "icy-name": "FM"], .whole(length: nil)),
            (200, ["Content-Length": "0"], .whole(length: 0)),
            (206, ["Content-Range": "bytes 0-9/20", "icy-metaint": "16000"], .refused(status: 206)),
            (200, ["Content-Length": "-7"], .whole(length: nil)),
            (200, ["Content-Length": "1125899906842624"], .whole(length: 1 << 50)),
            (200, ["Content-Length": "1125899906842625"], .refused(status: 200)),
            (200, ["Content-Length": "9223372036854775807"], .refused(status: 200)),
            (200, ["Content-Length": "99999999999999999999"], .refused(status: 200)),
            (200, ["Content-Length": "7", "Transfer-Encoding": "chunked"], .whole(length: nil)),
            (304, [:], .notModified),
            (416, ["Content-Range": "bytes */20"], .unsatisfiable(total: 20)),
            (416, ["Content-Range": "bytes */9223372036854775807"], .unsatisfiable(total: nil)),
            (416, [:], .unsatisfiable(total: nil)),
            (416, ["Content-Range": "bytes 0-1/2"], .unsatisfiable(total: nil)),
            (204, [:], .refused(status: 204)),
            (302, [:], .refused(status: 302)),
            (404, ["Content-Range": "bytes 0-9/20"], .refused(status: 404)),
            (503, [:], .refused(status: 503)),
        ] as [(Int, KeyValuePairs<String, String>, RangeAnswer.Kind)]
    )
    func `the answer decides what its body is`(
        status: Int,
        fields: KeyValuePairs<String, String>,
        kind: RangeAnswer.Kind
    ) throws {
        #expect(try head(status, fields).kind == kind)
    }

    @Test(
        arguments: [
            ("bytes 0-0/1", .part(0..<1, total: 1)),
            ("  bytes   3-4/5 ", .part(3..<5, total: 5)),
            ("bytes 0-1125899906842623/1125899906842624", .part(0..<(1 << 50), total: 1 << 50)),
            ("bytes 0-1125899906842624/*", nil),
            ("bytes 0-9/1125899906842625", nil),
            ("bytes */1125899906842624", .unsatisfied(total: 1 << 50)),
            ("bytes */1125899906842625", nil),
            ("bytes 0-9223372036854775806/*", nil),
            ("bytes 0-9223372036854775807/*", nil),
            ("bytes 0-99999999999999999999/*", nil),
            ("bytes 4-3/9", nil),
            ("bytes 0-5/5", nil),
            ("bytes -1-5/9", nil),
            ("bytes +1-5/9", nil),
            ("bytes 1-5/", nil),
            ("bytes 1-5", .part(1..<6, total: nil)),
            ("bytes=1-5/9", .part(1..<6, total: 9)),
            ("bytes: 1-5/9", .part(1..<6, total: 9)),
            ("BYTES 1 - 5 / 9", .part(1..<6, total: 9)),
            ("bytes\t1-5/ *", .part(1..<6, total: nil)),
            ("bytes = */9", .unsatisfied(total: 9)),
            ("bytes 1/9", nil),
            ("bytes 1 2-5/9", nil),
            ("bytes 1-5/9/9", nil),
            ("bytes1-5/9", nil),
            ("bytesx 1-5/9", nil),
            ("items 1-5/9", nil),
            ("bytes */*", nil),
            ("bytes */0", .unsatisfied(total: 0)),
            ("", nil),
        ] as [(String, ContentRange?)]
    )
    func `a content range is read as servers write it, but never guessed`(
        text: String,
        expected: ContentRange?
    ) {
        #expect(ContentRange(parsing: text) == expected)
    }

    @Test(
        arguments: [
            (0..<1, "bytes=0-0"), (10..<20, "bytes=10-19"), (5..<Int64.max, "bytes=5-"),
        ] as [(ByteRange, String)]
    )
    func `only the header's end is inclusive`(range: ByteRange, value: String) {
        #expect(ContentRange.request(for: range) == value)
    }

    @Test func `an answer has the validators, the type, the rules for caching, and how it came`() throws {
        let head = try ResponseHead.made(
            of: [
                "HTTP/2 200",
                "ETag: W/\"x\"", "Last-Modified: Sat, 01 Jan 2000 00:00:00 GMT",
                "Content-Type: Audio/MPEG ;charset=x", "Cache-Control: private, NO-STORE",
                "Content-Encoding: identity, gzip",
            ],
            reusedConnection: true
        )
        var wire = wire(200, "HTTP/2")
        wire.reusedConnection = true
        wire.redirectedHost = SafeText("b.example\u{FFFD}")
        let expected = RangeAnswer(
            kind: .whole(length: nil),
            validators: Validators(etag: "W/\"x\"", lastModified: "Sat, 01 Jan 2000 00:00:00 GMT"),
            contentType: "audio/mpeg",
            forbidsStoring: true,
            isEncoded: true,
            requestCount: 3,
            wire: wire
        )
        #expect(head.answer(requestCount: 3, redirectedHost: "b.example\u{1B}") == expected)
    }

    @Test(
        arguments: [
            ["Content-Encoding: identity", "Cache-Control: no-store-please, max-age=0"],
            ["ETag:", "Last-Modified: \u{FFFD}", "Content-Type: ;x"],
        ]
    )
    func `fields without a meaning change nothing`(fields: [String]) throws {
        let answer = try head("HTTP/1.1 404", fields).answer(requestCount: 1)
        #expect(answer == RangeAnswer(kind: .refused(status: 404), wire: wire(404)))
    }

    @Test(
        arguments: [
            (503, ["Retry-After": "120"], .seconds(120)),
            (429, ["retry-after": "0"], .zero),
            (503, ["Retry-After": "99999999999999999999"], .seconds(100 * 365 * 86_400)),
            // A date is compared with the server's own date, or with ours if it sends none.
            (
                503,
                ["Retry-After": "Fri, 31 Dec 1999 23:59:59 GMT", "Date": "Fri, 31 Dec 1999 23:58:59 GMT"],
                .seconds(60)
            ),
            (503, ["Retry-After": "Sun, 09 Sep 2001 01:46:45 GMT"], .seconds(5)),
            (503, ["Retry-After": "Sun, 09 Sep 2001 01:46:45 GMT", "Date": "soon"], .seconds(5)),
            (503, ["Retry-After": "Fri, 31 Dec 1999 23:59:59 GMT"], .zero),
            (503, ["Retry-After": "-5"], nil),
            (503, ["Retry-After": "later"], nil),
            (503, [:], nil),
            (200, ["Retry-After": "120"], nil),
        ] as [(Int, KeyValuePairs<String, String>, Duration?)]
    )
    func `how long to leave a server alone is stated in seconds or by a date`(
        status: Int,
        fields: KeyValuePairs<String, String>,
        expected: Duration?
    ) throws {
        let answer = try head(status, fields).answer(requestCount: 1, wallTime: 1_000_000_000)
        #expect(answer.retryAfter == expected)
    }

    // MARK: Lines

    @Test(arguments: [
        (["ETAG: a", "x: 1", "eTag:b"], ["a", "b"]),
        (["ETag: a", " b", "\tc"], ["a b c"]),
        (["ETag: 1", "no colon", " more"], ["1"]),
        (["ETag: 1", ": empty", " more"], ["1"]),
        (["ETag: 1", "sp ace: x", " more"], ["1"]),
        (["ETag: 1", "etag: a\u{0}b", " more"], ["1"]),
        (["ETag: 1", "etag\u{7}: y", " more"], ["1"]),
        (["ETag: 1", "etag: a\u{1B}[2J", " more"], ["1"]),
    ])
    func `fields of one name keep their order, lines are unfolded, and malformed fields are dropped`(
        lines: [String],
        values: [String]
    ) throws {
        #expect(try head("HTTP/2 200", lines).values("etag") == values)
    }

    @Test(
        arguments: [
            ("HTTP/1.1 206 Partial Content", 206, "HTTP/1.1"), ("HTTP/2 200 ", 200, "HTTP/2"),
            ("HTTP/1.0 404", 404, "HTTP/1.0"), ("ICY 200 OK", 200, "ICY"), ("ICY 401 Full", 401, "ICY"),
            ("HTTP/1.1", nil, ""), ("HTTP/1.1 20", nil, ""), ("HTTP/\u{1B}[ 200 OK", nil, ""),
            ("HTTP/ 200", nil, ""), ("HTTP/1.123 200", nil, ""), ("ICYX 200 OK", nil, ""),
        ] as [(String, Int?, String)]
    )
    func `only a status line begins a head`(line: String, status: Int?, version: String) {
        let head = ResponseHead(lines: ["a: b", line + "\r\n", "c: d"].map { Array($0.utf8) })
        #expect(head?.status == status)
        #expect(head?.version ?? "" == version)
        #expect(head?.isMultiplexed ?? false == (version == "HTTP/2"))
        #expect(head.map { [$0.values("a"), $0.values("c")] } ?? [[], ["d"]] == [[], ["d"]])
    }

    // MARK: The user's own fields

    @Test(
        arguments: [
            ("X-Token: a:b ", ["X-Token", "a:b"]), ("authorization:Bearer x", ["authorization", "Bearer x"]),
            ("Empty:", ["Empty", ""]), ("no colon", nil), (": x", nil), ("a b: c", nil),
            // These would change the request itself.
            ("a: b\r\nc: d", nil), ("Range: bytes=0-1", nil), ("HOST: a", nil), ("Icy-MetaData: 1", nil),
        ] as [(String, [String]?)]
    )
    func `a field of the user is a name and a value, and none that the player sets`(
        text: String,
        expected: [String]?
    ) {
        #expect(RequestHeader(parsing: text).map { [$0.name, $0.value] } == expected)
    }

    private func wire(_ status: Int, _ version: String = "HTTP/1.1") -> WireFacts {
        var wire = WireFacts()
        wire.status = status
        wire.version = version
        return wire
    }

    private func head(_ status: Int, _ fields: KeyValuePairs<String, String>) throws -> ResponseHead {
        try head("HTTP/1.1 \(status)", fields.map { "\($0.key): \($0.value)" })
    }

    private func head(_ start: String, _ lines: [String]) throws -> ResponseHead {
        try ResponseHead.made(of: [start] + lines)
    }
}
