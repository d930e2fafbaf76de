import Media
import TestSupport
import Testing

@testable import Decoding

/// Chapters of MP4 files, in a list or in a track, cost no request before the first sound.
@Suite struct MP4ChapterTests {
    private static let titles = [(0, "The start"), (2, "Zweites – Ö"), (5, "章")]
    private static let expected = ChapterList(
        titles.map { Chapter(start: .seconds($0.0), title: $0.1) }
    )
    private static let song = MadeAAC("m4a", seconds: 8)

    private static func made(_ arguments: [String] = []) async throws -> [UInt8] {
        let titles = titles.map { (start: $0.0, title: $0.1) }
        return try await ChapterFixtures.adding(titles, until: 8, to: song.bytes, "m4a", arguments)
    }

    /// `bytes` with the box `name` made one that is skipped.
    private static func without(_ name: String, in bytes: [UInt8]) throws -> [UInt8] {
        var bytes = bytes
        let place = try #require(bytes.indices.first { bytes[$0...].starts(with: name.utf8) })
        bytes.replaceSubrange(place..<place + 4, with: "free".utf8)
        return bytes
    }

    private func opened(_ source: MemorySource) async throws -> MP4Decoder {
        let decoder = MP4Decoder(ProbedStream(source: source, subject: "book.m4b"))
        try await decoder.open()
        return decoder
    }

    @Test(arguments: [([], 2), (["-movflags", "+faststart"], 1)] as [([String], Int)])
    func `a file of ffmpeg has its chapters, by the list as by the track, for no further request`(
        arguments: [String],
        requests: Int
    ) async throws {
        let bytes = try await Self.made(arguments)
        for bytes in [
            bytes, try Self.without("chpl", in: bytes), try Self.without("tref", in: bytes),
        ] {
            let source = MemorySource(bytes)
            let decoder = try await opened(source)
            _ = try await decodeBytes(decoder, atMost: 40_000)
            #expect(decoder.info.chapters == Self.expected)
            #expect(source.requests.count == requests)
        }
        let bare = try Self.without("tref", in: try Self.without("chpl", in: bytes))
        #expect(try await opened(MemorySource(bare)).info.chapters.isEmpty)
    }

    @Test func `a pause in front of the track of chapters delays them`() async throws {
        var bytes = try Self.without("chpl", in: try await Self.made())
        // The edit list of the second track becomes a pause of 3,000 ms.
        let edits = bytes.indices.filter { bytes[$0...].starts(with: "elst".utf8) }
        try #require(edits.count == 2)
        let pause: [UInt8] = [0, 0, 0x0B, 0xB8, 0xFF, 0xFF, 0xFF, 0xFF]
        bytes.replaceSubrange(edits[1] + 12..<edits[1] + 20, with: pause)
        let chapters = try await opened(MemorySource(bytes)).info.chapters
        #expect(chapters.chapters.map(\.start) == [.seconds(3), .seconds(5), .seconds(8)])
    }

    @Test func `pauses of any length are no crash`() {
        func box(_ name: String, _ content: [UInt8]) -> [UInt8] {
            let size = 8 + content.count
            return [0, 0, UInt8(size >> 8), UInt8(size & 0xFF)] + Array(name.utf8) + content
        }
        let longest = [UInt8](repeating: 255, count: 16) + [0, 1, 0, 0]
        let edits = box(
            "elst",
            [1, 0, 0, 0, 0, 0, 0, 16] + [[UInt8]](repeating: longest, count: 16).joined()
        )
        let track = box("trak", box("edts", [[UInt8]](repeating: edits, count: 20).flatMap { $0 }))
        let bytes = box("moov", track)
        var head = MP4Head(at: 0)
        while let range = head.wanted, range.lowerBound < bytes.count {
            head.took(Array(bytes[Int(range.lowerBound)..<min(Int(range.upperBound), bytes.count)]))
        }
        #expect(head.movie == 0..<Int64(bytes.count) && head.chapterTrack == nil)
    }

    private static func list(version: UInt8, count: [UInt8], _ entries: [[UInt8]]) -> [UInt8] {
        [version, 0, 0, 0] + count + entries.flatMap { $0 }
    }

