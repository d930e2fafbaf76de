import Media
import System
import TestSupport

@testable import Playback

/// A scripted track: raw PCM that follows from its number, and its faults.
struct FakeMusic: Sendable {
    var number: Int
    var frames: Int
    var format = AudioFormat(sampleRate: 1_000, channelCount: 2)
    /// Thrown by the decoder's `open`.
    var openFailure: MediaError?
    /// Thrown by the decoder at this frame.
    var failure: (frame: Int, error: MediaError)?
    /// Reads at or after this byte wait until the gate's clock passes one second.
    var gate: (byte: Int64, clock: TestClock)?
    /// Closing its reader waits until this clock passes one second.
    var closing: TestClock?
    /// The extension of its file name.
    var suffix = "mp3"
    /// Its address if it comes from the web.
    var url: WebURL?
    /// Set for a live stream, which has no length and whose reads end at titles.
    var live: LiveReport?

    var loudness: Loudness?
    var chapters = ChapterList()
    var timeMap: TimeMap?
    /// `true` if its bytes are cached.
    var isStored = true
    /// `true` if its decoder knows its exact length.
    var isDurationExact = false
    /// The waveform that an earlier session stored.
    var waveform: [UInt8] = []
    /// How many of its bytes are stored at first; `nil` for all.
    var storedCount: Int64?
    /// `true` if its server sends it only as a whole.
    var arrivesInOrder = false
    /// Seeks land `shift` frames after the position that they report, until `slices` of stored bytes are
    /// scanned.
    var estimate: (shift: FrameCount, slices: Int)?

    var location: ResourceLocation { url.map { .web($0) } ?? .file("/music/\(number).\(suffix)") }

    var track: Track { Track(id: Track.ID(UInt64(number)), location: location) }

    /// The same track at a web address.
    func onTheWeb() -> FakeMusic {
        var piece = self
        piece.url = WebURL("http://music.example/\(number).mp3")
        return piece
    }

    /// The bytes of all frames.
    var pcm: [UInt8] { ByteFixtures.bytes(count: frames * format.bytesPerFrame, seed: UInt64(number)) }
}

/// Reads a piece, and logs how it is used.
@dynamicMemberLookup
final class FakeReader: ResourceReader {
    struct Log {
        var readOffsets: [Int64] = []
        /// The priorities that were set, in order.
        var lowPriorities: [Bool] = []
        /// The seek tables that were stored, in order.
        var storedTables: [[UInt8]] = []
        /// The waveform that was stored last.
        var storedWaveform: Waveform?
        var decoderCount = 0
        /// How often a decoder scanned stored bytes.
        var scanCount = 0
        var isFilled = false
        var isClosed = false
        fileprivate var readTo: Int64 = 0
        fileprivate var change: (@Sendable (inout LoadReport) -> Void)?
    }

    let music: FakeMusic
    fileprivate let log = Locked(Log())
    private let bytes: [UInt8]

    init(_ music: FakeMusic) {
        self.music = music
        bytes = music.pcm
    }

    subscript<Value: Sendable>(dynamicMember part: KeyPath<Log, Value>) -> Value {
        log.withLock { $0[keyPath: part] }
    }

    var length: Int64? { music.live == nil ? Int64(bytes.count) : nil }

    /// Changes all later reports.
    func edit(_ edit: @escaping @Sendable (inout LoadReport) -> Void) { log.withLock { $0.change = edit } }

    func read(at offset: Int64, count: Int) async throws -> [UInt8] {
        try Task.checkCancellation()
        log.withLock { $0.readOffsets.append(offset) }
        if let gate = music.gate, offset >= gate.byte { try await gate.clock.sleep(until: .seconds(1)) }
        guard offset < Int64(bytes.count) else { return [] }
        if self.isFilled {
            try await wait(for: "the byte that is filled in") { report.stored.contains(offset) }
        }
        var end = min(bytes.count, Int(offset) + count)
        let title = music.live?.titles.first { $0.offset > offset && $0.offset < end }
        if let title { end = Int(title.offset) }
        log.withLock { [end] in $0.readTo = max($0.readTo, Int64(end)) }
        return Array(bytes[Int(offset)..<end])
    }

    func isStored(_ range: ByteRange) -> Bool { music.isStored }

    func readStored(at offset: Int64, count: Int) async throws -> [UInt8] {
        let end = min(bytes.count, Int(offset) + count, Int(music.storedCount ?? .max))
        return offset < end ? Array(bytes[Int(offset)..<end]) : []
    }

