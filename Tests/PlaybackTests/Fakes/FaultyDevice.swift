import Media
import Output
import System
import TestSupport

/// A null device whose speed, underruns and death are up to the test.
final class FaultyDevice: AudioOutput {
    private struct State {
        var isDead = false
        var handler: (@Sendable (OutputEvent) -> Void)?
    }

    private static let gone = MediaError(.audioLost, "the test's device", "is gone")

    private let device: NullOutput
    private let clock: ScaledClock
    private let state = Locked(State())

    init(clock: TestClock, latency: Duration) {
        self.clock = ScaledClock(clock)
        device = NullOutput(clock: self.clock, latency: latency)
    }

    /// From now on plays `speed` seconds of music per second.
    func play(atSpeed speed: Double) { clock.run(atSpeed: speed) }

    /// Reports an underrun although the reader has frames, as servers do while frames are on their way.
    func claimUnderrun() { state.withLock { $0.handler }?(.underrun) }

    /// Disappears with the frames it held, like a server that crashes; until `revive` it cannot be used.
    func die() async {
        state.withLock { $0.isDead = true }
        await device.pause()
        state.withLock { $0.handler }?(.lost(Self.gone))
    }

    /// Can be connected to again; a stream has to be opened anew.
    func revive() { state.withLock { $0.isDead = false } }

    var isRealTime: Bool { true }
    var heardFrames: FrameCount { device.heardFrames }

    func connect() async throws {
        if state.withLock({ $0.isDead }) { throw MediaError(.audioServer, "the test's device", "is away") }
    }

    func open(_ format: AudioFormat, reader: any PCMReader) async throws {
        if state.withLock({ $0.isDead }) { throw Self.gone }
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
    func setTitle(_ title: SafeText) {}

    func setEventHandler(_ handler: @escaping @Sendable (OutputEvent) -> Void) {
        state.withLock { $0.handler = handler }
        device.setEventHandler(handler)
    }
}

/// A clock that runs faster or slower than the test's.
private final class ScaledClock: MonotonicClock {
    private struct State {
        var speed = 1.0
        /// Both clocks at the moment of the last change.
        var own = Duration.zero
        var real = Duration.zero
    }

    private let clock: TestClock
    private let state = Locked(State())

    init(_ clock: TestClock) { self.clock = clock }

    var now: Duration {
        let real = clock.now
        return state.withLock { $0.own + ($0.speed == 1 ? real - $0.real : (real - $0.real) * $0.speed) }
    }

    func run(atSpeed speed: Double) {
        let (own, real) = (now, clock.now)
        state.withLock { $0 = State(speed: speed, own: own, real: real) }
    }

    func sleep(until time: Duration) async throws {
        let end = state.withLock { state in
            state.real + (state.speed == 1 ? time - state.own : (time - state.own) / state.speed)
        }
        try await clock.sleep(until: end)
    }
}
