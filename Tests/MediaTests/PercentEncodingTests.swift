import Media
import TestSupport
import Testing

@Suite
struct PercentEncodingTests {
    private func normalized(_ text: String) -> String {
        var text = text
        return text.withUTF8 { PercentEncoding.normalized($0) }
    }

    @Test(arguments: [
        ("abc", "abc"), ("a%62c", "abc"), ("%2f%2F", "%2F%2F"), ("%", "%25"), ("%4", "%254"),
        ("a?b#", "a?b%23"), ("ü", "%C3%BC"), ("a%25b", "a%25b"), ("\"<>", "%22%3C%3E"),
        ("!$&'()*+,;=:@/-._~", "!$&'()*+,;=:@/-._~"),
    ])
    func `a path or query is normalised`(text: String, expected: String) {
        #expect(normalized(text) == expected)
    }

    @Test func `the name of a file is escaped, with its percent signs and question marks`() {
        #expect(PercentEncoding.escaped(Array("a/b?c%20#".utf8)) == "a/b%3Fc%2520%23")
    }

    @Test(arguments: [
        ("a%20b", "a b"), ("%C3%BC", "ü"), ("%FF", "\u{FFFD}"), ("100%", "100%"), ("%zz", "%zz"),
    ])
    func `escapes are decoded, and other percent signs stay`(text: String, expected: String) {
        #expect(PercentEncoding.decoded(text) == expected)
    }

    @Test(arguments: 0..<100 as Range<UInt64>)
    func `normalising again changes nothing, and decoding restores the text`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let scalars = (0..<20).compactMap { _ in Unicode.Scalar(UInt32.random(in: 1...0x2FF, using: &random))
        }
        // Without a percent sign, which could become the start of an escape by chance.
        let text = String(String.UnicodeScalarView(scalars.filter { $0 != "%" }))
        let normal = normalized(text)
        #expect(normalized(normal) == normal)
        #expect(PercentEncoding.decoded(normal) == text)
    }

    @Test(arguments: [
        ("/a/b", "/a/b"), ("/.", "/"), ("/..", "/"), ("/a/.", "/a/"), ("/a//../b", "/a/b"),
        ("/a/b/../../../c", "/c"), ("/a.b/..c/d..", "/a.b/..c/d.."), ("/./a", "/a"), ("/..//a", "//a"),
    ])
    func `dot segments are removed and never lead above the root`(path: String, expected: String) {
        #expect(PercentEncoding.removingDotSegments(path) == expected)
    }
}
