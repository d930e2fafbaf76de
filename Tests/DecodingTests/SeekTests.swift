import Decoding
import Media
import TestSupport
import Testing

@Suite struct SeekTests {
    /// The number of samples compared after each landing: several MPEG frames.
    private static let compared = 8_192

    @Test(arguments: Fixture.all)
    func `after a full walk every seek is exact`(fixture: Fixture) async throws {
        let decoder = MPEGDecoder(fixture.bytes)
        let whole = try await decodeRest(decoder)
        try await check(decoder, whole, fixture, mustBeExact: true, seed: 1)
    }

    @Test(arguments: Fixture.all)
    func `a kept seek table makes every seek exact from the first`(fixture: Fixture) async throws {
        let first = MPEGDecoder(fixture.bytes)
        let whole = try await decodeRest(first)
        let table = first.seekTable()
        #expect(table.count * 200 <= fixture.bytes.count)
        let source = MemorySource(fixture.bytes)
        let decoder = MPEGDecoder(source: source, subject: "song.mp3", seekTable: table)
        try await check(decoder, whole, fixture, mustBeExact: true, seed: 2)
    }

    @Test(arguments: [Fixture.cbr, .bareCBR, .mono, .low, .lowest, .high])
    func `a cold seek at a constant bit rate is exact`(fixture: Fixture) async throws {
        let whole = try await decodeRest(MPEGDecoder(fixture.bytes))
        for seed in 0..<20 as Range<UInt64> {
            let decoder = MPEGDecoder(fixture.bytes)
            try await check(decoder, whole, fixture, mustBeExact: true, seed: seed, count: 1)
        }
    }

