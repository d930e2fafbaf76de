import Foundation
import Media
import TestSupport
import Testing

@testable import Cache

/// Nothing in a sealed folder reveals what is cached in it.
@Suite struct SealedSecrecyTests {
    @Test(arguments: [true, false])
    func `nothing readable stands in a sealed folder`(isSealed: Bool) async throws {
        let temporary = try TemporaryFolder()
        let place = try #require(WebURL("https://hidden.example/forbidden/ballad.mp3?token=sesame"))
        // Frames as of music, which are easily found again.
        let frame: [UInt8] =
            [0xFF, 0xFB, 0x90, 0x64] + Array("LAME3.100".utf8) + ByteFixtures.bytes(count: 404, seed: 1)
        let bytes = (0..<600).flatMap { _ in frame }
        do {
            let secret: CacheSecret? = isSealed ? .generate() : nil
            let folder = temporary.opener(secret: secret)
            let store = try await folder.open(place)
            var description = EntryDescription.example
            description.length = Int64(bytes.count)
            description.title = "Gloomy Sunday"
            description.artist = "Rezsoe Seress"
            description.validators = Validators(
                etag: "\"telltale\"",
                lastModified: "Sat, 21 Nov 2026 03:21:13 GMT"
            )
            description.seekTable = Array("seekable points".utf8)
            store.describe(description)
            try await store.write(bytes, at: 0)
            await store.close()
        }
        var found: [String] = []
        let words = [
            "hidden", "forbidden", "ballad", "sesame", "Gloomy", "Seress", "telltale", "seekable", "audio/",
            "LAME3",
        ]
        let needles = words.map { Data($0.utf8) } + [Data(frame[..<16]), Data(frame.suffix(16))]
        let names = try FileManager.default.subpathsOfDirectory(atPath: temporary.cache)
        for name in names {
            guard let file = FileManager.default.contents(atPath: temporary.file(name)) else { continue }
            for needle in needles where file.range(of: needle) != nil {
                found.append("\(name): \(String(decoding: needle, as: UTF8.self))")
            }
        }
        // The same look finds plenty where nothing is sealed.
        if isSealed { #expect(found == []) } else { #expect(found.count >= words.count - 1) }
    }
}
