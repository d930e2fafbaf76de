import Media
import TestSupport
import Testing

@testable import Decoding

/// FLAC of which a part has another format than the one before it.
@Suite struct FLACChangeTests {
    struct Joined: Sendable, CustomTestStringConvertible {
        let parts: [MadeFLAC]
        /// `true` if each part has a head, as after files were joined.
        let hasHeads: Bool
        var testDescription: String {
            (hasHeads ? "with heads: " : "without heads: ")
                + parts.map(\.testDescription).joined(separator: ", ")
        }

        var bytes: [UInt8] {
            hasHeads ? parts.flatMap(\.bytes) : parts.first?.changing(to: Array(parts.dropFirst())) ?? []
        }
    }

    private static func made(
        _ rate: Int,
        _ channels: Int = 2,
        _ samples: MadeWave.Samples = .s16,
        _ words: [String] = []
    ) -> MadeFLAC {
        // The last block has few samples, so that it differs from all others.
        let frames = rate * 3 / 4_096 * 4_096
        return .byFlac(
            words,
            MadeWave(samples: samples, channels: channels, rate: rate, frames: frames, loudness: 0.1)
        )
    }

    private static let all = [
        Joined(parts: [made(44_100), made(48_000)], hasHeads: true),
        Joined(parts: [made(44_100), made(96_000, 2, .s24), made(44_100, 1)], hasHeads: true),
        Joined(parts: [made(8_000), made(8_000)], hasHeads: true),
        Joined(parts: [made(22_050, 1, .s16, ["--blocksize=1024"]), made(32_000)], hasHeads: true),
        Joined(parts: [made(44_100), made(48_000)], hasHeads: false),
        Joined(parts: [made(44_100, 1), made(44_100, 2), made(44_100, 1)], hasHeads: false),
        Joined(parts: [made(48_000), made(48_000, 2, .s24)], hasHeads: false),
        Joined(parts: [made(96_000, 2, .s24), made(32_000, 1), made(8_000, 1, .u8)], hasHeads: false),
    ]

    @Test(arguments: all)
    func `music in another format plays on behind that of the first one`(joined: Joined) async throws {
        let decoder = try await openedFLAC(joined.bytes)
        var heard: [UInt8] = []
        var expected = joined.parts.map(\.wave.pcm)
        var length = Duration.zero
        while !expected.isEmpty {
            let format = decoder.info.format
            heard = try await decodeBytes(decoder)
            var next = expected.removeFirst()
            // A part in the same format is no change.
            if joined.parts.map(\.wave.rate) == [8_000, 8_000] { next += expected.removeFirst() }
            expectSame(heard, next)
            length += format.duration(of: FrameCount(heard.count / format.bytesPerFrame))
        }
        #expect(decoder.info.duration == length && decoder.info.isDurationExact)
        #expect(try await decodeBytes(decoder).isEmpty)
    }

    @Test(arguments: all)
    func `seeks reach every part that was played, in its own format`(joined: Joined) async throws {
        let decoder = try await openedFLAC(joined.bytes)
        var heard: [UInt8] = []
        repeat { heard = try await decodeBytes(decoder) } while !heard.isEmpty
        for number in [0, 1, joined.parts.count - 1, 0] {
            let start = joined.parts[..<number].reduce(Duration.zero) {
                $0 + .seconds(Double($1.wave.frames) / Double($1.wave.rate))
            }
            let landing = try await decoder.seek(to: start + .milliseconds(1_500))
            let format = decoder.info.format
            #expect(format.sampleRate == joined.parts[number].wave.rate && landing.isExact)
            let first = Int(landing.frame - format.frames(in: start)) * format.bytesPerFrame
            #expect(abs(format.duration(of: landing.frame).seconds - start.seconds - 1.5) < 0.001)
            heard = try await decodeBytes(decoder, atMost: 3_000 * format.bytesPerFrame)
            expectSame(heard, joined.parts[number].wave.pcm.dropFirst(first).prefix(heard.count))
            #expect(!heard.isEmpty)
        }
    }

    @Test func `a part in the same format counts to the length with its first sound`() async throws {
        let part = Self.made(8_000)
        let decoder = try await openedFLAC(part.bytes + part.bytes)
        _ = try await decodeBytes(decoder, atMost: part.wave.pcm.count + 2_000)
        #expect(decoder.info.duration == decoder.info.format.duration(of: FrameCount(2 * part.wave.frames)))
    }
}