    @Test(arguments: [Fixture.vbr, .average])
    func `a cold seek by the header's table is approximate, and off by less than 1 in 128`(
        fixture: Fixture
    ) async throws {
        let whole = try await decodeRest(MPEGDecoder(fixture.bytes))
        let channels = 2
        for seed in 0..<20 as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            let decoder = MPEGDecoder(fixture.bytes)
            try await decoder.open()
            let frames = whole.count / channels
            // Past what the head of 64 KiB makes known, and not into the last second.
            let target = Int.random(in: frames / 3..<frames - 44_100, using: &random)
            let landing = try await decoder.seek(to: decoder.info.format.duration(of: Int64(target)))
            #expect(!landing.isExact)
            #expect(landing.frame == Int64(target))
            let heard = try await decodeRest(decoder, limit: Self.compared)
            // Rounding and reservoir have settled in the last part.
            let settled = heard.suffix(2_048)
            let lead = heard.count - settled.count
            let near = target * channels + lead
            let places = near - whole.count / 128...near + whole.count / 128
            let place = places.first { start in
                start >= 0 && start + settled.count <= whole.count
                    && whole[start] == settled.first
                    && whole[start..<start + settled.count].elementsEqual(settled)
            }
            #expect(place != nil, "seed \(seed), frame \(target)")
        }
    }

    @Test func `a cold seek into a bare variable bit rate never claims to be exact and plays`() async throws {
        for percent in [30, 50, 70, 90] {
            let decoder = MPEGDecoder(Fixture.bareVBR.bytes)
            try await decoder.open()
            let duration = try #require(decoder.info.duration)
            let landing = try await decoder.seek(to: duration * percent / 100)
            #expect(!landing.isExact)
            let heard = try await decodeRest(decoder, limit: Self.compared)
            #expect(heard.count == Self.compared)
        }
    }

    @Test(arguments: [Fixture.cbr, .bareCBR, .vbr, .bareVBR, .high, .low])
    func `a cold seek lands with the bytes of a few frames, however many are asked for`(
        fixture: Fixture
    ) async throws {
        for percent in [31, 50, 60, 80] {
            let source = MemorySource(fixture.bytes, longestRead: 128)
            let decoder = MPEGDecoder(source: source, subject: "song.mp3")
            try await decoder.open()
            let before = source.reads.count
            let duration = try #require(decoder.info.duration)
            _ = try await decoder.seek(to: duration * percent / 100)
            let waited = source.reads.dropFirst(before).map(\.given).reduce(0, +)
            // Fourteen frames at 192 kbit/s.
            #expect(waited <= 9_000, "\(fixture) at \(percent) %")
        }
    }

    @Test func `a cold seek to the last frames of a constant rate is exact, with a tag behind them`()
        async throws
    {
        let whole = try await decodeRest(MPEGDecoder(Fixture.cbr.bytes))
        let tag = Array("TAG".utf8) + [UInt8](repeating: 0, count: 125)
        for frames in [600, 3_000, 9_000] {
            let decoder = MPEGDecoder(Fixture.cbr.bytes + tag)
            try await decoder.open()
            let place = FrameCount(whole.count / 2 - frames)
            let landing = try await decoder.seek(to: decoder.info.format.duration(of: place))
            #expect(landing.isExact, "\(frames) frames before the end")
            let rest = try await decodeRest(decoder)
            let isEqual = rest == Array(whole.suffix(rest.count))
            #expect(isEqual && abs(rest.count / 2 - frames) <= 1)
        }
    }

    @Test func `a cold seek costs one read of at most 64 KiB before the sound`() async throws {
        for fixture in [Fixture.cbr, .vbr, .bareVBR, .low] {
            let source = MemorySource(fixture.bytes)
            let decoder = MPEGDecoder(source: source, subject: "song.mp3")
            try await decoder.open()
            let before = source.reads.count
            let duration = try #require(decoder.info.duration)
            _ = try await decoder.seek(to: duration * 7 / 10)
            _ = try await decodeRest(decoder, limit: 4_096)
            let reads = source.reads.dropFirst(before)
            #expect(reads.count == 1, "\(fixture)")
            #expect(reads.allSatisfy { $0.asked <= 65_536 })
        }
    }

    @Test(arguments: Fixture.all)
    func `a seek beyond the end lands at the end, and back is possible`(fixture: Fixture) async throws {
        let decoder = MPEGDecoder(fixture.bytes)
        let whole = try await decodeRest(decoder)
        let end = try await decoder.seek(to: .seconds(3_600))
        #expect(
            end == SeekLanding(frame: Int64(whole.count / decoder.info.format.channelCount), isExact: true)
        )
        #expect(try await decodeRest(decoder) == [])
        #expect(try await decoder.seek(to: .seconds(-5)) == SeekLanding(frame: 0, isExact: true))
        let isEqual = try await decodeRest(decoder) == whole
        #expect(isEqual)
    }

    @Test func `a cold seek beyond the end ends the music`() async throws {
        for fixture in [Fixture.cbr, .vbr, .bareVBR] {
            let decoder = MPEGDecoder(fixture.bytes)
            _ = try await decoder.seek(to: .seconds(3_600))
            let rest = try await decodeRest(decoder)
            #expect(rest.count <= 2 * 44_100, "\(fixture)")
        }
    }

    enum Moment: CaseIterable, Sendable { case opening, decoding, seeking }

    @Test(arguments: Moment.allCases)
    func `a decoder whose task was cancelled can seek, and then gives the same samples`(moment: Moment)
        async throws
    {
        let whole = try await decodeRest(MPEGDecoder(Fixture.cbr.bytes))
        let source = MemorySource(Fixture.cbr.bytes)
        // Unsafe: the task that uses it has ended before this one uses it again.
        nonisolated(unsafe) let decoder = MPEGDecoder(source: source, subject: "song.mp3")
        if moment != .opening { _ = try await decodeRest(decoder, limit: 4_096) }
        let before = source.reads.count
        source.closeGate()
        let task = Task {
            switch moment {
            case .opening: try await decoder.open()
            case .decoding: _ = try await decodeRest(decoder)
            case .seeking: _ = try await decoder.seek(to: .seconds(12))
            }
        }
        try await wait(for: "the read") { source.reads.count > before }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        source.openGate()
        try await check(decoder, whole, .cbr, mustBeExact: true, seed: 3, count: 2)
        #expect(try await decoder.seek(to: .zero) == SeekLanding(frame: 0, isExact: true))
        let isEqual = try await decodeRest(decoder) == whole
        #expect(isEqual)
    }

    @Test func `the padding is no music behind an approximate landing either`() async throws {
        let fixture = Fixture.vbr
        let whole = try await decodeRest(MPEGDecoder(fixture.bytes))
        let decoder = MPEGDecoder(fixture.bytes)
        let landing = try await decoder.seek(to: .seconds(18))
        #expect(!landing.isExact)
        let rest = try await decodeRest(decoder)
        let isEqual = rest.suffix(20_000) == whole.suffix(20_000)
        #expect(isEqual)
    }

    @Test func `a table that lies about offsets is dropped at the landing`() async throws {
        let fixture = Fixture.bareVBR
        var table = SeekTable()
        let other = MPEGDecoder(fixture.bytes)
        try await other.open()
        for point in 0..<150 as Range<Int64> { table.record(frame: point * 8, at: point * 1_001) }
        let header = try #require(FrameHeader(fixture.bytes, at: Int(other.info.audioStart)))
        let key = SeekTableKey(
            header: header,
            origin: other.info.audioStart,
            length: Int64(fixture.bytes.count)
        )
        let source = MemorySource(fixture.bytes)
        let decoder = MPEGDecoder(source: source, subject: "song.mp3", seekTable: table.stored(for: key))
        let landing = try await decoder.seek(to: .seconds(12))
        #expect(!landing.isExact)
        #expect(try await !decodeRest(decoder, limit: 4_096).isEmpty)
    }

    /// Seeks to seeded positions and compares the decoded samples with a decode from the start.
    private func check(
        _ decoder: MPEGDecoder,
        _ whole: [Int16],
        _ fixture: Fixture,
        mustBeExact: Bool,
        seed: UInt64,
        count: Int = 20
    ) async throws {
        var random = SeededGenerator(seed: seed)
        try await decoder.open()
        let format = decoder.info.format
        for _ in 0..<count {
            let target = Int.random(in: 0..<whole.count / format.channelCount, using: &random)
            let landing = try await decoder.seek(to: format.duration(of: Int64(target)))
            #expect(landing.isExact == mustBeExact, "\(fixture), frame \(target)")
            #expect(landing.frame == Int64(target))
            let heard = try await decodeRest(decoder, limit: Self.compared)
            let start = Int(landing.frame) * format.channelCount
            let expected = Array(whole[start...].prefix(Self.compared))
            #expect(heard.count == expected.count, "\(fixture), frame \(target)")
            // Exact is bit for bit in MPEG-1 stereo; elsewhere rounding may depend on the filter bank's phase.
            let isBitwise = format.channelCount == 2 && format.sampleRate >= 32_000
            let worst = zip(heard, expected).lazy.map { abs(Int($0) - Int($1)) }.max() ?? 0
            #expect(worst <= (isBitwise ? 0 : 1), "\(fixture), frame \(target): off by \(worst)")
        }
    }
}
