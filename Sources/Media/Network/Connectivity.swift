/// Whether the network is there, as judged by what requests met.
package struct ConnectivityReport: Sendable, Equatable {
    /// Whether the player works offline at the moment.
    package var isOffline = false
    /// Whether that was asked for (`--offline`), so that nothing is tried.
    package var isForced = false
    /// Why it is offline; nil while online.
    package var reason: MediaError?
    /// When the network is tried again, on the loaders' clock; nil while online or forced.
    package var retryAt: Duration?

    package init() {}
}

/// Knows whether the network is there.
package protocol Connectivity: Sendable {
    var report: ConnectivityReport { get }

    /// The listener asked for something that is not here: the network is tried again at once. Never waits.
    func retryNow()

    /// Calls `observer` after each change, from any thread.
    func observe(_ observer: @escaping @Sendable (ConnectivityReport) -> Void)
}
