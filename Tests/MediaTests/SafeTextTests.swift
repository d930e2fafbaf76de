import Media
import TestSupport
import Testing

@Suite
struct SafeTextTests {
    private static let controls = Array(0x00...0x1F) + Array(0x7F...0x9F)
    private static let bidirectional =
        [0x061C, 0x200E, 0x200F] + Array(0x202A...0x202E) + Array(0x2066...0x2069)
    private static let hidden = [0x2060, 0x2064, 0xFEFF, 0xFFF9, 0xFFFB, 0xE0001, 0xE007F]
    private static let forbidden = Set(controls + bidirectional + hidden + [0x2028, 0x2029])

    @Test(arguments: forbidden.sorted())
    func `a forbidden scalar is replaced`(value: Int) throws {
        let scalar = try #require(Unicode.Scalar(UInt32(value)))
        let isBreak = (0x09...0x0D).contains(value) || [0x85, 0x2028, 0x2029].contains(value)
        #expect(SafeText("a\(Character(scalar))b").string == (isBreak ? "a b" : "a\u{FFFD}b"))
    }

    @Test func `a carriage return and line feed are two scalars though one character`() {
        #expect(SafeText("a\r\nb").string == "a  b")
    }

    @Test(arguments: ["", "plain", "Björk – Jóga", "音楽", "👩‍🎤", "a\u{301}"])
    func `harmless text stays as it is`(text: String) {
        #expect(SafeText(text).string == text)
    }

    @Test(arguments: ["a", "é"])
    func `long text is cut at the limit`(letter: String) {
        let longest = String(repeating: letter, count: SafeText.longest)
        #expect(SafeText(longest).string == longest)
        #expect(SafeText(longest + letter).string == longest + "…")
        #expect((SafeText(longest) + SafeText(letter)).string == longest + "…")
    }

    @Test(arguments: 0..<200 as Range<UInt64>)
    func `random text never leaves a forbidden scalar`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let ceilings: [UInt32] = [0xFF, 0x2FFF, 0x10FFFF]
        let scalars = (0..<300).compactMap { _ in
            Unicode.Scalar(
                UInt32.random(in: 0...(ceilings.randomElement(using: &random) ?? 0xFF), using: &random)
            )
        }
        let safe = SafeText(String(String.UnicodeScalarView(scalars)))
        #expect(safe.string.unicodeScalars.allSatisfy { !Self.forbidden.contains(Int($0.value)) })
        // A byte of a file name (see `FileName`) takes four.
        let count = scalars.reduce(0) { $0 + ((0x10FF00...0x10FFFF).contains($1.value) ? 4 : 1) }
        #expect(safe.string.unicodeScalars.count == count)
        #expect(SafeText(safe.string) == safe)
    }
}