    var arrivesInOrder: Bool { music.arrivesInOrder }

    var report: LoadReport {
        var report = LoadReport()
        report.length = length
        report.stored = ByteRangeSet(0..<(music.storedCount ?? Int64(bytes.count)))
        if var live = music.live {
            live.readTo = self.readTo
            report.live = live
            report.isSeekable = false
            report.isCached = false
        }
        self.change?(&report)
        return report
    }

    func allowReadAhead(bytesPerSecond: Double) {}
    func setPriority(isLow: Bool) { log.withLock { $0.lowPriorities.append(isLow) } }
    func prefetch(_ range: ByteRange) {}
    func fill() { log.withLock { $0.isFilled = true } }
    func reject() async {}
    func store(_ value: [UInt8], as fact: DerivedFact) {
        log.withLock { log in
            if fact == .seekTable { log.storedTables.append(value) }
            if fact == .waveform { log.storedWaveform = Waveform(bytes: value) }
        }
    }
    func stored(_ fact: DerivedFact) -> [UInt8] { fact == .waveform ? music.waveform : [] }
    func store(_ facts: TrackFacts) {}
    func close() async {
        // As with a real disk, cancelling does not shorten the wait.
        if let disk = music.closing { await Task { try? await disk.sleep(until: .seconds(1)) }.value }
        log.withLock { $0.isClosed = true }
    }
}

/// A decoder of `FakeMusic`, whose bytes are the PCM.
final class FakeDecoder: AudioDecoder {
    private let reader: FakeReader
    /// What it reads, which is the reader or a part of it.
    private let source: any ResourceReader
    private var frame = 0
    private var isOpen = false
    private var landing = SeekLanding(frame: 0, isExact: true)
    private(set) var correctedLanding: SeekLanding?
    private var music: FakeMusic { reader.music }

    init(_ source: any ResourceReader) {
        let whole = (source as? PartialReader)?.whole ?? source
        guard let reader = whole as? FakeReader else { preconditionFailure("readers are fakes here") }
        self.source = source
        self.reader = reader
        reader.log.withLock { $0.decoderCount += 1 }
    }

    var info: StreamInfo {
        let rate = music.format.sampleRate * music.format.bytesPerFrame
        var info = StreamInfo(format: music.format, bytesPerSecond: Double(rate))
        info.duration = music.format.duration(of: FrameCount(music.frames))
        info.isDurationExact = music.isDurationExact
        info.loudness = music.loudness
        info.chapters = music.chapters
        info.timeMap = music.timeMap
        return info
    }

    func open() async throws {
        if let failure = music.openFailure { throw failure }
        guard !isOpen else { return }
        _ = try await source.read(at: 0, count: 4)
        isOpen = true
    }

    func decode(into pcm: UnsafeMutableRawBufferPointer) async throws -> DecodeStep {
        guard frame < music.frames else { return .end }
        var count = min(300, music.frames - frame, pcm.count / music.format.bytesPerFrame)
        if let failure = music.failure {
            guard frame < failure.frame else { throw failure.error }
            count = min(count, failure.frame - frame)
        }
        let width = music.format.bytesPerFrame
        let bytes = try await source.read(at: Int64(frame * width), count: count * width)
        pcm.copyBytes(from: bytes)
        count = bytes.count / width
        frame += count
        return .frames(count)
    }

    func seek(to time: Duration) async throws -> SeekLanding {
        frame = min(music.frames, Int(music.format.frames(in: time)))
        landing = SeekLanding(frame: FrameCount(frame), isExact: music.estimate == nil)
        correctedLanding = nil
        return landing
    }

    func isStored(at time: Duration) -> Bool { music.isStored }

    /// There are bytes to scan only until a wrong landing is corrected.
    func scanStored() async throws -> Bool {
        try Task.checkCancellation()
        reader.log.withLock { $0.scanCount += 1 }
        guard let estimate = music.estimate, !landing.isExact else { return false }
        guard reader.scanCount >= estimate.slices else { return true }
        landing = SeekLanding(frame: landing.frame + estimate.shift, isExact: true)
        correctedLanding = landing
        return true
    }

    /// Contains the position at which it was made.
    func seekTable() -> [UInt8] { [UInt8(truncatingIfNeeded: frame / 1_000)] }
}
