import Media
import System

/// What all loaders share.
struct LoaderParts: Sendable {
    var transport: any RangeTransport
    var clock: any MonotonicClock
    var settings = LoadSettings()
    /// Nil where nobody watches the network: then it counts as there.
    var connectivity: (any Connectivity)?
    var journal: (any RequestJournal)?
    var numbers = RequestNumbers()
    var line = LineArbiter()
}

extension LoaderParts {
    /// A request was sent, was answered or has brought more.
    func tellProgress(of log: RequestLog) { journal?.progressed(log.soFar(at: clock.now)) }

    /// Offline none was sent.
    func withdraw(_ log: RequestLog) { journal?.withdrew(log.record.number) }
}
