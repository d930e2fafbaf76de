import Foundation
import Media
import System
import TestSupport
import Testing

@testable import Decoding

/// Lists of segments play as one stream.
@Suite struct SegmentedDecoderTests {
    private func decoder(_ list: FixedSegments) -> SegmentedDecoder {
        SegmentedDecoder(list, subject: "song")
    }

    private func whole(_ made: MadeSegments) async throws -> [UInt8] {
        let source = MemorySource(made.whole, isStored: true)
        return try await decodeBytes(try await DecoderTable.all.decoder(for: source, at: .file("/song")))
    }

    @Test(arguments: SegmentDemuxerTests.all)
    func `segments play without a gap, and their length is then known`(made: MadeSegments) async throws {
        let decoder = decoder(made.list())
        let heard = try await decodeBytes(decoder)
        expectSame(heard, try await whole(made))
        let frames = FrameCount(heard.count / decoder.info.format.bytesPerFrame)
        #expect(decoder.info.duration == decoder.info.format.duration(of: frames))
        #expect(decoder.info.isDurationExact && decoder.info.bytesPerSecond > 2_000)
    }

    @Test(arguments: SegmentDemuxerTests.all)
    func `seeks are exact if segments state their times, and read no others`(made: MadeSegments) async throws
    {
        let sound = try await whole(made)
        let statesTimes = !made.testDescription.hasSuffix("packed AAC")
        for seconds in [5.9, 4.05, 0, 5.5, 2.01, 3.3, 0.01] {
            let list = made.list()
            let decoder = decoder(list)
            _ = try await decodeBytes(decoder, atMost: 1_000)
            let landing = try await decoder.seek(to: .seconds(seconds))
            let width = decoder.info.format.bytesPerFrame
            let heard = try await decodeBytes(decoder, atMost: 5_000 * width)
            let requested = list.requested
            #expect(landing.isExact == (statesTimes || seconds < 2.1), "\(made) at \(seconds)")
            #expect(
                landing.frame == decoder.info.format.frames(in: .seconds(seconds)),
                "\(made) at \(seconds)"
            )
            #expect(requested.count <= 3, "\(requested) at \(seconds)")
            if landing.isExact {
                expectSame(
                    heard,
                    sound[(Int(landing.frame) * width)...].prefix(heard.count),
                    "\(made) at \(seconds)"
                )
            }
        }
    }

    private static func made(_ rate: Int, _ channels: Int) -> MadeSegments {
        .packed("\(rate), \(channels)", MadeAAC("aac", seconds: 5, rate: rate, channels: channels))
    }

    @Test func `a discontinuity begins the stream anew, without a gap if the format stays`() async throws {
        let first = Self.made(44_100, 2)
        let kinds = SegmentDemuxerTests.all.filter {
            ["AAC in mpegts", "AAC in fmp4"].contains($0.testDescription)
        }
        for second in [first] + kinds {
            let list = FixedSegments(first.list().all + second.list(discontinuity: 1).all)
            let heard = try await decodeBytes(decoder(list))
            expectSame(heard, try await whole(first) + whole(second), "\(second)")
        }
    }

    @Test func `a discontinuity within the packets of one encoder changes no sample`() async throws {
        let made = Self.made(44_100, 2)
        // As ffmpeg decodes the joined audio, of which packet 0 only overlaps.
        let joined = try MadeAAC("aac", seconds: 5).ffmpeg().dropFirst(2 * 1_024)
        for cut in 1..<made.parts.count {
            var segments = made.list().all
            for index in cut..<segments.count { segments[index].discontinuity = 1 }
            let heard = try await decodeBytes(decoder(FixedSegments(segments)))
                .withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
            #expect(heard.count == joined.count, "cut at \(cut)")
            let differences = zip(heard, joined).map { abs($0 - $1) }
            #expect((differences.max() ?? 1) < 1 / 32_768, "cut at \(cut)")
        }
    }

    @Test func `MP3 with a discontinuity within the packets of one encoder keeps its bit reservoir`()
        async throws
    {
        let made = try #require(SegmentDemuxerTests.all.first { $0.testDescription == "MP3 in mpegts" })
        var segments = made.list().all
        segments[1].discontinuity = 1
        expectSame(try await decodeBytes(decoder(FixedSegments(segments))), try await whole(made))
    }

    /// Encodes whole packets of a tone, which is `start` frames old; an encoder adds one packet before it.
    private func tone(_ packets: Int, from start: Int) throws -> (file: [UInt8], samples: [Float]) {
        let folder = try TemporaryFolder()
        let samples = (0..<packets * 1_024).map { Float(sin(Double(start + $0) * 0.3) * 0.5) }
        let input = try folder.write(samples.flatMap { withUnsafeBytes(of: $0) { Array($0) } }, to: "in.raw")
        let output = folder.path("out.aac")
        try run(
            "ffmpeg",
            ["-v", "error", "-nostdin", "-f", "f32le", "-ar", "44100", "-ac", "1", "-i", input]
                + ["-c:a", "aac", "-aac_pns", "0", "-b:a", "128k", output]
        )
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: output)))
        return (bytes, samples)
    }

    @Test func `the music of two encoders is joined at a discontinuity with no sample added or lost`()
        async throws
    {
        let first = try tone(120, from: 0)
        let second = try tone(120, from: first.samples.count)
        let segments = [first, second].enumerated().map { index, made in
            Segment(
                MemorySource(made.file),
                lasting: .seconds(3),
                discontinuity: index
            )
        }
        let heard = try await decodeBytes(decoder(FixedSegments(segments)))
            .withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
        let known = first.samples + second.samples
        #expect(heard.count == known.count)
        let differences = zip(heard, known).map { abs($0 - $1) }
        let joint = first.samples.count
        // A lossy encoder; a sample too many or too few makes 0.15.
        #expect((differences[1_024..<joint - 2_048].max() ?? 1) < 0.05)
        #expect((differences[(joint + 1_024)...].dropLast(2_048).max() ?? 1) < 0.05)
    }

    @Test func `a seek is exact without stated times if all segments before are cached`() async throws {
        let made = Self.made(44_100, 2)
        let sound = try await whole(made)
        for stored in [0..<3, 0..<1, 1..<3] {
            let list = made.list()
            list.stored = stored
            let decoder = decoder(list)
            try await decoder.open()
            let landing = try await decoder.seek(to: .seconds(4.5))
            #expect(landing.frame == 198_450 && landing.isExact == (stored == 0..<3), "\(stored)")
            guard landing.isExact else { continue }
            let heard = try await decodeBytes(decoder, atMost: 40_000)
            expectSame(heard, sound[(198_450 * 8)...].prefix(heard.count))
        }
    }

    @Test func `an estimated landing is corrected once the segments before it are cached`() async throws {
        let made = Self.made(44_100, 2)
        let sound = try await whole(made)
        var list = made.list()
        // What a list states is not what the segments have.
        for index in list.all.indices { list.all[index].duration -= .milliseconds(100) }
        list.stored = 0..<1
        let decoder = decoder(list)
        try await decoder.open()
        let landing = try await decoder.seek(to: .seconds(4.5))
        #expect(landing == SeekLanding(frame: 198_450, isExact: false))
        let heard = try await decodeBytes(decoder, atMost: 20_000)
        while try await decoder.scanStored() {}
        #expect(decoder.correctedLanding == nil)
        list.stored = 0..<3
        while try await decoder.scanStored() {}
        let corrected = try #require(decoder.correctedLanding)
        #expect(corrected.isExact && corrected.frame > landing.frame)
        expectSame(heard, sound[(Int(corrected.frame) * 8)...].prefix(heard.count))
        let rest = try await decodeBytes(decoder)
        expectSame(rest, sound.suffix(rest.count))
        let frames = FrameCount(sound.count / 8)
        #expect(decoder.info.duration == decoder.info.format.duration(of: frames))
        #expect(try await decoder.seek(to: .seconds(1)).isExact && decoder.correctedLanding == nil)
    }

    @Test func `another format is reported, and the rest plays in it`() async throws {
        let first = Self.made(44_100, 2)
        let second = Self.made(48_000, 1)
        let list = FixedSegments(first.list().all + second.list(discontinuity: 1).all)
        let decoder = decoder(list)
        // Decoding stops at the change.
        expectSame(try await decodeBytes(decoder), try await whole(first))
        #expect(decoder.info.format.sampleRate == 48_000)
        let sound = try await whole(second)
        expectSame(try await decodeBytes(decoder), sound)
        // Its times are known now.
        let middle = first.durations.reduce(.zero, +) + .seconds(3)
        let landing = try await decoder.seek(to: middle)
        #expect(decoder.info.format.sampleRate == 48_000 && !landing.isExact)
        #expect(try await decodeBytes(decoder).count > 4_000)
    }

    @Test func `segments without sound that is played are refused`() async throws {
        var made = MadeTransport()
        made.tables([.init(type: 0x81, pid: 0x100)])
        let list = FixedSegments([Segment(MemorySource(made.bytes + made.bytes), lasting: .seconds(2))])
        let refusal = Refusal("MPEG-TS with AC-3", played: "MPEG-TS with AAC or MP3")
        await #expect(throws: refusal.error(of: "song")) { try await self.decoder(list).open() }
        await #expect(throws: Refusal.damaged.error(of: "song")) {
            try await self.decoder(FixedSegments([])).open()
        }
    }

    @Test func `a seek that is cancelled changes nothing`() async throws {
        let made = try #require(SegmentDemuxerTests.all.first)
        let sound = try await whole(made)
        let list = made.list()
        // Unsafe: the task that uses it has ended before this one uses it again.
        nonisolated(unsafe) let decoder = decoder(list)
        let heard = try await decodeBytes(decoder, atMost: 8_192)
        let late = try #require(list.all.last?.bytes as? MemorySource)
        late.closeGate()
        let task = Task { _ = try await decoder.seek(to: .seconds(6.5)) }
        try await wait(for: "a read") { !late.reads.isEmpty }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        late.openGate()
        expectSame(heard + (try await decodeBytes(decoder)), sound)
    }
}

