import Media
import System

/// Whom a `PulseOutput` tells, and what it was last told of the volume.
///
/// Callbacks hold this and never the output, whose last reference could otherwise go on libpulse's
/// own thread, where it cannot be closed. Its lock is taken with the main loop's held, never
/// the other way round.
final class PulseListener: Sendable {
    private struct State {
        var handler: (@Sendable (OutputEvent) -> Void)?
        var volume = PulseVolumeState()
        var title: SafeText = "Reprise"
    }

    private let state = Locked(State())

    /// What the next stream starts with.
    var volume: PulseVolumeState { state.withLock { $0.volume } }
    var title: SafeText { state.withLock { $0.title } }

    func setHandler(_ handler: @escaping @Sendable (OutputEvent) -> Void) {
        state.withLock { $0.handler = handler }
    }

    func setVolume(_ level: PulseVolumeState.Level) { state.withLock { $0.volume.chosen(level) } }
    func setTitle(_ title: SafeText) { state.withLock { $0.title = title } }

    func tell(_ event: OutputEvent) {
        let handler = state.withLock { state in
            if case .volumeChanged(let percent, let isMuted) = event {
                state.volume.chosen(.init(percent: percent, isMuted: isMuted))
            }
            return state.handler
        }
        handler?(event)
    }
}
