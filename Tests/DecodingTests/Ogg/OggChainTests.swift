import Media
import TestSupport
import Testing

@testable import Decoding

/// Ogg resources in which several logical streams follow each other.
@Suite struct OggChainTests {
    /// Logical streams, each of which plays alone as it does in the chain.
    struct Chain: Sendable, CustomStringConvertible {
        var description: String
        var parts: [MadeOgg]
        /// `true` if no two streams have the same serial number, as RFC 3533 demands.
        let hasOwnSerials: Bool

        /// `serials` are those of the parts.
        init(_ description: String, _ serials: [UInt32], _ parts: [MadeOgg]) {
            self.description = description
            hasOwnSerials = Set(serials).count == serials.count
            self.parts = zip(parts, serials).map { part, serial in
                part.changed("with serial number \(serial)") { bytes in
                    for found in part.pages {
                        bytes.replaceSubrange(
                            Int(found.offset) + 14..<Int(found.offset) + 18,
                            with: little(UInt64(serial), 4)
                        )
                    }
                    MadeOgg.mend(&bytes)
                }
            }
        }

        var bytes: [UInt8] { parts.flatMap(\.bytes) }
    }

    private static func flac(_ words: [String], _ wave: MadeWave) -> MadeOgg {
        MadeOgg("\(wave)", .flac, MadeFLAC.byFlac(["--ogg", "--serial-number=7"] + words, wave).bytes)
    }

    private static let songs = [
        MadeOgg(.vorbis, seconds: 15, seed: 2), MadeOgg(.vorbis, seconds: 17, seed: 3),
        MadeOgg(.vorbis, seconds: 16, seed: 4), MadeOgg(.vorbis, seconds: 14, seed: 5),
    ]

    static let chains = [
        Chain(
            "Vorbis of other rates",
            [1, 2, 3],
            [
                MadeOgg(.vorbis, ["-q", "-1"], seconds: 8, rate: 22_050, channels: 1),
                MadeOgg(.vorbis, ["-q", "-1"], seconds: 8, rate: 16_000, channels: 1, seed: 2),
                MadeOgg(.vorbis, ["-q", "-1"], seconds: 8, rate: 22_050, channels: 1, seed: 3),
            ]
        ),
        Chain(
            "three codecs",
            [5, 6, 7],
            [
                songs[0], MadeOgg(.opus, ["--bitrate", "96"], seconds: 20, rate: 48_000, channels: 1),
                flac([], MadeWave(samples: .s24, rate: 48_000, frames: 400_000, loudness: 0.3)),
            ]
        ),
        Chain("Vorbis of one serial number", [9, 9, 9, 9], songs),
        Chain("a serial number that returns", [1, 2, 1], Array(songs.prefix(3))),
        Chain(
            "Opus of one serial number",
            [4, 4, 4],
            [
                MadeOgg(.opus, ["--bitrate", "128"], seconds: 20, seed: 6),
                MadeOgg(.opus, ["--bitrate", "128"], seconds: 15, channels: 1, seed: 7),
                MadeOgg(.opus, ["--bitrate", "112"], seconds: 18, seed: 8),
            ]
        ),
        Chain(
            "FLAC of one serial number and other rates",
            [3, 3, 3],
            [
                flac([], MadeWave(frames: 300_000, loudness: 0.3)),
                flac(
                    ["--blocksize=1024"],
                    MadeWave(channels: 1, rate: 32_000, frames: 200_000, loudness: 0.2)
                ),
                flac([], MadeWave(samples: .s24, rate: 96_000, frames: 200_000, loudness: 0.2)),
            ]
        ),
    ]

    private func decoder(_ bytes: [UInt8], isStored: Bool = true) async throws -> OggDecoder {
        let source = MemorySource(bytes, isStored: isStored)
        let decoder = OggDecoder(ProbedStream(source: source, subject: "song"))
        try await decoder.open()
        return decoder
    }

    /// A part as it plays alone.
    private struct Alone {
        var format: AudioFormat
        var pcm: [UInt8]
        var start: Duration
        var duration: Duration { format.duration(of: FrameCount(pcm.count / format.bytesPerFrame)) }
    }

    private func alone(_ chain: Chain) async throws -> [Alone] {
        var parts: [Alone] = []
        for part in chain.parts {
            let decoder = try await decoder(part.bytes)
            let pcm = try await decodeBytes(decoder)
            let start = parts.last.map { $0.start + $0.duration } ?? .zero
            parts.append(Alone(format: decoder.info.format, pcm: pcm, start: start))
        }
        return parts
    }

