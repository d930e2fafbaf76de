import Media
import TestSupport
import Testing

@Suite
struct PercentEncodingTests {
    private func normalized(_ text: String, keeping component: PercentEncoding.Component) -> String {
        var text = text
        return text.withUTF8 { PercentEncoding.normalized($0, keeping: component) }
    }

    @Test(arguments: [
        ("abc", "abc"), ("a%62c", "abc"), ("%2f%2F", "%2F%2F"), ("%", "%25"), ("%4", "%254"),
        ("a?b", "a%3Fb"), ("ü", "%C3%BC"), ("a%25b", "a%25b"), ("\"<>", "%22%3C%3E"),
        ("!$&'()*+,;=:@/-._~", "!$&'()*+,;=:@/-._~"),
    ])
    func `a path is normalised, and a query too, but for its question marks`(text: String, expected: String) {
        #expect(normalized(text, keeping: .path) == expected)
        #expect(normalized("a?b#", keeping: .query) == "a?b%23")
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
        let normal = normalized(text, keeping: .path)
        #expect(normalized(normal, keeping: .path) == normal)
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
