import Foundation
import Media
@testable import Output
import System
import TestSupport

/// An output under test, with its reader, clock, events and server.
struct Rig {
    enum Kind: String, CaseIterable {
        case null, nullFast, raw, wav, pulse

        /// Those whose result can be read back.
        static let files: [Self] = [.raw, .wav]

        /// The length of a long piece; short with PulseAudio, which plays in real time.
        var frames: Int { self == .pulse ? 40_000 : 200_000 }
    }

    let kind: Kind
    let output: any AudioOutput
    let reader = FakeReader()
    let clock = TestClock()
    let events = EventLog()
    private let folder: TemporaryFolder
    private let server: PulseServer?

    init(_ kind: Kind) async throws {
        self.kind = kind
        folder = try TemporaryFolder()
        server = kind == .pulse ? try await PulseServer() : nil
        let path = folder.path("out")
        output =
            switch kind {
            case .null: NullOutput(clock: clock)
            case .nullFast: SinkKind.nullFast.makeOutput(clock: clock)
            case .raw: SinkKind.raw(path: path).makeOutput(clock: clock)
            case .wav: SinkKind.wav(path: path).makeOutput(clock: clock)
            // On the test's clock no request can exceed its time limit.
            case .pulse: PulseOutput(sink: "test", server: server?.address, clock: clock)
            }
        events.listen(to: output)
    }

    /// Connects and opens the output for `frames` frames, after which the reader ends if `isFinished`.
    func open(frames: Int, isFinished: Bool = false) async throws {
        reader.append(AudioFormat.cd.numbered(frames))
        if isFinished { reader.finish() }
        try await output.connect()
        try await output.open(.cd, reader: reader)
    }

    /// A rig whose output plays `frames` frames, after which the reader ends if `isFinished`.
    static func playing(_ kind: Kind, frames: Int, isFinished: Bool = false) async throws -> Rig {
        let rig = try await Rig(kind)
        try await rig.open(frames: frames, isFinished: isFinished)
        try await rig.output.start()
        return rig
    }

    /// The samples in the file; `nil` for an output without one.
    var samples: [UInt8]? {
        switch kind {
        case .null, .nullFast, .pulse: nil
        case .raw: folder.bytes("out")
        case .wav: Array(folder.bytes("out").dropFirst(44))
        }
    }

    /// Runs `body` while the clock of a null device advances.
    func running<Value: Sendable>(_ body: @Sendable () async throws -> Value) async throws -> Value {
        guard kind == .null else { return try await body() }
        let clock = clock
        let mover = Task {
            while !Task.isCancelled {
                if clock.sleeperCount > 0 { clock.advance(by: NullOutput.period) }
                await Task.yield()
            }
        }
        defer { mover.cancel() }
        return try await body()
    }
}

extension PulseServer {
    /// The address for `PulseOutput`.
    var address: String { "unix:" + socket }
}

extension TemporaryFolder {
    func bytes(_ name: String) -> [UInt8] {
        FileManager.default.contents(atPath: path(name)).map(Array.init) ?? []
    }

    var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted() }
}

/// The events that an output sent, in order.
final class EventLog: Sendable {
    private let events = Locked<[OutputEvent]>([])

    var all: [OutputEvent] { events.withLock { $0 } }

    var underruns: Int { all.count { $0 == .underrun } }

    var loss: MediaError? {
        for case .lost(let error) in all { return error }
        return nil
    }

    func listen(to output: any AudioOutput) {
        output.setEventHandler { [self] event in events.withLock { $0.append(event) } }
    }
}

/// A reader whose frames the test provides; the samples of each frame encode its number.
final class FakeReader: PCMReader {
    private struct State {
        var bytes: [UInt8] = []
        var start = 0
        var isFinished = false
        var readCount = 0
        var takenBytes = 0
    }

    private let state = Locked(State())
    let format: AudioFormat

    init(_ format: AudioFormat = .cd) { self.format = format }

    func append(_ bytes: [UInt8]) { state.withLock { $0.bytes += bytes } }

    func finish() { state.withLock { $0.isFinished = true } }

    /// Frames that were read since the start.
    var takenFrames: FrameCount { state.withLock { Int64($0.takenBytes / format.bytesPerFrame) } }

    /// The number of reads.
    var readCount: Int { state.withLock { $0.readCount } }

    /// Drops the frames that were not read, as a ring does at a seek.
    func dropRest() { state.withLock { state in state.start = state.bytes.count } }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        state.withLock { state in
            state.readCount += 1
            let frame = format.bytesPerFrame
            let count = min(buffer.count / frame * frame, state.bytes.count - state.start)
            if count > 0 {
                buffer.copyBytes(from: state.bytes[state.start..<state.start + count])
                state.start += count
                state.takenBytes += count
            }
            return count
        }
    }

    var availableBytes: Int { state.withLock { $0.bytes.count - $0.start } }
    var isFinished: Bool { state.withLock { $0.isFinished } }
}

extension AudioFormat {
    static let cd = AudioFormat(sampleRate: 44_100, channelCount: 2)
    static let speech = AudioFormat(sampleRate: 22_050, channelCount: 1)

    /// Frames numbered from `first`, each different from its neighbours.
    func numbered(_ count: Int, from first: Int = 0) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count * bytesPerFrame)
        for frame in first..<first + count {
            let low = UInt8(truncatingIfNeeded: frame)
            let high = UInt8(truncatingIfNeeded: frame >> 8)
            bytes +=
                channelCount == 1 ? [low, high] : [low, high, UInt8(truncatingIfNeeded: frame >> 16), 1]
        }
        return bytes
    }
}