/// A list of segments that are all known.
struct FixedSegments: SegmentList {
    var all: [Segment]
    /// `true` for a part of a live stream, after which nothing follows here.
    var isLive = false
    var startTime: Duration = .zero
    /// The segments that are cached.
    var stored: Range<Int> {
        get { notes.stored.withLock { $0 } }
        nonmutating set { notes.stored.withLock { $0 = newValue } }
    }
    /// The segments that the server of a live stream has lost.
    var lost: Set<Int> = []
    /// The reasons for which segments were passed over.
    var passedOver: [Int: SafeText] { notes.all.withLock { $0 } }
    private let notes = Notes()

    private final class Notes: Sendable {
        let all = Locked<[Int: SafeText]>([:])
        let stored = Locked(0..<0)
    }

    init(_ segments: [Segment]) { all = segments }

    private func start(of number: Int) -> Duration { all[..<number].reduce(.zero) { $0 + $1.duration } }

    func segment(_ number: Int) async throws -> Segment? {
        guard let number = all.indices.dropFirst(number).first(where: { !lost.contains($0) }) else {
            return nil
        }
        var segment = all[number]
        segment.number = number
        segment.start = start(of: number)
        return segment
    }

    func place(at time: Duration) -> (number: Int, time: Duration) {
        guard let number = all.indices.first(where: { time < start(of: $0 + 1) }) else {
            let last = max(0, all.count - 1)
            return (last, start(of: isLive ? last : all.count))
        }
        return (number, max(.zero, time))
    }

    var duration: Duration? { isLive ? nil : start(of: all.count) }

    func passedOver(_ number: Int, because cause: SafeText) {
        notes.all.withLock { $0[number] = cause }
    }

    func isStored(segments numbers: Range<Int>) -> Bool { numbers.clamped(to: stored) == numbers }

    func withStored<Value>(_ number: Int, _ body: (Segment) async throws -> Value) async throws -> Value? {
        guard isStored(segments: number..<number + 1), let segment = try await segment(number) else {
            return nil
        }
        return try await body(segment)
    }

    /// The numbers of the segments of which bytes were requested.
    var requested: [Int] {
        all.indices.filter { index in (all[index].bytes as? MemorySource)?.requests.isEmpty == false }
    }
}

extension MadeSegments {
    /// The list of the segments, each in a resource of its own.
    func list(discontinuity: Int = 0) -> FixedSegments {
        let sources = parts.map { MemorySource($0) }
        let first = sources.count - durations.count
        return FixedSegments(
            sources.dropFirst(first).indices.map { index in
                Segment(
                    sources[index],
                    lasting: durations[index - first],
                    discontinuity: discontinuity,
                    initialisation: first == 0 ? nil : (discontinuity, sources[0])
                )
            }
        )
    }
}
