import Media
import System
import TestSupport

/// One scripted piece: raw PCM that follows from its number, and what goes wrong with it.
struct FakeMusic: Sendable {
    var number: Int
    var frames: Int
    var format = AudioFormat(sampleRate: 1_000, channelCount: 2)
    /// Thrown by the decoder's `open`.
    var openFailure: MediaError?
    /// Thrown by the decoder at this frame.
    var failure: (frame: Int, error: MediaError)?
    /// Reads of this byte or behind it wait until the gate's clock passes one second.
    var gate: (byte: Int64, clock: TestClock)?
    /// Closing its reader waits until this clock passes one second.
    var closing: TestClock?
    /// Where it comes from the web.
    var url: WebURL?
    /// Set for a live stream, which has no length and whose reads end at titles.
    var live: LiveReport?

    var loudness: Loudness?
    /// Whether its bytes are here.
    var isStored = true
    /// Seeks land so many frames from where they say, and that is known after so many slices of stored bytes.
    var estimate: (shift: FrameCount, slices: Int)?

    var location: ResourceLocation { url.map { .web($0) } ?? .file("/music/\(number).mp3") }

    var track: Track { Track(id: Track.ID(UInt64(number)), location: location) }

    /// The piece as music of the web.
    func onTheWeb() -> FakeMusic {
        var piece = self
        piece.url = WebURL("http://music.example/\(number).mp3")
        return piece
    }

    /// The bytes of all frames.
    var pcm: [UInt8] { ByteFixtures.bytes(count: frames * format.bytesPerFrame, seed: UInt64(number)) }
}

/// Reads a piece, and notes where.
final class FakeReader: ResourceReader {
    let music: FakeMusic
    private let bytes: [UInt8]
    private let offsets = Locked<[Int64]>([])
    private let closed = Locked(false)
    private let edited = Locked<(@Sendable (inout LoadReport) -> Void)?>(nil)
    private let readTo = Locked<Int64>(0)
    private let filled = Locked(false)
    private let scanned = Locked(0)
    private let lowPriorityLog = Locked<[Bool]>([])
    private let tables = Locked<[[UInt8]]>([])
    private let decoders = Locked(0)

    init(_ music: FakeMusic) {
        self.music = music
        bytes = music.pcm
    }

    var readOffsets: [Int64] { offsets.withLock { $0 } }
    /// The priorities that were set, in order.
    var lowPriorities: [Bool] { lowPriorityLog.withLock { $0 } }
    var isClosed: Bool { closed.withLock { $0 } }
    /// How often a decoder looked through stored bytes.
    var scanCount: Int { scanned.withLock { $0 } }
    func noteScan() -> Int {
        scanned.withLock { count in
            count += 1
            return count
        }
    }
    /// The seek tables that were stored, in order.
    var storedTables: [[UInt8]] { tables.withLock { $0 } }
    /// The number of decoders created for it.
    var decoderCount: Int { decoders.withLock { $0 } }
    func noteDecoder() { decoders.withLock { $0 += 1 } }
    var isFilled: Bool { filled.withLock { $0 } }
    var length: Int64? { music.live == nil ? Int64(bytes.count) : nil }

    /// From now on the report is as `edit` makes it.
    func edit(_ edit: @escaping @Sendable (inout LoadReport) -> Void) { edited.withLock { $0 = edit } }

    func read(at offset: Int64, count: Int) async throws -> [UInt8] {
        try Task.checkCancellation()
        offsets.withLock { $0.append(offset) }
        if let gate = music.gate, offset >= gate.byte { try await gate.clock.sleep(until: .seconds(1)) }
        guard offset < Int64(bytes.count) else { return [] }
        var end = min(bytes.count, Int(offset) + count)
        let title = music.live?.titles.first { $0.offset > offset && $0.offset < end }
        if let title { end = Int(title.offset) }
        readTo.withLock { [end] in $0 = max($0, Int64(end)) }
        return Array(bytes[Int(offset)..<end])
    }

    func isStored(_ range: ByteRange) -> Bool { music.isStored }

    var report: LoadReport {
        var report = LoadReport()
        report.length = length
        report.stored = ByteRangeSet(0..<Int64(bytes.count))
        if var live = music.live {
            live.readTo = readTo.withLock { $0 }
            report.live = live
            report.isSeekable = false
            report.isCached = false
        }
        edited.withLock { $0 }?(&report)
        return report
    }

    func allowReadAhead(bytesPerSecond: Double) {}
    func setPriority(isLow: Bool) { lowPriorityLog.withLock { $0.append(isLow) } }
    func prefetch(_ range: ByteRange) {}
    func fill() { filled.withLock { $0 = true } }
    func reject() async {}
    func storeSeekTable(_ table: [UInt8]) { tables.withLock { $0.append(table) } }
    var storedSeekTable: [UInt8] { [] }
    func storeTags(title: SafeText?, artist: SafeText?, duration: Duration?) {}
    func close() async {
        // As with a real disk, cancelling does not shorten the wait.
        if let disk = music.closing { await Task { try? await disk.sleep(until: .seconds(1)) }.value }
        closed.withLock { $0 = true }
    }
}

/// "Decodes" a piece: its bytes are the PCM.
final class FakeDecoder: AudioDecoder {
    private let reader: FakeReader
    private var frame = 0
    private var isOpen = false
    private var landing = SeekLanding(frame: 0, isExact: true)
    private(set) var correctedLanding: SeekLanding?
    private(set) var infoRevision = 0
    private var music: FakeMusic { reader.music }

    init(_ reader: FakeReader) {
        self.reader = reader
        reader.noteDecoder()
    }

    var info: StreamInfo {
        let rate = music.format.sampleRate * music.format.bytesPerFrame
        var info = StreamInfo(format: music.format, bytesPerSecond: Double(rate))
        info.duration = music.format.duration(of: FrameCount(music.frames))
        info.loudness = music.loudness
        return info
    }

    func open() async throws {
        if let failure = music.openFailure { throw failure }
        guard !isOpen else { return }
        _ = try await reader.read(at: 0, count: 4)
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
        let bytes = try await reader.read(at: Int64(frame * width), count: count * width)
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

    /// There is something to look through until a wrong landing is corrected, and not more.
    func scanStored() async throws -> Bool {
        try Task.checkCancellation()
        let count = reader.noteScan()
        guard let estimate = music.estimate, !landing.isExact else { return false }
        guard count >= estimate.slices else { return true }
        landing = SeekLanding(frame: landing.frame + estimate.shift, isExact: true)
        correctedLanding = landing
        infoRevision += 1
        return true
    }

    /// Names the place, so that tests see when it was made.
    func seekTable() -> [UInt8] { [UInt8(truncatingIfNeeded: frame / 1_000)] }
}
