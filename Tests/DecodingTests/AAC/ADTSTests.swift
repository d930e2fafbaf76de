import Media
import TestSupport
import Testing

@testable import Decoding

/// AAC in ADTS frames plays as `faad` and ffmpeg decode it.
@Suite struct ADTSTests {
    static let files = [
        .adts, MadeAAC("aac", rate: 48_000, channels: 6, bitRate: 320),
        MadeAAC("aac", channels: 1, bitRate: 48),
        MadeAAC("aac", seconds: 4, rate: 96_000),
    ]
    static let lowRates = [
        MadeAAC("aac", rate: 22_050, channels: 1, bitRate: 24), MadeAAC("aac", rate: 24_000, bitRate: 48),
        MadeAAC("aac", rate: 8_000, channels: 1, bitRate: 12),
    ]

    private func decoder(_ source: MemorySource, seekTable: [UInt8] = []) -> ADTSDecoder {
        ADTSDecoder(ProbedStream(source: source, subject: "song.aac", seekTable: seekTable))
    }

    private func samples(of bytes: [UInt8]) async throws -> [Float] {
        floats(try await decodeBytes(decoder(MemorySource(bytes, isStored: true))))
    }

    @Test(arguments: files)
    func `a file gives the samples of faad, also after forty seeks`(made: MadeAAC) async throws {
        try #require(!made.bytes.isEmpty)
        let decoder = decoder(MemorySource(made.bytes, isStored: true))
        let whole = try await decodeBytes(decoder)
        let format = decoder.info.format
        #expect(format.channelCount == made.channels && format.sampleRate == made.rate)
        let expected = try made.faad()
        if made.channels == 1 {
            // Both channels of what faad makes of one are the same.
            expectSame(floats(whole), stride(from: 0, to: expected.count, by: 2).map { expected[$0] })
        } else if made.channels == 2 {
            expectSame(floats(whole), expected)
        }
        let frames = FrameCount(whole.count / format.bytesPerFrame)
        #expect(decoder.info.duration == format.duration(of: frames) && decoder.info.isDurationExact)
        var random = SeededGenerator(seed: 3)
        for _ in 0..<40 {
            let frame = FrameCount.random(in: 0..<frames, using: &random)
            let landing = try await decoder.seek(to: format.duration(of: frame))
            #expect(landing == SeekLanding(frame: frame, isExact: true))
            let heard = try await decodeBytes(decoder, atMost: 3_000 * format.bytesPerFrame)
            let rest = whole.dropFirst(Int(frame) * format.bytesPerFrame).prefix(heard.count)
            expectSame(heard, rest, "from \(frame)")
        }
    }

    @Test(arguments: files + lowRates)
    func `a file gives the samples of ffmpeg, within a step of 16 bits`(made: MadeAAC) async throws {
        let heard = try await samples(of: made.bytes)
        let expected = try made.ffmpeg().dropFirst(1_024 * made.channels)
        #expect(heard.count == expected.count && !heard.isEmpty)
        let worst = zip(heard, expected).map { abs($0 - $1) }.max() ?? 0
        #expect(worst <= 1 / 32_768, "off by \(worst * 32_768)")
    }

    @Test func `a stream that is entered in mid-frame plays from the next frame on`() async throws {
        let whole = try await samples(of: MadeAAC.adts.bytes)
        let frames = MadeAAC.adts.adtsFrames
        let cut = frames[20].lowerBound + 5
        let heard = try await samples(of: Array(MadeAAC.adts.bytes[cut...]))
        // Packet 21 is the first one, and brings no samples: it only overlaps with the next one.
        expectSame(heard, whole.dropFirst(21 * 2_048))
    }

    @Test(arguments: [3_000, 100_000])
    func `tags in front are read, and tags behind are no music`(tagLength: Int) async throws {
        let whole = try await samples(of: MadeAAC.adts.bytes)
        let end = Array("TAG".utf8) + [UInt8](repeating: 65, count: 125)
        expectSame(try await samples(of: tag(of: tagLength) + MadeAAC.adts.bytes + end), whole)
    }

