@testable import HTTP
import Testing

struct HeaderFieldsTests {
    @Test func `names have no case, and duplicates keep their order`() throws {
        let fields = try parsed(["ETAG: a\r\n", "x: 1\r\n", "eTag:b"])
        #expect(fields.values("etag") == ["a", "b"])
        #expect(fields.first("etag") == "a")
        #expect(fields.first("none") == nil)
    }

    @Test func `a folded line goes on with the one before`() throws {
        let fields = try parsed(["ETag: a\r\n", " b\r\n", "\tc\r\n"])
        #expect(fields.values("etag") == ["a b c"])
    }

    @Test(arguments: ["no colon", ": empty", "sp ace: x", "x: a\u{0}b", "x\u{7}: y", "x: a\u{1B}[2J"])
    func `what is no field is dropped with what is folded under it`(line: String) throws {
        let fields = try parsed(["a: 1\r\n", line + "\r\n", " more\r\n"])
        #expect(fields.values("a") == ["1"])
        #expect(fields.values("x").isEmpty)
    }

    @Test func `too many fields, and too many bytes, are refused`() throws {
        var fields = HeaderFields()
        for _ in 0..<HeaderFields.mostFields { try fields.append(line: "a: b\r\n".utf8) }
        #expect(throws: HeaderFields.Problem.tooManyFields) { try fields.append(line: "a: b\r\n".utf8) }
        var large = HeaderFields()
        let half = "a: " + String(repeating: "b", count: HeaderFields.mostBytes / 2)
        try large.append(line: half.utf8)
        #expect(throws: HeaderFields.Problem.tooManyBytes) { try large.append(line: half.utf8) }
    }

    @Test func `the head is complete at the empty line, after interim answers and before trailers`() throws {
        var parser = ResponseHeadParser()
        for line in ["HTTP/1.1 103 Early Hints\r\n", "ETag: early\r\n", "\r\n", "HTTP/2 206\r\n", "a: b\r\n"]
        {
            let early = try parser.append(line: line.utf8)
            #expect(early == nil)
        }
        let complete = try parser.append(line: "\r\n".utf8)
        let head = try #require(complete)
        #expect(head.status == 206)
        #expect(head.isMultiplexed)
        #expect(head.fields.first("a") == "b")
        #expect(head.fields.first("etag") == nil)
        for line in ["ETag: late\r\n", "\r\n"] {
            let late = try parser.append(line: line.utf8)
            #expect(late == nil)
        }
    }

    @Test func `interim answers without end are refused within limits`() throws {
        var parser = ResponseHeadParser()
        let filler = "a: " + String(repeating: "b", count: 10_000) + "\r\n"
        #expect(throws: HeaderFields.Problem.tooManyBytes) {
            for _ in 0..<100 {
                for line in ["HTTP/1.1 103 Early Hints\r\n", filler, "\r\n"] {
                    let head = try parser.append(line: line.utf8)
                    #expect(head == nil)
                }
            }
        }
    }

    @Test(arguments: [
        ("HTTP/1.1 206 Partial Content", 206, "HTTP/1.1"), ("HTTP/2 200 ", 200, "HTTP/2"),
        ("HTTP/1.0 404", 404, "HTTP/1.0"), ("ICY 200 OK", 200, "ICY"), ("ICY 401 Full", 401, "ICY"),
    ])
    func `a status line tells version and status`(line: String, status: Int, version: String) throws {
        var parser = ResponseHeadParser()
        let early = try parser.append(line: (line + "\r\n").utf8)
        #expect(early == nil)
        let head = try parser.append(line: "\r\n".utf8)
        #expect(head?.status == status)
        #expect(head?.version == version)
        #expect(head?.isMultiplexed == (version == "HTTP/2"))
    }

    @Test(arguments: [
        "HTTP/1.1", "HTTP/1.1 20", "HTTP/\u{1B}[ 200 OK", "HTTP/ 200", "HTTP/1.123 200", "ICYX 200 OK",
    ])
    func `what is no status line begins no head`(line: String) throws {
        var parser = ResponseHeadParser()
        for line in [line + "\r\n", "a: b\r\n", "\r\n"] {
            let head = try parser.append(line: line.utf8)
            #expect(head == nil)
        }
    }

    @Test func `text for people is UTF-8, or Latin-1 where it is none`() throws {
        var fields = HeaderFields()
        try fields.append(line: "Icy-Name: Rádió\r\n".utf8)
        try fields.append(line: Array("Old: Caf".utf8) + [0xE9, 0x20, 0x93, 0x0D, 0x0A])
        #expect(fields.text("icy-name") == "Rádió")
        #expect(fields.text("old").map { String(HeaderFields.trimmed($0)) } == "Café “")
        #expect(fields.text("none") == nil)
        #expect(fields.hasName(withPrefix: "icy-") && !fields.hasName(withPrefix: "ice-"))
    }

    @Test(arguments: [
        ("X-Token: a:b ", "X-Token", "a:b"), ("authorization:Bearer x", "authorization", "Bearer x"),
        ("Empty:", "Empty", ""),
    ])
    func `a listener's field is a name and a value`(text: String, name: String, value: String) throws {
        let header = try #require(RequestHeader(parsing: text))
        #expect(header.name == name)
        #expect(header.value == value)
    }

    @Test(arguments: [
        "no colon", ": x", "a b: c", "a: b\r\nc: d", "Range: bytes=0-1", "HOST: a", "Icy-MetaData: 1",
    ])
    func `a field that could change the request itself is refused`(text: String) {
        #expect(RequestHeader(parsing: text) == nil)
    }

    private func parsed(_ lines: [String]) throws -> HeaderFields {
        var fields = HeaderFields()
        for line in lines { try fields.append(line: line.utf8) }
        return fields
    }
}
