import Media
import System
import TestSupport
import Testing

struct FileNameTests {
    @Test(
        arguments: [
            ([0x61, 0xE9, 0x2E], "a\\xE9."), ([0xC3], "\\xC3"), ([0xE2, 0x82, 0x61], "\\xE2\\x82a"),
            ([0xF4, 0x8F, 0xBE, 0x80], "\\xF4\\x8F\\xBE\\x80"), ([0xFF, 0xC3, 0xA9], "\\xFFé"), ([], ""),
            ([0xED, 0xA0, 0x80], "\\xED\\xA0\\x80"),
        ] as [([UInt8], String)]
    )
    func `bytes that are not UTF-8 are shown escaped`(bytes: [UInt8], shown: String) {
        let text = FileName.text(bytes)
        #expect(SafeText(text).string == shown)
        #expect(FileName.bytes(of: text) == bytes)
        #expect(FileName.isUTF8(text) == bytes.isEmpty)
    }

    @Test(arguments: 0..<50 as Range<UInt64>)
    func `every name is a text and back, and UTF-8 stays as it is`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let bytes = (0..<40).map { _ in
            Bool.random(using: &random) ? UInt8.random(in: 0x80...0xFF, using: &random) : 0x61
        }
        #expect(FileName.bytes(of: FileName.text(bytes)) == bytes)
        let name = String(
            String.UnicodeScalarView(
                (0..<20).compactMap { _ in Unicode.Scalar(UInt32.random(in: 1..<0x10FF00, using: &random)) }
            )
        )
        #expect(FileName.text(Array(name.utf8)) == name && FileName.isUTF8(name))
        #expect(FileName.cString(FileName.text(bytes)) == bytes.map { CChar(bitPattern: $0) } + [0])
    }

    @Test func `a location that is not UTF-8 is a file URL, and its name is escaped`() {
        let location = ResourceLocation.file(
            FileName.text(Array("/m/a b%/".utf8) + [0xE9] + Array(".mp3".utf8))
        )
        #expect(location.safeText == "file:///m/a%20b%25/%E9.mp3")
        #expect(location.name == "\\xE9.mp3")
        #expect(ResourceLocation.file("/m/é.mp3").safeText == "/m/é.mp3")
    }

    @Test func `combining marks beyond eight are cut`() {
        let marks = { (count: Int) in String(repeating: "\u{301}", count: count) }
        #expect(SafeText("a" + marks(100) + "b" + marks(8)).string == "a" + marks(8) + "b" + marks(8))
    }
}