    /// Expects that `decoder` plays the bytes `expected`. After a seek, Opus is not exact to the last bit.
    private func expectPlays(_ decoder: OggDecoder, _ expected: ArraySlice<UInt8>, _ format: AudioFormat)
        async throws
    {
        let heard = try await decodeBytes(decoder, atMost: min(expected.count, 60_000))
        #expect(!heard.isEmpty || expected.isEmpty)
        guard format.sample == .f32 else { return expectSame(heard, expected.prefix(heard.count)) }
        let pairs = zip(floats(heard), floats(expected.prefix(heard.count)))
        #expect(pairs.allSatisfy { abs($0 - $1) <= 0.5 / 32_768 })
    }

    @Test(arguments: chains)
    func `streams that follow each other last as long as all together, and seeks reach each`(chain: Chain)
        async throws
    {
        let parts = try await alone(chain)
        let last = try #require(parts.last)
        let decoder = try await decoder(chain.bytes)
        while try await decoder.scanStored() {}
        #expect(decoder.info.duration == last.start + last.duration && decoder.info.isDurationExact)
        var random = SeededGenerator(seed: 4)
        for part in parts + parts.reversed() {
            let frame = Int.random(in: 0..<part.pcm.count / part.format.bytesPerFrame, using: &random)
            let landing = try await decoder.seek(to: part.start + part.format.duration(of: FrameCount(frame)))
            #expect(landing.isExact && decoder.info.format == part.format)
            let first = max(0, Int(landing.frame - part.format.frames(in: part.start)))
            #expect(abs(first - frame) <= 1)
            try await expectPlays(
                decoder,
                part.pcm.dropFirst(first * part.format.bytesPerFrame),
                part.format
            )
        }
    }

    @Test(arguments: chains.filter(\.hasOwnSerials))
    func `a seek into the last of streams that follow each other takes few requests`(chain: Chain)
        async throws
    {
        let parts = try await alone(chain)
        let last = try #require(parts.last)
        let bytes = chain.bytes
        let source = MemorySource(bytes)
        let decoder = OggDecoder(ProbedStream(source: source, subject: "song"))
        try await decoder.open()
        let opening = source.requests.count
        #expect(opening <= 2)
        let landing = try await decoder.seek(to: last.start + .seconds(2))
        #expect(decoder.info.format == last.format)
        let first = max(0, Int(landing.frame - last.format.frames(in: last.start)))
        #expect(abs(last.format.duration(of: FrameCount(first)).seconds - 2) < 0.001)
        try await expectPlays(decoder, last.pcm.dropFirst(first * last.format.bytesPerFrame), last.format)
        // FLAC states its length, so the last link is not searched for its end, which may be another one's.
        #expect(decoder.info.duration == last.start + last.duration || !decoder.info.isDurationExact)
        #expect(source.requests.count - opening <= 3 + 6 * (parts.count - 1), "\(source.requests)")
        // What was found once needs no search again.
        let count = source.requests.count
        _ = try await decoder.seek(to: last.start + .seconds(1))
        _ = try await decoder.seek(to: last.start + .seconds(3))
        #expect(source.requests.count <= count + 2)
    }

    @Test(arguments: chains)
    func `after a seek, streams that follow each other play on without a gap`(chain: Chain) async throws {
        let parts = try await alone(chain)
        let decoder = try await decoder(chain.bytes)
        for (number, part) in parts.enumerated().dropLast() {
            let next = parts[number + 1]
            let landing = try await decoder.seek(to: next.start - .seconds(1))
            let first = max(0, Int(landing.frame - part.format.frames(in: part.start)))
            let rest = part.pcm.dropFirst(first * part.format.bytesPerFrame)
            guard part.format != next.format else {
                let heard = try await decodeBytes(decoder, atMost: rest.count + 60_000)
                #expect(heard.count == rest.count + 60_000)
                let expected = floats(rest + next.pcm.prefix(60_000))
                #expect(zip(floats(heard), expected).allSatisfy { abs($0 - $1) <= 0.5 / 32_768 })
                continue
            }
            let heard = try await decodeBytes(decoder)
            #expect(heard.count == rest.count && decoder.info.format == next.format)
            try await expectPlays(decoder, next.pcm[...], next.format)
        }
    }
}
