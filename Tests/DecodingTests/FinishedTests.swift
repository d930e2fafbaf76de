import Media
import TestSupport
import Testing

@testable import Decoding

/// A decoder reports the end only if no music follows: it looks for more up to the last byte, and music that
/// it cannot reach or decode is an error.
@Suite struct FinishedTests {
    enum Format: String, CaseIterable {
        case adts, flac, vorbis, opus, oggFLAC, mp3

        var bytes: [UInt8] {
            switch self {
            case .adts: MadeAAC.adts.bytes
            case .flac: MadeFLAC.plain.bytes
            case .vorbis: MadeOgg.vorbis.bytes
            case .opus: MadeOgg.opus.bytes
            case .oggFLAC: MadeOgg.flac.bytes
            case .mp3: Fixture.cbr.bytes
            }
        }
    }

    /// More bytes than any search was limited to.
    private static let longHole = 9 << 20

    private static let zeros = [UInt8](repeating: 0, count: longHole)
    private static let noise: [UInt8] = {
        var random = SeededGenerator(seed: 4)
        let block = (0..<8_192).flatMap { _ in little(random.next(), 8) }
        return Array(repeatElement(block, count: longHole >> 16).joined())
    }()

    private func decoder(_ bytes: [UInt8]) async throws -> any AudioDecoder {
        try await DecoderTable.all.decoder(for: MemorySource(bytes), at: .file("/song"))
    }

    /// Decodes to the end: about the number of bytes that are no silence, and the last 20,000 bytes.
    private func sound(of bytes: [UInt8]) async throws -> (loud: Int, tail: ArraySlice<UInt8>) {
        let decoder = try await decoder(bytes)
        let pcm = UnsafeMutableRawBufferPointer.allocate(byteCount: 48_000, alignment: 16)
        defer { pcm.deallocate() }
        var loud = 0
        var tail = ArraySlice<UInt8>()
        while case .frames(let count) = try await decoder.decode(into: pcm) {
            let sound = pcm[..<(count * decoder.info.format.bytesPerFrame)]
            if sound.prefix(100).contains(where: { $0 != 0 }) { loud += sound.count }
            tail = (tail + sound).suffix(20_000)
        }
        return (loud, tail)
    }

    @Test(arguments: Format.allCases)
    func `music behind a hole of 9 MB plays`(format: Format) async throws {
        let bytes = format.bytes
        let whole = try await sound(of: bytes)
        let middle = bytes.count / 2
        let isNoise = [.adts, .vorbis, .mp3].contains(format)
        let hole = isNoise ? Self.noise : Self.zeros
        let heard = try await sound(of: bytes[..<middle] + hole + bytes[middle...])
        #expect(heard.loud > whole.loud * 9 / 10, "\(heard.loud) of \(whole.loud)")
        // The state of Opus depends on all packets before.
        if format != .opus { expectSame(heard.tail, whole.tail) }
    }

    @Test(arguments: Format.allCases)
    func `zeros and tags behind the music are no music`(format: Format) async throws {
        let bytes = format.bytes
        let whole = try await sound(of: bytes)
        for rest in [Self.zeros, tag(of: 200_000) + [UInt8](repeating: 0, count: 3_000)] {
            let heard = try await sound(of: bytes + rest)
            expectSame(heard.tail, whole.tail)
            #expect(heard.loud == whole.loud)
        }
    }

    /// Music whose end cannot be reached or decoded, and the reason for it.
    struct Broken: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let bytes: [UInt8]
        let cause: SafeText
        init(_ name: String, _ bytes: [UInt8], _ cause: SafeText) {
            testDescription = name
            self.bytes = bytes
            self.cause = cause
        }
    }

    private static let damagedIndex: SafeText =
        "the index of the music ends too early (damaged) – get another copy of the file"

    /// `bytes` whose table of chunks states `count` packets for each, so that it ends before the packets do.
    private static func indexing(_ count: UInt8, in bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        let name = Array("stsc".utf8)
        guard let place = bytes.indices.last(where: { bytes[$0...].starts(with: name) }) else { return [] }
        bytes.replaceSubrange(place + 16..<place + 20, with: [0, 0, 0, count])
        return bytes
    }

    static let broken: [Broken] = {
        let stereo = MadeAAC("m4a")
        let mono = MadeAAC("m4a", seconds: 4, rate: 22_050, channels: 1, bitRate: 24)
        var far = MadeMP4()
        let free = MadeMP4.box("free", [UInt8](repeating: 0, count: 70_000))
        far.fragments =
            MadeMP4.fragment(MadeMP4.packets[..<20]) + (0..<200).flatMap { _ in free }
            + MadeMP4.fragment(MadeMP4.packets[20..<40])
        let ssr = MadeAAC.adts.changed("SSR") { bytes in
            for frame in MadeAAC.adts.adtsFrames.dropFirst(200) { bytes[frame.lowerBound + 2] ^= 0xC0 }
        }
        return [
            Broken("100 packets in the tables", indexing(100, in: stereo.bytes), damagedIndex),
            Broken("7 packets in the tables, mono", indexing(7, in: mono.bytes), damagedIndex),
            Broken("fragments too far from each other", far.bytes, damagedIndex),
            Broken("AAC LC, then SSR", ssr.bytes, "AAC SSR – Reprise plays AAC LC and HE-AAC only"),
            Broken(
                "Vorbis, then Speex",
                MadeOgg.vorbis.bytes + OggHostileTests.page(9, 0, flags: 2, [Array("Speex   1.2".utf8)]),
                "Ogg with Speex – Reprise plays Ogg with Vorbis, Opus or FLAC only"
            ),
            Broken(
                "1,000 streams without sound",
                MadeOgg.vorbis.bytes
                    + (1...1_000).flatMap { OggHostileTests.stream(1_000 + $0, packets: []) },
                "too many streams without sound follow one another – get another copy of the file"
            ),
        ]
    }()

    @Test(arguments: broken)
    func `music that breaks off is an error that names the cause, and no end`(broken: Broken) async throws {
        let decoder = try await decoder(broken.bytes)
        #expect(try await !decodeBytes(decoder, atMost: 1_000).isEmpty)
        let error = await #expect(throws: MediaError.self) {
            while try await !decodeBytes(decoder, atMost: 1 << 20).isEmpty {}
        }
        #expect(error?.code == .decodingFailed && error?.subject == "/song")
        #expect(error?.cause == broken.cause)
        // A seek back still works.
        _ = try await decoder.seek(to: .zero)
        #expect(try await !decodeBytes(decoder, atMost: 1_000).isEmpty)
    }
}
