import Media
import TestSupport
import Testing

@testable import Decoding

/// Streams whose numbers do not fit together: they neither trap nor last for days.
@Suite struct FLACHostileTests {
    private static let block: FrameCount = 4_096

    /// A mono stream of 16 bits at 44.1 kHz, whose frames of 4,096 equal samples have these numbers.
    private static func stream(frames numbers: some Sequence<Int64>, total: FrameCount) -> [UInt8] {
        var bytes = Array("fLaC".utf8) + [0x80, 0, 0, 34, 0x10, 0, 0x10, 0, 0, 0, 0, 0, 0, 0]
        let packed = UInt64(44_100) << 44 | 15 << 36 | UInt64(total)
        bytes += (0..<8).map { UInt8(packed >> (56 - 8 * $0) & 0xFF) } + [UInt8](repeating: 0, count: 16)
        for number in numbers {
            // 0xC9: blocks of 4,096 at 44.1 kHz; 0x08: one channel of 16 bits.
            var frame: [UInt8] = [0xFF, 0xF8, 0xC9, 0x08, 0xFC | UInt8(number >> 30)]
            frame += [24, 18, 12, 6, 0].map { 0x80 | UInt8(number >> $0 & 0x3F) }
            frame.append(FLACFrameHeader.check(frame))
            // A constant subframe.
            frame += [0, 0x12, 0x34]
            bytes += frame + MadeFLAC.frameCheck(frame)
        }
        return bytes
    }

    /// The PCM frames that are heard, and those that are not silent.
    private func heard(_ decoder: FLACDecoder) async throws -> (all: FrameCount, loud: FrameCount) {
        let bytes = try await decodeBytes(decoder, atMost: 2_000_000)
        let loud = stride(from: 0, to: bytes.count, by: 2).count { bytes[$0] != 0 || bytes[$0 + 1] != 0 }
        return (FrameCount(bytes.count / 2), FrameCount(loud))
    }

    @Test(arguments: [0, 44_100, 1 << 35] as [FrameCount], [0, 1_000, 70_000])
    func `a stream without a frame has no sound`(total: FrameCount, zeros: Int) async throws {
        let bytes = Self.stream(frames: [], total: total) + [UInt8](repeating: 0, count: zeros)
        for time in [nil, 0, 0.5, 100] as [Double?] {
            let decoder = try await openedFLAC(bytes)
            if let time { _ = try await decoder.seek(to: .seconds(time)) }
            guard time ?? 0 < Double(total) / 44_100 || total == 0 else { continue }
            let error = await #expect(throws: MediaError.self) { try await decodeBytes(decoder) }
            #expect(error?.code == .notAudio && error?.cause == "No sound in it (damaged or cut short)")
            _ = decoder.isStored(at: .seconds(1))
            _ = decoder.seekTable()
        }
    }

    @Test func `a stream that was entered in the middle begins at 0:00`() async throws {
        let bytes = Self.stream(frames: 50_000..<50_100, total: 0)
        let decoder = try await openedFLAC(bytes)
        let all = 100 * Self.block
        #expect(try await heard(decoder) == (all, all))
        #expect(decoder.info.duration == decoder.info.format.duration(of: all))
        #expect(decoder.info.isDurationExact)
        for seeker in [decoder, try await openedFLAC(bytes)] {
            #expect(try await seeker.seek(to: .seconds(5)) == SeekLanding(frame: 220_500, isExact: true))
            #expect(try await heard(seeker) == (all - 220_500, all - 220_500))
        }
    }

    /// The stated totals: none, and twice what there is.
    @Test(arguments: [0, 40 * block])
    func `a far position is not made up for by silence that the bytes cannot have had`(total: FrameCount)
        async throws
    {
        for far in [1 << 23, 1 << 30] as [Int64] {
            let bytes = Self.stream(frames: Array(0..<20) + (far..<far + 20), total: total)
            let decoder = try await openedFLAC(bytes)
            let (all, loud) = try await heard(decoder)
            #expect(loud == 40 * Self.block)
            #expect(all <= 60 * Self.block)
            #expect(decoder.info.duration ?? .zero < .seconds(60))
            let landing = try await decoder.seek(to: .seconds(1))
            #expect(landing == SeekLanding(frame: 44_100, isExact: true))
            #expect(try await heard(decoder).all <= 60 * Self.block)
        }
    }

    @Test(
        arguments: [1, 4_096, 1 << 36 - 1] as [FrameCount],
        [1 << 30, 1 << 50, 1 << 56, 1 << 61] as [Int64]
    )
    func `no length and no total make a search trap`(total: FrameCount, length: Int64) throws {
        for largest in [16, 4_096, 65_535] as [Int] {
            var description = Array(Self.stream(frames: [], total: total)[8..<42])
            for place in [0, 2] {
                (description[place], description[place + 1]) = (UInt8(largest >> 8), UInt8(largest & 0xFF))
            }
            let stream = try #require(FLACStreamInfo(description))
            var map = FLACMap(stream, audioStart: 42, audioEnd: length)
            for target in [0, total / 2, total - 1, 1 << 40] {
                var seek = FLACSeek(to: target, in: map)
                var reads = 0
                while let wanted = seek.wanted {
                    reads += 1
                    seek.took([UInt8](repeating: 0, count: min(wanted.count, 70_000)), isWhole: false)
                }
                #expect(reads <= 2 * FLACSeek.mostReads)
            }
            _ = map.timeMap(lasting: .seconds(300))
            map.endPosition = nil
            _ = map.timeMap(lasting: .seconds(300))
            #expect(map.estimatedCount != nil)
        }
    }

    @Test func `seeks land also where the stated total is too small`() async throws {
        let bytes = Self.stream(frames: 0..<20_000, total: 3_000 * Self.block)
        for isPlayedBefore in [false, true] {
            let source = MemorySource(bytes)
            let decoder = FLACDecoder(ProbedStream(source: source, subject: "song"))
            try await decoder.open()
            if isPlayedBefore { _ = try await decodeBytes(decoder, atMost: 100_000) }
            for seconds in [180, 260, 20] {
                let before = source.requests.count
                let landing = try await decoder.seek(to: .seconds(seconds))
                #expect(landing == SeekLanding(frame: FrameCount(seconds) * 44_100, isExact: true))
                #expect(source.requests.count - before <= 3)
            }
        }
        // It plays on past the stated end.
        let decoder = try await openedFLAC(bytes)
        _ = try await decoder.seek(to: .seconds(270))
        #expect(try await heard(decoder) == (1_000_000, 1_000_000))
    }

    @Test func `places found in a cut file are stored without those that it states behind the cut`()
        async throws
    {
        let whole = MadeFLAC.byFlac(["--seekpoint=9s"], MadeWave(frames: 44_100 * 20, loudness: 0.5)).bytes
        let cut = Array(whole.prefix(whole.count / 2))
        let decoder = try await openedFLAC(cut)
        _ = try await decodeBytes(decoder)
        let table = decoder.seekTable()
        #expect(try await openedFLAC(cut, seekTable: table).seekTable() == table)
    }

    @Test func `places that were found while the length was unknown are of use once it is known`()
        async throws
    {
        let bytes = MadeFLAC.bare.bytes
        let source = MemorySource(bytes, isStored: true)
        source.hideLength()
        let decoder = FLACDecoder(ProbedStream(source: source, subject: "song"))
        _ = try await decodeBytes(decoder)
        source.showLength()
        let table = decoder.seekTable()
        #expect(!table.isEmpty)
        #expect(try await openedFLAC(bytes, seekTable: table).seekTable() == table)
    }
}