    private static func entry(_ seconds: UInt64, _ title: String, length: UInt8? = nil) -> [UInt8] {
        let time = seconds * 10_000_000
        let bytes = stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: time >> UInt64($0)) }
        return bytes + [length ?? UInt8(title.utf8.count)] + Array(title.utf8)
    }

    @Test func `lists of both versions are read as far as they are sound`() {
        let entries = [Self.entry(5, "b"), Self.entry(0, "a")]
        let both = ChapterList([Chapter(start: .zero, title: "a"), Chapter(start: .seconds(5), title: "b")])
        #expect(MP4Chapters.list(in: Self.list(version: 0, count: [2], entries)) == both)
        #expect(MP4Chapters.list(in: Self.list(version: 1, count: [0, 0, 0, 0, 2], entries)) == both)
        // More are stated than there are, a text is cut, a time is beyond all.
        #expect(MP4Chapters.list(in: Self.list(version: 1, count: [9, 255, 255, 255, 255], entries)) == both)
        let cut = [Self.entry(1, "a"), Self.entry(2, "b", length: 200)]
        #expect(MP4Chapters.list(in: Self.list(version: 0, count: [2], cut)).count == 1)
        let far = [Self.entry(1, "a"), [UInt8](repeating: 255, count: 8) + [0]]
        #expect(MP4Chapters.list(in: Self.list(version: 0, count: [2], far)).count == 1)
        #expect(MP4Chapters.list(in: []).isEmpty && MP4Chapters.list(in: [1, 0, 0]).isEmpty)
    }

    @Test func `titles are read in each encoding`() {
        func title(_ text: [UInt8]) -> String { MP4Chapters.title(of: ([0, UInt8(text.count)] + text)[...]) }
        #expect(title(Array("Zwölf".utf8)) == "Zwölf")
        #expect(title([0xFE, 0xFF, 0x7A, 0xE0]) == "章" && title([0xFF, 0xFE, 0xE0, 0x7A]) == "章")
        #expect(title([]) == "" && MP4Chapters.title(of: [0]) == "")
        // A length beyond the packet; what follows the text is not part of it.
        #expect(MP4Chapters.title(of: [255, 255, 0x41]) == "A")
        #expect(MP4Chapters.title(of: [0, 1, 0x41, 0, 0, 0, 12] + Array("encd".utf8)) == "A")
    }

    /// A resource with the tables of `count` titles, which lie `distance` bytes apart behind them.
    private func titles(_ count: Int, apart distance: Int, isStored: Bool = false) -> (
        ChapterTitles, MemorySource
    ) {
        func number(_ value: Int) -> [UInt8] {
            [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
        }
        let first = 100_000
        var bytes = [UInt8](repeating: 0, count: first + count * distance + 100)
        for index in 0..<count {
            let text = Array("Title \(index)".utf8)
            bytes.replaceSubrange(index * 4..<index * 4 + 4, with: number(2 + text.count))
            bytes.replaceSubrange(
                20_000 + index * 4..<20_004 + index * 4,
                with: number(first + index * distance)
            )
            let place = first + index * distance
            bytes.replaceSubrange(place..<place + 2 + text.count, with: [0, UInt8(text.count)] + text)
        }
        var table = SampleTable()
        table.packetCount = Int64(count)
        table.sizes = NumberTable(in: 0..<20_000, after: 0, width: 32, count: Int64(count))
        table.chunks = NumberTable(in: 20_000..<40_000, after: 0, width: 32, count: Int64(count))
        table.parseRuns(number(0) + number(1) + number(1) + number(1) + number(1))
        let source = MemorySource(bytes, isStored: isStored)
        let chapters = (0..<count).map { Chapter(start: .seconds($0), title: "") }
        let held = HeldBytes(source, ByteWindow(source, at: 0))
        return (ChapterTitles(chapters, table, held, source), source)
    }

    @Test func `titles in a few places are fetched at low priority, and never awaited`() async throws {
        let (titles, source) = titles(3, apart: 90_000)
        #expect(try await !titles.readStored(fetching: false))
        #expect(source.prefetched.isEmpty && source.requests.isEmpty)
        #expect(try await !titles.readStored(fetching: true))
        // First the tables.
        #expect(source.prefetched == [20_000..<20_012, 0..<12])
        source.store(0..<40_000)
        #expect(try await !titles.readStored(fetching: true))
        #expect(source.prefetched.dropFirst(2).map(\.lowerBound) == [100_000, 190_000, 280_000])
        source.store(190_000..<200_000)
        #expect(try await titles.readStored(fetching: true))
        #expect(titles.chapters.chapters.map(\.title) == ["", "Title 1", ""])
        source.store(0..<300_000)
        #expect(try await titles.readStored(fetching: true))
        #expect(titles.chapters.chapters.map(\.title) == ["Title 0", "Title 1", "Title 2"])
        #expect(try await !titles.readStored(fetching: true))
        #expect(source.prefetched.count == 5 && source.requests.isEmpty)
    }

    @Test func `titles all over the file are read where the music around them is loaded, without requests`()
        async throws
    {
        let (titles, source) = titles(40, apart: 90_000)
        source.store(0..<40_000)
        for _ in 0..<4 { #expect(try await !titles.readStored(fetching: true)) }
        source.store(3_000_000..<3_700_100)
        var calls = 0
        while calls < 4 {
            _ = try await titles.readStored(fetching: true)
            calls += 1
        }
        #expect(titles.chapters.chapters.map(\.title)[33...39].allSatisfy { !$0.isEmpty })
        #expect(titles.chapters.chapters[0].title.isEmpty)
        #expect(source.prefetched.isEmpty && source.requests.isEmpty)
        // Those in one place are one read.
        let (near, stored) = self.titles(300, apart: 30, isStored: true)
        #expect(try await near.readStored(fetching: false))
        #expect(near.chapters.chapters.allSatisfy { !$0.title.isEmpty } && stored.reads.count < 8)
    }

    @Test func `damaged chapters are no crash, and cost neither requests nor waits`() async throws {
        let whole = try await Self.made(["-movflags", "+faststart"])
        let marks = ["chpl", "tref", "chap", "text", "stts", "stsz", "stsc", "stco", "elst"]
        let places = whole.indices.filter { index in marks.contains { whole[index...].starts(with: $0.utf8) }
        }
        #expect(places.count >= 10)
        for seed in 0..<400 as Range<UInt64> {
            var mutator = Mutator(seed: seed)
            var bytes = mutator.damaged(whole, favouring: places)
            if seed % 2 == 0,
                let place = bytes.indices.first(where: { bytes[$0...].starts(with: "chpl".utf8) })
            {
                bytes[place] = 0
            }
            let source = MemorySource(bytes)
            let decoder = MP4Decoder(ProbedStream(source: source, subject: "book.m4b"))
            guard (try? await decoder.open()) != nil else { continue }
            for _ in 0..<8 { _ = try await decoder.scanStored() }
            let chapters = decoder.info.chapters
            #expect(chapters.count <= ChapterList.mostChapters)
            #expect(zip(chapters.chapters, chapters.chapters.dropFirst()).allSatisfy { $0.start < $1.start })
            #expect(source.requests.count < 64, "seed \(seed)")
        }
    }
}
