package import Media
package import System

/// `null`: takes frames at the speed at which they would be heard, and drops them.
///
/// It reads once per `period` of its clock, and not at all while paused. If a test advances the clock while
/// the device sleeps, the device takes exactly the frames of that time before it sleeps again, whatever the
/// length of the advance.
package final class NullOutput: AudioOutput {
    /// The time between two reads while playing: long enough to cost almost nothing.
    package static let period = Duration.milliseconds(100)

    private struct State: Sendable {
        var device: DeviceState?
        var reader: (any PCMReader)?
        /// The task that sleeps and takes frames; it ends with each pause.
        var ticking: Task<Void, Never>?
        var drain: OneShot<Void>?
        var handler: (@Sendable (OutputEvent) -> Void)?
    }

    private let clock: any MonotonicClock
    private let latency: Duration
    // The reader is called while the lock is held; it never waits.
    private let state = Locked(State())

    /// A device with a buffer of `latency`.
    package init(clock: any MonotonicClock, latency: Duration = NullOutput.period) {
        self.clock = clock
        self.latency = latency
    }

    deinit { state.withLock { $0.ticking }?.cancel() }

    package var isRealTime: Bool { true }
    package var joining: TrackJoining { .rounding }

    package var heardFrames: FrameCount { state.withLock { $0.device?.heard(at: clock.now) ?? 0 } }

    package func connect() async throws {}

    package func open(_ format: AudioFormat, reader: any PCMReader) async throws {
        standStill { state in
            state.device = DeviceState(format: format, latency: latency)
            state.reader = reader
        }
    }

    package func start() async throws {
        standStill { state in state.device?.started(at: clock.now) }
        guard let wait = tick() else { return }
        let ticking = Task { [weak self, clock] in
            var wait = wait
            while true {
                do { try await clock.sleep(for: wait) } catch { return }
                guard !Task.isCancelled, let next = self?.tick() else { return }
                wait = next
            }
        }
        state.withLock { $0.ticking = ticking }
    }

    package func pause() async { standStill { _ in } }

    package func flush() async { state.withLock { $0.device?.flushed() } }

    package func drain() async {
        let answer = OneShot<Void>()
        let isPlaying = state.withLock { state in
            guard state.device?.isPlaying == true else { return false }
            state.drain = answer
            return !isOver(state)
        }
        guard isPlaying else { return }
        await answer.wait(ifCancelled: ())
    }

    package func close() async {
        standStill { state in
            state.device = nil
            state.reader = nil
        }
    }

    /// Does nothing: the device reads at its own times.
    package func framesAvailable() {}

    package func setEventHandler(_ handler: @escaping @Sendable (OutputEvent) -> Void) {
        state.withLock { $0.handler = handler }
    }

    /// Stops the device, ends a drain that waits for it, and then applies `change`.
    private func standStill(_ change: (inout State) -> Void) {
        let (ticking, drain) = state.withLock { state in
            state.device?.paused(at: clock.now)
            defer {
                state.ticking = nil
                state.drain = nil
                change(&state)
            }
            return (state.ticking, state.drain)
        }
        ticking?.cancel()
        drain?.give(())
    }

    /// Takes the frames that are due. Returns how long to sleep until the next read; `nil` if the device is
    /// paused or all frames were heard.
    private func tick() -> Duration? {
        let (wait, isUnderrun, drain, handler) = state.withLock { state in
            let now = clock.now
            guard var device = state.device, device.isPlaying, let reader = state.reader else {
                return (Duration?.none, false, OneShot<Void>?.none, state.handler)
            }
            let isFinished = reader.isFinished
            let taken = discard(device.wanted(at: now), of: reader, device.format)
            let isUnderrun = device.took(taken, isFinished: isFinished, at: now)
            state.device = device
            guard !isOver(state) else {
                defer { state.drain = nil }
                return (nil, isUnderrun, state.drain, state.handler)
            }
            // The last sleep ends when the last frame was heard, not up to a period later.
            let isLast = isFinished && reader.availableBytes == 0
            let wait = isLast ? min(Self.period, device.remaining(at: now)) : Self.period
            return (max(wait, .microseconds(1)), isUnderrun, nil, state.handler)
        }
        if isUnderrun { handler?(.underrun) }
        drain?.give(())
        return wait
    }

    /// `true` if the reader is finished and all its frames were heard.
    private func isOver(_ state: State) -> Bool {
        guard let device = state.device, let reader = state.reader else { return true }
        return reader.isFinished && reader.availableBytes == 0 && device.heard(at: clock.now) == device.taken
    }

    /// Reads and drops up to `count` frames; returns their number.
    private func discard(_ count: FrameCount, of reader: any PCMReader, _ format: AudioFormat) -> FrameCount {
        withUnsafeTemporaryAllocation(byteCount: 16 * 1024, alignment: 16) { bytes in
            var taken: FrameCount = 0
            while taken < count {
                let frames = Int(min(count - taken, Int64(bytes.count / format.bytesPerFrame)))
                let size = reader.read(into: .init(rebasing: bytes[..<(frames * format.bytesPerFrame)]))
                if size == 0 { break }
                taken += Int64(size / format.bytesPerFrame)
            }
            return taken
        }
    }
}
