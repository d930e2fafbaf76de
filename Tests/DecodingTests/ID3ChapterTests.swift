import Media
import TestSupport
import Testing

@testable import Decoding

/// Chapters in the ID3v2 tags of MP3 files (frames `CHAP`).
@Suite struct ID3ChapterTests {
    private func frame(_ name: String, _ milliseconds: Int, _ frames: [UInt8]) -> [UInt8] {
        let times = [milliseconds, milliseconds + 1_000, 0xFFFF_FFFF, 0xFFFF_FFFF]
        let numbers = times.flatMap { time in [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: time >> $0) } }
        return id3Frame("CHAP", Array(name.utf8) + [0] + numbers + frames)
    }

    private func title(_ text: String) -> [UInt8] { id3Frame("TIT2", [3] + Array(text.utf8)) }

    private func chapters(_ frames: [UInt8], version: UInt8 = 4) -> ChapterList? {
        ID3v2Tag(id3Tag(version: version, frames)[...])?.chapters
    }

    @Test func `chapters are read in the order of their starts, whatever else they have`() {
        let picture = id3Frame("APIC", [UInt8](repeating: 7, count: 30_000))
        let link = id3Frame("WXXX", [0, 0] + Array("http://a".utf8))
        let frames =
            title("Show") + frame("b", 9_500, link + title("Second"))
            + frame("a", 0, title("First") + picture)
            + frame("c", 20_000, [])
        let expected = ChapterList([
            Chapter(start: .zero, title: "First"), Chapter(start: .milliseconds(9_500), title: "Second"),
            Chapter(start: .seconds(20), title: ""),
        ])
        #expect(chapters(frames) == expected)
        #expect(ID3v2Tag(id3Tag(version: 4, frames)[...])?.tags.title == "Show")
    }

    @Test func `a cut frame is no chapter, and a damaged title costs only itself`() {
        let good = frame("a", 1_000, title("A"))
        #expect(chapters(good, version: 3)?.count == 1)
        #expect(chapters(good + good.dropLast(3))?.count == 1)
        #expect(chapters(id3Frame("CHAP", Array("no end".utf8)))?.isEmpty == true)
        #expect(chapters(id3Frame("CHAP", [65, 0, 0, 0]))?.isEmpty == true)
        let damaged = frame("b", 2_000, Array("TIT2".utf8) + [0x7F, 0x7F, 0x7F, 0x7F, 0, 0, 3, 66])
        #expect(chapters(good + damaged)?.chapters.map(\.start) == [.seconds(1), .seconds(2)])
        // 2^32 - 1 ms is no time in any track.
        #expect(chapters(frame("a", 0xFFFF_FFFF, title("A")))?.isEmpty == true)
    }

    @Test func `an MP3 file of ffmpeg has its chapters, for the one request of the first sound`() async throws
    {
        let titles = [(start: 0, title: "One"), (start: 7, title: "Två")]
        let bytes = try await ChapterFixtures.adding(titles, until: 24, to: Fixture.vbr.bytes, "mp3")
        let source = MemorySource(bytes)
        let decoder = MPEGDecoder(ProbedStream(source: source, subject: "show.mp3"))
        _ = try await decodeBytes(decoder, atMost: 40_000)
        let expected = ChapterList(titles.map { Chapter(start: .seconds($0.start), title: $0.title) })
        #expect(decoder.info.chapters == expected && source.requests.count == 1)
        #expect(decoder.info.tags.title == "Book")
    }

    @Test func `chapters behind long pictures are read once the tag is stored, and never requested`()
        async throws
    {
        let picture = id3Frame("APIC", [UInt8](repeating: 7, count: 50_000))
        let frames = (0..<3).flatMap { frame("\($0)", $0 * 5_000, title("Part \($0)") + picture) }
        let artist = id3Frame("TPE1", [3] + Array("Host".utf8))
        let bytes = id3Tag(version: 4, title("Show") + artist + frames) + Fixture.vbr.bytes
        let source = MemorySource(bytes)
        let decoder = MPEGDecoder(ProbedStream(source: source, subject: "show.mp3"))
        _ = try await decodeBytes(decoder, atMost: 40_000)
        _ = try await decoder.scanStored()
        #expect(decoder.info.chapters.count == 1 && source.requests.count == 2 && source.prefetched.isEmpty)
        source.store(0..<200_000)
        _ = try await decoder.scanStored()
        #expect(decoder.info.chapters.chapters.map(\.title) == ["Part 0", "Part 1", "Part 2"])
        #expect(source.requests.count == 2)
    }

    @Test func `damaged chapters are no crash`() {
        let whole = id3Tag(version: 4, frame("a", 0, title("First")) + frame("b", 5_000, title("Second")))
        for seed in 0..<2_000 as Range<UInt64> {
            var mutator = Mutator(seed: seed)
            let list = ID3v2Tag(mutator.damaged(whole, favouring: [10, 20, 40])[...])?.chapters
            #expect((list?.count ?? 0) <= 2)
        }
    }
}
