import Media
import System
import TestSupport

/// A sink in memory that takes frames as fast as they come, or as many as the test allows.
final class TestSink: AudioOutput {
    private struct State {
        var reader: (any PCMReader)?
        var bytesPerFrame = 1
        var isRunning = false
        var taken: FrameCount = 0
        /// Frames that the sink may still take; `nil` for all.
        var allowance: Int?
        var pauseLag = 0
        var underrunReported = false
        var pcm: [UInt8] = []
        var openings: [AudioFormat] = []
        var handler: (@Sendable (OutputEvent) -> Void)?
        var connections = 0
        var isAway = false
        var volumes: [Int] = []
        var devices: [SoundDevice] = []
        var chosenDevices: [String?] = []
    }

    private let state: Locked<State>
    let joining: TrackJoining

    /// With an `allowance`, takes only that many frames before `allow`.
    init(allowance: Int? = nil, joining: TrackJoining = .exactly) {
        state = Locked(State(allowance: allowance))
        self.joining = joining
    }

    var isRealTime: Bool { false }
    var pcm: [UInt8] { state.withLock { $0.pcm } }
    var openings: [AudioFormat] { state.withLock { $0.openings } }
    var connections: Int { state.withLock { $0.connections } }
    var volumes: [Int] { state.withLock { $0.volumes } }
    var heardFrames: FrameCount { state.withLock { $0.taken } }

    /// Frames that the sink could take at once, if it were allowed to.
    var waitingFrames: Int {
        state.withLock { ($0.reader?.availableBytes ?? 0) / $0.bytesPerFrame }
    }

    /// The frames that it may still take; `nil` for all.
    var allowance: Int? { state.withLock { $0.allowance } }

    func allow(frames: Int) {
        state.withLock { $0.allowance = ($0.allowance ?? 0) + frames }
        pump()
    }

    /// From now on the sink takes this many frames more until a pause is complete, as real servers do.
    func setPauseLag(frames: Int) { state.withLock { $0.pauseLag = frames } }

    func send(_ event: OutputEvent) { state.withLock { $0.handler }?(event) }

    /// `true` if every attempt to reach it fails.
    func setAway(_ isAway: Bool) { state.withLock { $0.isAway = isAway } }

    func connect() async throws {
        let isAway = state.withLock { state in
            state.connections += 1
            return state.isAway
        }
        if isAway { throw MediaError(.audioServer, "the sink", "is away") }
    }

    func open(_ format: AudioFormat, reader: any PCMReader) async throws {
        state.withLock { state in
            state.reader = reader
            state.bytesPerFrame = format.bytesPerFrame
            state.isRunning = false
            state.taken = 0
            state.openings.append(format)
        }
    }

    func start() async throws {
        state.withLock { state in
            state.isRunning = true
            state.underrunReported = false
        }
        pump()
    }

    func pause() async {
        let (lag, allowance) = state.withLock { ($0.pauseLag, $0.allowance) }
        if lag > 0 { allow(frames: lag) }
        state.withLock { state in
            state.isRunning = false
            if let allowance, lag > 0 { state.allowance = min(allowance, state.allowance ?? 0) }
        }
    }

    func flush() async {}

    func drain() async {
        try? await wait(for: "the last frame") {
            state.withLock { state in
                guard state.isRunning, let reader = state.reader else { return true }
                return reader.isFinished && reader.availableBytes == 0
            }
        }
    }

    func close() async { await pause() }

    func framesAvailable() { pump() }

    func setVolume(_ percent: Int, isMuted: Bool) { state.withLock { $0.volumes.append(percent) } }
    func setTitle(_ title: SoundTitle) {}

    /// Sets the devices that can be chosen.
    func setDevices(_ devices: [SoundDevice]) { state.withLock { $0.devices = devices } }

    func devices() async -> [SoundDevice] { state.withLock { $0.devices } }
    func setDevice(_ name: String?) { state.withLock { $0.chosenDevices.append(name) } }
    /// The names of all devices that were chosen, in order.
    var chosenDevices: [String?] { state.withLock { $0.chosenDevices } }

    func setEventHandler(_ handler: @escaping @Sendable (OutputEvent) -> Void) {
        state.withLock { $0.handler = handler }
    }

    /// Takes the frames that may be taken. The lock ensures that there is only one reader at a time.
    private func pump() {
        let underrun: (@Sendable (OutputEvent) -> Void)? = state.withLock { state in
            guard state.isRunning, let reader = state.reader else { return nil }
            let isFinished = reader.isFinished
            var chunk = [UInt8](repeating: 0, count: 64 * state.bytesPerFrame)
            while state.allowance != 0 {
                let wanted = min(64, state.allowance ?? 64) * state.bytesPerFrame
                let count = chunk.withUnsafeMutableBytes { reader.read(into: .init(rebasing: $0[..<wanted])) }
                guard count > 0 else { break }
                state.pcm += chunk[..<count]
                state.taken += FrameCount(count / state.bytesPerFrame)
                state.allowance = state.allowance.map { $0 - count / state.bytesPerFrame }
            }
            // A sink with a speed of its own notices that the ring held too few frames.
            guard reader.availableBytes == 0, !isFinished, let allowance = state.allowance, allowance > 0,
                !state.underrunReported
            else { return nil }
            state.underrunReported = true
            return state.handler
        }
        underrun?(.underrun)
    }
}
