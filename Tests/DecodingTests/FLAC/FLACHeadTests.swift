import Media
import TestSupport
import Testing

@testable import Decoding

@Suite struct FLACHeadTests {
    /// A file with these blocks in front of the frames of a real one. A block states `size`, by default its
    /// real one.
    private static func file(_ blocks: [(kind: UInt8, content: [UInt8], size: Int?)]) -> [UInt8] {
        let (head, places, _) = MadeFLAC.bare.frames
        var bytes = Array("fLaC".utf8)
        let all = [(kind: 0, content: head.stream?.bytes ?? [], size: nil)] + blocks
        for (index, block) in all.enumerated() {
            let size = block.size ?? block.content.count
            bytes.append((index == all.count - 1 ? 0x80 : 0) | block.kind)
            bytes += [16, 8, 0].map { UInt8(size >> $0 & 0xFF) } + block.content
        }
        return bytes + MadeFLAC.bare.bytes[(places.first?.lowerBound ?? 0)...]
    }

    private static let comments = vorbisComments([
        "TITLE=Shore", "ARTIST=Someone", "REPLAYGAIN_TRACK_GAIN=-3 dB",
    ])

    @Test func `comments, the place of the cover and ReplayGain are found, and the cover is not read`()
        async throws
    {
        let picture = [UInt8](repeating: 7, count: 5_000_000)
        let bytes = Self.file([(4, Self.comments, nil), (6, picture, nil), (1, [0, 0], nil)])
        let source = MemorySource(bytes)
        let decoder = FLACDecoder(ProbedStream(source: source, subject: "song"))
        try await decoder.open()
        #expect(decoder.info.tags.title == "Shore" && decoder.info.tags.artist == "Someone")
        #expect(decoder.info.loudness?.track.gain == -3)
        let cover = try #require(decoder.info.tags.cover)
        #expect(Array(bytes[Int(cover.lowerBound)..<Int(cover.upperBound)]) == picture)
        #expect(decoder.info.codec == "FLAC, 16 bits" && decoder.info.audioStart == cover.upperBound + 6)
        // The head, and the music after the jump.
        #expect(source.requests.count == 2)
        #expect(source.requests.allSatisfy { $0.upperBound <= 65_536 || $0.lowerBound == cover.upperBound })
        expectSame(try await decodeBytes(decoder), MadeFLAC.bare.wave.pcm)
    }

    @Test func `an ID3 tag in front is skipped, and fills what the comments do not say`() async throws {
        let bytes = tag(of: 3_000) + Self.file([(4, vorbisComments(["TITLE=Shore"]), nil)])
        let decoder = try await openedFLAC(bytes)
        #expect(decoder.info.tags.title == "Shore")
        expectSame(try await decodeBytes(decoder), MadeFLAC.bare.wave.pcm)
        #expect(try await openedFLAC(tag(of: 3_000) + Self.file([])).info.tags.title == "Title")
    }

    @Test func `sizes that lead past the end of the file are refused, and cost no memory`() async {
        for (kind, size) in [(6, 0xFF_FFFF), (3, 0xFF_FFFF), (4, 0x80_0000), (0, 34), (1, 0xFF_FFFF)]
            as [(UInt8, Int)]
        {
            let source = MemorySource(Array(Self.file([(kind, [], size), (1, [], 0)]).prefix(60_000)))
            let decoder = FLACDecoder(ProbedStream(source: source, subject: "song"))
            let error = await #expect(throws: MediaError.self) { try await decoder.open() }
            #expect(error?.code == .notAudio && error?.cause == "No sound in it (damaged or cut short)")
            #expect(source.requests.count <= 3)
        }
    }

    @Test func `a stream without blocks or with impossible numbers is refused`() async {
        var bytes = MadeFLAC.bare.bytes
        for (index, value) in [(4, 1), (8, 0), (26, 0), (7, 33)] as [(Int, UInt8)] {
            var damaged = bytes
            damaged[index] = value
            if index == 8 { damaged.replaceSubrange(8..<12, with: [0, 0, 0, 0]) }
            if index == 26 { damaged.replaceSubrange(18..<21, with: [0, 0, 0]) }
            let error = await #expect(throws: MediaError.self) { try await openedFLAC(damaged) }
            #expect(error?.code == .notAudio, "\(index)")
        }
        bytes = Array(bytes.prefix(30))
        await #expect(throws: MediaError.self) { try await openedFLAC(bytes) }
    }

    @Test func `placeholders and points out of order end a seek table`() throws {
        func point(_ position: UInt64, _ offset: UInt64) -> [UInt8] {
            little(position, 8).reversed() + little(offset, 8).reversed() + [0x10, 0]
        }
        for end in [point(.max, 0), point(4_096, 9_000), point(90_000, 10), point(1 << 60, 1 << 60)] {
            let table = point(0, 0) + point(40_960, 8_000) + end + point(81_920, 16_000)
            let bytes = Self.file([(3, table, nil)])
            var head = FLACHead(at: 0)
            while let range = head.wanted {
                try head.took(bytes[Int(range.lowerBound)..<Int(range.upperBound)])
            }
            let start = try #require(head.audioStart)
            #expect(head.seekPoints.map(\.position) == [0, 40_960])
            #expect(head.seekPoints.map(\.offset) == [start, start + 8_000])
        }
    }
}
