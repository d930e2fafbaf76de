import Media
import System

/// A network that the test takes offline and online.
final class FakeConnectivity: Connectivity {
    private struct State {
        var report: ConnectivityReport
        var retries = 0
    }

    private let state: Locked<State>
    private let observers = Observers<ConnectivityReport>()

    init(_ report: ConnectivityReport = ConnectivityReport()) { state = Locked(State(report: report)) }

    var report: ConnectivityReport { state.withLock { $0.report } }
    /// The number of calls of `retryNow`.
    var retries: Int { state.withLock { $0.retries } }

    func retryNow() { state.withLock { $0.retries += 1 } }

    func observe(_ observer: @escaping @Sendable (ConnectivityReport) -> Void) -> Observation {
        observers.add(observer)
    }

    func set(offline: Bool, because reason: MediaError? = nil) {
        let report = state.withLock { state in
            state.report.isOffline = offline
            state.report.reason = reason
            return state.report
        }
        observers.send(report)
    }
}

/// The state of the cache, set by the test.
final class FakeCacheStatus: CacheStatus {
    private struct State {
        var known: [WebURL: Availability] = [:]
        var facts: [WebURL: TrackFacts] = [:]
        var batches: [Int] = []
        var failure: MediaError?
        var gate: TestClockGate?
        var counted: [String] = []
        var spared: [[String]] = []
        var isFullAhead = false
    }

    typealias TestClockGate = @Sendable () async -> Void

    private let state = Locked(State())

    /// The number of URLs in each query.
    var batches: [Int] { state.withLock { $0.batches } }

    func set(_ availability: Availability?, of url: WebURL?) {
        guard let url else { return }
        state.withLock { $0.known[url] = availability }
    }

    func set(_ facts: TrackFacts, of url: WebURL?) {
        guard let url else { return }
        state.withLock { $0.facts[url] = facts }
    }

    func facts(of urls: [WebURL]) async -> [TrackFacts?] {
        state.withLock { state in urls.map { state.facts[$0] } }
    }

    /// The bytes that were counted: `1.mp3 900/1800`, the saved ones first.
    var counted: [String] { state.withLock { $0.counted } }

    func count(_ bytes: HeardBytes, of url: WebURL) {
        state.withLock { $0.counted.append("\(url.fileName ?? "") \(bytes.saved)/\(bytes.heard)") }
    }

    /// The names of the files that were spared, by call.
    var spared: [[String]] { state.withLock { $0.spared } }

    func spare(_ urls: [WebURL]) async {
        state.withLock { $0.spared.append(urls.compactMap(\.fileName)) }
    }

    var isFullAhead: Bool { state.withLock { $0.isFullAhead } }

    /// From now on, nothing more fits that is downloaded ahead.
    func fill() { state.withLock { $0.isFullAhead = true } }

    func fail(with error: MediaError) { state.withLock { $0.failure = error } }

    /// Lets every answer wait for `gate`.
    func hold(_ gate: @escaping TestClockGate) { state.withLock { $0.gate = gate } }

    func availability(of urls: [WebURL]) async -> [Availability?] {
        let gate = state.withLock { state in
            state.batches.append(urls.count)
            return state.gate
        }
        await gate?()
        return state.withLock { state in urls.map { state.known[$0] } }
    }

    func setPinned(_ url: WebURL, _ isPinned: Bool) async throws {
        try state.withLock { state in
            if let failure = state.failure { throw failure }
            state.known[url, default: Availability()].isPinned = isPinned
        }
    }
}
