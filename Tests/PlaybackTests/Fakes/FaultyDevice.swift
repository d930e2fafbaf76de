import Media
import Output
import System
import TestSupport

/// A null device that reports underruns, dies and comes back when the test says so.
final class FaultyDevice: AudioOutput {
    private struct State {
        var isDead = false
        var reader: (any PCMReader)?
        var handler: (@Sendable (OutputEvent) -> Void)?
    }

    private static let gone = MediaError(.audioLost, "the test's device", "is gone")

    private let device: NullOutput
    private let state = Locked(State())

    init(clock: TestClock, latency: Duration) { device = NullOutput(clock: clock, latency: latency) }

    /// Reports an underrun although the reader has frames, as servers do while frames are on their way.
    func claimUnderrun() { state.withLock { $0.handler }?(.underrun) }

    /// Loses the frames that it held, like a server that crashes, and fails every call until `revive`.
    func die() async {
        state.withLock { $0.isDead = true }
        await device.pause()
        state.withLock { $0.handler }?(.lost(Self.gone))
    }

    /// Lets it be connected and opened again.
    func revive() { state.withLock { $0.isDead = false } }

    /// `true` if the decoder is at least this many bytes ahead of the device, or has decoded all.
    func isAhead(byBytes count: Int) -> Bool {
        state.withLock { $0.reader }.map { $0.isFinished || $0.availableBytes >= count } ?? false
    }

    var isRealTime: Bool { true }
    var heardFrames: FrameCount { device.heardFrames }

    func connect() async throws {
        if state.withLock({ $0.isDead }) { throw MediaError(.audioServer, "the test's device", "is away") }
    }

    func open(_ format: AudioFormat, reader: any PCMReader) async throws {
        if state.withLock({ $0.isDead }) { throw Self.gone }
        state.withLock { $0.reader = reader }
        try await device.open(format, reader: reader)
    }

    func start() async throws {
        if state.withLock({ $0.isDead }) { throw Self.gone }
        try await device.start()
    }

    func pause() async { await device.pause() }
    func flush() async { await device.flush() }
    func drain() async { await device.drain() }
    func close() async { await device.close() }
    func framesAvailable() { device.framesAvailable() }
    func setVolume(_ percent: Int, isMuted: Bool) {}
    func setTitle(_ title: SoundTitle) {}

    func setEventHandler(_ handler: @escaping @Sendable (OutputEvent) -> Void) {
        state.withLock { $0.handler = handler }
        device.setEventHandler(handler)
    }
}