    @Test func `100 damaged bytes cost the packet that has them, and the length stays`() async throws {
        let whole = try await samples(of: MadeAAC.adts.bytes)
        let frames = MadeAAC.adts.adtsFrames
        for (index, start) in [(100, 30), (150, 2), (200, 0)] {
            let damaged = MadeAAC.adts.changed("damaged") { bytes in
                for place in 0..<100 { bytes[frames[index].lowerBound + start + place] ^= 0x55 }
            }
            let decoder = decoder(MemorySource(damaged.bytes, isStored: true))
            let heard = floats(try await decodeBytes(decoder))
            #expect(heard.count == whole.count)
            let differing = zip(heard, whole).enumerated().filter { $0.element.0 != $0.element.1 }.map(
                \.offset
            )
            let (first, last) = try (#require(differing.first), #require(differing.last))
            // Packet 1 is the first one with samples; damage reaches into the overlap with the next packet.
            #expect(first >= (index - 1) * 2_048 && last < (index + 1) * 2_048)
        }
    }

    @Test func `20 KB of zeros become silence of about their length, and all behind them plays`() async throws
    {
        let whole = try await samples(of: MadeAAC.adts.bytes)
        let zeroed = MadeAAC.adts.changed("zeroed") { bytes in
            for index in 50_000..<70_000 { bytes[index] = 0 }
        }
        let decoder = decoder(MemorySource(zeroed.bytes, isStored: true))
        let heard = floats(try await decodeBytes(decoder))
        #expect(abs(heard.count - whole.count) <= 8 * 2_048)
        expectSame(heard.suffix(100_000), whole.suffix(100_000))
        #expect(decoder.info.skippedByteCount > 15_000)
    }

    @Test func `a file that is cut plays to the cut`() async throws {
        let whole = try await samples(of: MadeAAC.adts.bytes)
        let frames = MadeAAC.adts.adtsFrames
        let heard = try await samples(of: Array(MadeAAC.adts.bytes[..<(frames[300].lowerBound + 50)]))
        expectSame(heard, whole.prefix(299 * 2_048))
    }

    @Test func `a frame near the end that states a length beyond it costs no more than itself`() async throws
    {
        let whole = try await samples(of: MadeAAC.adts.bytes)
        let frames = MadeAAC.adts.adtsFrames
        let start = frames[frames.count - 6].lowerBound
        let changed = MadeAAC.adts.changed("length") { bytes in
            bytes[start + 3] |= 0x03
            bytes[start + 4] = 0xFF
            bytes[start + 5] |= 0xE0
        }
        #expect(start + ADTSHeader.longestFrame > changed.bytes.count)
        let heard = try await samples(of: changed.bytes)
        #expect(abs(heard.count - whole.count) <= 2 * 2_048, "\(heard.count) of \(whole.count)")
        expectSame(heard.prefix((frames.count - 8) * 2_048), whole.prefix((frames.count - 8) * 2_048))
    }

    /// Five minutes, or an hour, whose thirds have very different rates.
    private static func long(_ minutes: Int) -> [UInt8] {
        let parts = [MadeAAC("aac", bitRate: 160), MadeAAC("aac", bitRate: 32), MadeAAC("aac", bitRate: 96)]
        var bytes: [UInt8] = []
        for part in parts {
            for _ in 0..<minutes * 60 / 3 / 12 { bytes += part.bytes }
        }
        return bytes
    }

    @Test(arguments: [(5, 3), (60, 4)])
    func `the first sound takes one request, and a far seek few`(minutes: Int, most: Int) async throws {
        let bytes = Self.long(minutes)
        let seconds = Double(minutes * 60)
        for target in minutes == 60 ? [0.9] : [0.9, 0.5, 0.2] {
            let source = MemorySource(bytes)
            let decoder = decoder(source)
            _ = try await decodeBytes(decoder, atMost: 100_000)
            #expect(source.requests.count == 1)
            let landing = try await decoder.seek(to: .seconds(seconds * target))
            _ = try await decodeBytes(decoder, atMost: 100_000)
            #expect(source.requests.count - 1 <= most)
            #expect(!landing.isExact)
            let requests = source.requests.dropFirst().dropLast()
            #expect(requests.count <= 2 && requests.allSatisfy { $0.count <= 4_096 }, "\(requests)")
            #expect(source.announced == Array(requests))
            // Afterwards the rates are known.
            let before = source.requests.count
            _ = try await decoder.seek(to: .seconds(seconds * 0.7))
            _ = try await decodeBytes(decoder, atMost: 20_000)
            #expect(source.requests.count - before <= 2)
        }
    }

    @Test(arguments: [120, 200])
    func `an estimated position is corrected once the bytes before it are stored`(seconds: Int64)
        async throws
    {
        let bytes = Self.long(5)
        let source = MemorySource(bytes)
        let decoder = decoder(source)
        let landing = try await decoder.seek(to: .seconds(seconds))
        #expect(!landing.isExact && landing.frame == seconds * 44_100 && decoder.correctedLanding == nil)
        let heard = try await decodeBytes(decoder, atMost: 80_000)
        source.store(0..<Int64(bytes.count))
        while try await decoder.scanStored() {}
        let corrected = try #require(decoder.correctedLanding)
        #expect(corrected.isExact && decoder.info.isDurationExact)
        let exact = self.decoder(MemorySource(bytes, isStored: true))
        let frame = corrected.frame
        // Without samples it would be the rate of the start, five times that of the second third.
        #expect(abs(frame / 44_100 - seconds) <= 60, "\(frame)")
        #expect(try await exact.seek(to: exact.info.format.duration(of: frame)).frame == frame)
        let expected = try await decodeBytes(exact, atMost: 80_000)
        expectSame(heard, expected)
    }

    @Test func `the counted packets are stored, and damaged tables are refused`() async throws {
        let first = decoder(MemorySource(MadeAAC.adts.bytes, isStored: true))
        let whole = try await decodeBytes(first)
        let table = first.seekTable()
        #expect(!table.isEmpty)
        for index in stride(from: 0, to: table.count, by: 5) {
            var changed = table
            changed[index] ^= 1
            let decoder = decoder(MemorySource(MadeAAC.adts.bytes), seekTable: changed)
            try await decoder.open()
            #expect(!decoder.info.isDurationExact)
        }
        let decoder = decoder(MemorySource(MadeAAC.adts.bytes), seekTable: table)
        try await decoder.open()
        #expect(decoder.info.isDurationExact)
        let landing = try await decoder.seek(to: .seconds(10))
        expectSame(try await decodeBytes(decoder), whole.dropFirst(Int(landing.frame) * 8))
    }

    @Test func `a stored table that states more packets than any file has is refused`() async throws {
        let first = decoder(MemorySource(MadeAAC.adts.bytes, isStored: true))
        _ = try await decodeBytes(first)
        let content = try #require(StoredNumbers.checked(first.seekTable()))
        // The magic number and the check of the key.
        var forged = Array(content.prefix(12))
        var rest = content.dropFirst(12)
        let numbers = (0..<3).map { _ in StoredNumbers.take(&rest) ?? 0 }
        StoredNumbers.append([0, 1 << 55, numbers[2]], to: &forged)
        let decoder = decoder(MemorySource(MadeAAC.adts.bytes), seekTable: checked(forged + rest))
        try await decoder.open()
        #expect(decoder.info.duration.map { $0 < .seconds(60) } == true)
    }

    @Test func `AAC of other kinds is refused by its name`() async throws {
        // The profile SSR.
        let ssr = MadeAAC.adts.changed("SSR") { bytes in
            for frame in MadeAAC.adts.adtsFrames { bytes[frame.lowerBound + 2] ^= 0xC0 }
        }
        let error = await #expect(throws: MediaError.self) {
            try await decoder(MemorySource(ssr.bytes)).open()
        }
        #expect(error?.code == .notAudio)
        #expect(error?.cause == "AAC SSR – Reprise plays AAC LC and HE-AAC only")
    }
}
