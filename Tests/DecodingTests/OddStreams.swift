import Decoding
import TestSupport
import Testing

/// Streams that no encoder creates, assembled from frames.
enum OddStreams {
    /// Six seconds each, without any header frame.
    static let stereo = bare("stereo", ["-b", "128"])
    static let variable = bare("variable", ["-V", "3"])
    static let mono = bare("mono", ["-b", "64"], channels: 1)
    static let high = bare("48 kHz", ["-b", "128"], rate: 48_000)
    static let low = bare("22.05 kHz", ["-b", "64"], rate: 22_050)
    static let lowest = bare("8 kHz mono", ["-b", "8"], rate: 8_000, channels: 1)
    static let free = bare("free format", ["--freeformat", "-b", "200"])
    static let layerII = Fixture.made("Layer II", ["-b:a", "192k"], by: .ffmpeg, seconds: 6)
    static let lowLayerII =
        Fixture.made("Layer II at 22.05 kHz", ["-b:a", "64k"], by: .ffmpeg, seconds: 6, rate: 22_050)
    static let layerI = Fixture(name: "Layer I", bytes: LayerIEncoder.noise(frames: 600, seed: 1))

    private static func bare(
        _ name: String,
        _ arguments: [String],
        rate: Int = 44_100,
        channels: Int = 2
    ) -> Fixture {
        Fixture.made(name, arguments + ["-t"], seconds: 6, rate: rate, channels: channels)
    }

    /// Where the frames of `bytes` begin.
    static func frameStarts(_ bytes: [UInt8]) -> [Int] { FrameWalker(bytes).map(\.index) }

    /// `fixture` with `inserted` before its frame `number`, or this many bytes after that frame's start.
    static func inserting(
        _ inserted: [UInt8],
        _ fixture: Fixture,
        beforeFrame number: Int,
        plus bytes: Int = 0,
        _ name: String
    ) -> Fixture {
        let place = frameStarts(fixture.bytes)[number] + bytes
        return fixture.changed("with " + name) { $0.insert(contentsOf: inserted, at: place) }
    }

    /// The first `count` frames of each of `parts`, one after the other.
    static func joined(_ parts: [Fixture], frames count: Int) -> Fixture {
        let bytes = parts.flatMap { part in
            let starts = frameStarts(part.bytes)
            return Array(part.bytes[starts[0]..<starts[count]])
        }
        return Fixture(name: parts.map(\.name).joined(separator: ", "), bytes: bytes)
    }

    /// `fixture` after a silent frame with Fraunhofer's header, with a table of 1 % steps.
    static func withVBRI(_ fixture: Fixture) throws -> Fixture {
        let starts = frameStarts(fixture.bytes)
        let header = try #require(FrameHeader(fixture.bytes, at: starts[0]))
        // 128 kbit/s, whatever the first frame has: room for the table.
        let length = 1152 / 8 * 128_000 / header.sampleRate
        var frame = [0xFF, 0xFB, 0x90 | fixture.bytes[starts[0] + 2] & 0x0C, 0x00]
        frame += [UInt8](repeating: 0, count: 32) + Array("VBRI".utf8) + [0, 1, 0, 0, 0, 75]
        func append(_ value: Int, _ count: Int) {
            frame += (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        let entries = 100
        let perEntry = (starts.count + entries - 1) / entries
        for number in [length + fixture.bytes.count, starts.count] { append(number, 4) }
        for number in [entries, 1, 2, perEntry] { append(number, 2) }
        for entry in 0..<entries {
            let first = starts.count <= entry * perEntry ? fixture.bytes.count : starts[entry * perEntry]
            let next = (entry + 1) * perEntry
            append((next < starts.count ? starts[next] : fixture.bytes.count) - first, 2)
        }
        frame += [UInt8](repeating: 0, count: length - frame.count)
        return Fixture(name: fixture.name + " with VBRI", bytes: frame + fixture.bytes)
    }
}

/// Makes Layer I frames of noise: valid in every bit, and loud in some subbands (ISO/IEC 11172-3 §2.4.1.5).
enum LayerIEncoder {
    static func noise(frames: Int, seed: UInt64) -> [UInt8] {
        var random = SeededGenerator(seed: seed)
        var bytes: [UInt8] = []
        for number in 0..<frames {
            // 192 kbit/s at 44.1 kHz, mono; padding as the rate wants it.
            let isPadded = (number + 1) * 12 * 192_000 / 44_100 - number * 12 * 192_000 / 44_100 > 52
            var bits: [Int] = []
            func append(_ value: Int, _ width: Int) { bits += (0..<width).reversed().map { value >> $0 & 1 } }
            append(0xFFFF, 16)
            append(0x60 | (isPadded ? 2 : 0), 8)
            append(0xC0, 8)
            let sounding = Int.random(in: 1...8, using: &random)
            for subband in 0..<32 { append(subband < sounding ? 3 : 0, 4) }
            for _ in 0..<sounding { append(Int.random(in: 10...40, using: &random), 6) }
            for _ in 0..<12 * sounding { append(Int.random(in: 0...14, using: &random), 4) }
            bits += [Int](repeating: 0, count: (52 + (isPadded ? 1 : 0)) * 32 - bits.count)
            bytes += stride(from: 0, to: bits.count, by: 8).map { start in
                UInt8(bits[start..<start + 8].reduce(0) { $0 << 1 | $1 })
            }
        }
        return bytes
    }
}
