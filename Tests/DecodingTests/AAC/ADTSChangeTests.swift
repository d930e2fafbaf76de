import Media
import TestSupport
import Testing

@testable import Decoding

/// ADTS whose frames change their sample rate or channels plays each part as if it were alone.
@Suite struct ADTSChangeTests {
    /// Parts that follow one another in one resource.
    struct Parts: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let all: [MadeAAC]
        /// Bytes between the parts.
        var between: [UInt8] = []

        var bytes: [UInt8] { Array(all.map(\.bytes).joined(separator: between)) }
    }

    private static func made(_ rate: Int, _ channels: Int, seconds: Int = 3) -> MadeAAC {
        MadeAAC("aac", seconds: seconds, rate: rate, channels: channels, bitRate: rate * channels / 1_200)
    }

    static let kinds: [Parts] = [
        Parts(
            testDescription: "22.05, then 44.1 kHz",
            all: [made(22_050, 2, seconds: 8), made(44_100, 2, seconds: 8)]
        ),
        Parts(testDescription: "mono, then stereo", all: [made(44_100, 1), made(44_100, 2)]),
        Parts(
            testDescription: "44.1, 22.05 and 44.1 kHz",
            all: [made(44_100, 2), made(22_050, 2, seconds: 1), made(44_100, 2)]
        ),
        Parts(testDescription: "5.1, stereo, mono", all: [made(48_000, 6), made(44_100, 2), made(8_000, 1)]),
        Parts(
            testDescription: "tags between",
            all: [made(96_000, 1), made(32_000, 2)],
            between: tag(of: 300_000) + tag(of: 70)
        ),
        Parts(
            testDescription: "short parts",
            all: (0..<12).map { made($0 % 2 == 0 ? 48_000 : 16_000, 1 + $0 % 3 / 2, seconds: 1) }
        ),
    ]

    private func decoder(_ source: MemorySource) -> ADTSDecoder {
        ADTSDecoder(ProbedStream(source: source, subject: "song.aac"))
    }

    /// Sound in one format.
    private struct Sound {
        var format: AudioFormat
        var bytes: [UInt8] = []
        var frames: FrameCount { FrameCount(bytes.count / format.bytesPerFrame) }
    }

    /// Decodes until the format changes, to the end, or until there are `limit` bytes.
    private func next(of decoder: ADTSDecoder, atMost limit: Int = .max) async throws -> Sound {
        try await decoder.open()
        let pcm = UnsafeMutableRawBufferPointer.allocate(byteCount: 48_000, alignment: 16)
        defer { pcm.deallocate() }
        var sound = Sound(format: decoder.info.format)
        while sound.bytes.count < limit {
            switch try await decoder.decode(into: pcm) {
            case .frames(let count): sound.bytes += pcm[..<(count * sound.format.bytesPerFrame)]
            case .formatChanged:
                guard sound.bytes.isEmpty else { return sound }
                sound.format = decoder.info.format
            case .end: return sound
            }
        }
        return sound
    }

    /// Decodes to the end.
    private func rest(of decoder: ADTSDecoder) async throws -> [Sound] {
        var sounds: [Sound] = []
        while case let sound = try await next(of: decoder), !sound.bytes.isEmpty { sounds.append(sound) }
        return sounds
    }

    /// The sound of each part alone.
    private func alone(_ parts: Parts) async throws -> [Sound] {
        var sounds: [Sound] = []
        for part in parts.all { sounds.append(try await next(of: decoder(MemorySource(part.bytes)))) }
        return sounds
    }

    /// The time at which each of `sounds` begins, and the end of the last one.
    private func times(of sounds: [Sound]) -> [Duration] {
        sounds.reduce(into: [.zero]) { times, sound in
            times.append((times.last ?? .zero) + sound.format.duration(of: sound.frames))
        }
    }

    @Test(arguments: kinds)
    func `each part has its own rate and channels, and the length is the sum`(parts: Parts) async throws {
        let expected = try await alone(parts)
        try #require(expected.allSatisfy { !$0.bytes.isEmpty })
        for size in [65_536, 4_099] {
            let decoder = decoder(MemorySource(parts.bytes, requestByteCount: size))
            let heard = try await rest(of: decoder)
            try #require(heard.map(\.format) == expected.map(\.format))
            for (part, alone) in zip(heard, expected) { expectSame(part.bytes, alone.bytes, "\(size)") }
            #expect(decoder.info.isDurationExact && decoder.info.duration == times(of: expected).last)
        }
    }

    @Test(arguments: kinds)
    func `a seek reaches every part exactly, from every other`(parts: Parts) async throws {
        let sounds = try await alone(parts)
        let times = times(of: sounds)
        let decoder = decoder(MemorySource(parts.bytes, isStored: true))
        for number in (0..<sounds.count).reversed() + Array(0..<sounds.count) {
            let format = sounds[number].format
            let count = sounds[number].frames
            for frame in [0, 1, count / 3, count - 1_500, count - 1] {
                let landing = try await decoder.seek(to: times[number] + format.duration(of: frame))
                #expect(landing.isExact && decoder.info.format == format)
                #expect(abs(landing.frame - format.frames(in: times[number]) - frame) <= 1)
                let heard = try await next(of: decoder, atMost: 3_000 * format.bytesPerFrame).bytes
                let rest = sounds[number].bytes.dropFirst(Int(frame) * format.bytesPerFrame).prefix(
                    heard.count
                )
                expectSame(heard, rest, "part \(number) from \(frame) of \(count)")
            }
        }
        let end = try #require(times.last)
        _ = try await decoder.seek(to: end)
        #expect(decoder.info.duration == end)
        #expect(try await rest(of: decoder).isEmpty)
    }

    @Test(arguments: kinds)
    func `an estimated seek into a later part is corrected to its true time`(parts: Parts) async throws {
        let sounds = try await alone(parts)
        let times = times(of: sounds)
        let bytes = parts.bytes
        let source = MemorySource(bytes, requestByteCount: 4_096)
        let decoder = decoder(source)
        _ = try await decodeBytes(decoder, atMost: 2_000)
        let landing = try await decoder.seek(to: try #require(times.last) * 3 / 4)
        try #require(!landing.isExact)
        let landed = decoder.info.format
        let heard = try await next(of: decoder, atMost: 20_000)
        let format = heard.format
        source.store(0..<Int64(bytes.count))
        while try await decoder.scanStored() {}
        let corrected = try #require(decoder.correctedLanding)
        // The position moves by frames of the format that is played, in which no part begins exactly with a
        // frame.
        let presumed = format.frames(in: landed.duration(of: landing.frame))
        let time = format.duration(of: presumed + corrected.frame - landing.frame)
        let number = try #require(times.dropLast().lastIndex { $0 <= time + .milliseconds(1) })
        let frame = Int(format.frames(in: time - times[number]))
        #expect(sounds[number].format == format)
        let isThere = (-1...1).contains { shift in
            let place = sounds[number].bytes.dropFirst(max(0, frame + shift) * format.bytesPerFrame)
            return place.prefix(heard.bytes.count).elementsEqual(heard.bytes)
        }
        #expect(isThere, "\(time) in part \(number)")
    }

    enum Damage: String, CaseIterable { case rate, channels, both }

    @Test(arguments: Damage.allCases, 1...3)
    func `up to three headers that state another format are damage`(damage: Damage, count: Int) async throws {
        let made = MadeAAC.adts
        let whole = try await decodeBytes(decoder(MemorySource(made.bytes)))
        let frames = made.adtsFrames
        let bytes = made.changed("damaged") { bytes in
            for frame in frames[100..<100 + count] {
                if damage != .channels { bytes[frame.lowerBound + 2] ^= 0b0000_1100 }
                if damage != .rate { bytes[frame.lowerBound + 3] ^= 0b1100_0000 }
            }
        }.bytes
        let decoder = decoder(MemorySource(bytes))
        let heard = try await rest(of: decoder)
        try #require(heard.count == 1)
        #expect(abs(heard[0].bytes.count - whole.count) <= 8_192)
        expectSame(heard[0].bytes.prefix(99 * 8_192), whole.prefix(99 * 8_192))
        expectSame(heard[0].bytes.suffix(8_192 * 50), whole.suffix(8_192 * 50))
    }
}
