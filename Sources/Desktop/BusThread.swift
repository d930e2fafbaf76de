import Media
import System

/// The thread of a service on a bus, which it must be given again if the bus is lost.
struct BusThread: Sendable {
    /// The longest pause between two attempts to find a bus that was lost.
    private static let longestPause = Duration.seconds(60)

    let name: String
    let clock: any MonotonicClock
    /// Wakes the thread if something has changed for it, or if the service is over.
    let pipe: WakePipe
    let isOver: @Sendable () -> Bool

    /// Opens libsystemd, and calls `serve` on a new thread; returns at once. `serve` connects, and returns
    /// once the bus is lost or the service is over, or returns `false` at once if no bus is found.
    ///
    /// A bus that was not there is not looked for again; one that was lost is, since desktops restart it.
    /// `onAbsence` is called if there is no library or no bus.
    func start(serve: @escaping @Sendable () -> Bool, onAbsence: @escaping @Sendable () -> Void = {}) {
        BusConnection.library.open { [self] reason in
            guard reason == nil else { return onAbsence() }
            NamedThread.start(name) {
                guard !isOver(), serve() else { return onAbsence() }
                var pause = Duration.seconds(1)
                while !isOver() {
                    waitForRetry(pause)
                    pause = serve() ? .seconds(1) : min(pause * 2, Self.longestPause)
                }
            }
        }
    }

    private func waitForRetry(_ pause: Duration) {
        let due = clock.now + pause
        while !isOver(), clock.now < due {
            Poll.wait(reading: [pipe.readEnd], atMost: due - clock.now)
            _ = pipe.drain()
        }
    }
}

extension PlayerSnapshot {
    /// `true` while the current track is being opened or awaited: a bus must not delay the music.
    var awaitsMusic: Bool { state == .opening || state == .buffering }
}
