import Media
import System

/// How long the audio server may leave a request unanswered.
///
/// A server that is stopped or hangs keeps its connections and answers nothing: libpulse waits then for
/// ever, and whoever waits for it with it.
struct PulsePatience: Sendable {
    /// Every request is answered from the server's memory, in milliseconds even on a busy machine; a
    /// listener who pressed a key gives up soon after this.
    static let limit = Duration.seconds(3)

    let clock: any MonotonicClock

    /// Returns what `wait` returns. `giveUp` is called once when that takes longer than the limit, and has
    /// to end the wait.
    func watching<Value: Sendable>(
        _ giveUp: @escaping @Sendable () -> Void,
        _ wait: () async -> Value
    ) async -> Value {
        let watchdog = Task { [clock] in
            guard (try? await clock.sleep(for: Self.limit)) != nil else { return }
            giveUp()
        }
        defer { watchdog.cancel() }
        return await wait()
    }
}
