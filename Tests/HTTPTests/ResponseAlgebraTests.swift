@testable import HTTP
import Media
import Testing

struct ResponseAlgebraTests {
    private typealias Kind = RangeAnswer.Kind

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
            (200, ["Content-Length": "7", "Content-Range": "bytes 1-7/9"], .whole(length: 7)),
            (200, ["Content-Length": "7, 7"], .whole(length: 7)),
            (200, ["Content-Length": "7, 8"], .whole(length: nil)),
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
    ) {
        #expect(ResponseAlgebra.kind(for: head(status, fields)) == kind)
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
            ("bytes 1-5", nil),
            ("bytes 1/9", nil),
            ("bytes=1-5/9", nil),
            ("items 1-5/9", nil),
            ("bytes */*", nil),
            ("bytes */0", .unsatisfied(total: 0)),
            ("", nil),
        ] as [(String, ContentRange?)]
    )
    func `a content range is parsed strictly`(text: String, expected: ContentRange?) {
        #expect(ContentRange(parsing: text) == expected)
    }

    @Test(
        arguments: [
            (0..<1, "bytes=0-0"), (10..<20, "bytes=10-19"), (5..<Int64.max, "bytes=5-"),
        ] as [(ByteRange, String)]
    )
    func `only the header's end is inclusive`(range: ByteRange, value: String) {
        #expect(RangeHeader.value(for: range) == value)
    }

    @Test func `validators, type and rules for keeping are read off the fields`() {
        let answer = ResponseAlgebra.answer(
            for: head(
                200,
                [
                    "ETag": "W/\"x\"", "Last-Modified": "Sat, 01 Jan 2000 00:00:00 GMT",
                    "Content-Type": " Audio/MPEG ;charset=x", "Cache-Control": "private, NO-STORE",
                    "Content-Encoding": "identity, gzip",
                ]
            ),
            requestCount: 3
        )
        let expected = RangeAnswer(
            kind: .whole(length: nil),
            validators: Validators(etag: "W/\"x\"", lastModified: "Sat, 01 Jan 2000 00:00:00 GMT"),
            contentType: "audio/mpeg",
            forbidsStoring: true,
            isEncoded: true,
            requestCount: 3
        )
        #expect(answer == expected)
    }

    @Test(
        arguments: [
            ["Content-Encoding": "identity", "Cache-Control": "no-store-please, max-age=0"],
            ["ETag": "", "Last-Modified": "\u{FFFD}", "Content-Type": ";x"],
        ] as [KeyValuePairs<String, String>]
    )
    func `what says nothing is taken for nothing`(fields: KeyValuePairs<String, String>) {
        let answer = ResponseAlgebra.answer(for: head(404, fields), requestCount: 1)
        #expect(answer == RangeAnswer(kind: .refused(status: 404)))
    }

    private func head(_ status: Int, _ fields: KeyValuePairs<String, String>) -> ResponseHead {
        ResponseHead(status: status, fields: HeaderFields(fields))
    }
}
