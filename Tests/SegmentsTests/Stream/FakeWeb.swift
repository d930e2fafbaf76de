import Media
import System

@testable import Segments

/// The resources of a stream, in memory. Counts what is opened.
final class FakeWeb: Sendable {
    struct State {
        var bodies: [String: [UInt8]] = [:]
        var opened: [String] = []
        var openCount = 0
        var rejected: [String] = []
        /// The paths that other paths lead to.
        var redirects: [String: String] = [:]
        /// The paths of lists that were requested, and not sent because they had not changed.
        var unchanged: [String] = []
        /// The streams that are cached, by the paths of their lists.
        var tables: [String: StreamTable] = [:]
        /// Their parts.
        var kept: [String: [PartName: [UInt8]]] = [:]
        /// What is cached of further renditions, by the paths of their streams.
        var others: [String: [(table: StreamTable, kept: [PartName: [UInt8]])]] = [:]
        /// How many streams have changed.
        var changes = 0
        /// The status of missing resources.
        var status = 404
    }

    let state = Locked(State())

    init(_ bodies: [String: [UInt8]] = [:]) { state.withLock { $0.bodies = bodies } }

    func set(_ path: String, _ body: [UInt8]?) { state.withLock { $0.bodies[path] = body } }
    func set(_ path: String, _ body: String) { set(path, Array(body.utf8)) }

    func redirect(_ path: String, to target: String) { state.withLock { $0.redirects[path] = target } }

    /// The paths that were opened or requested, in order.
    var opened: [String] { state.withLock { $0.opened } }
    /// The number of readers that are open.
    var openCount: Int { state.withLock { $0.openCount } }
    var rejected: [String] { state.withLock { $0.rejected } }

    static func location(_ path: String) -> ResourceLocation {
        guard let url = WebURL("http://radio.example" + path) else { preconditionFailure(path) }
        return .web(url)
    }

    func open(_ location: ResourceLocation, fetched: Bool = true, answeredAt: Duration? = nil) -> FakeReader {
        state.withLock { state in
            state.opened.append(location.target)
            state.openCount += 1
        }
        return FakeReader(self, location, fetched: fetched, answeredAt: answeredAt)
    }

    /// The body at `location`, and where it is.
    fileprivate func answer(_ location: ResourceLocation) throws -> (body: [UInt8], path: String) {
        try state.withLock { state throws(MediaError) in
            let path = state.redirects[location.target] ?? location.target
            guard let body = state.bodies[path] else {
                let cause = SafeText("the server answers \(state.status)")
                var error = MediaError(.httpStatus, location.safeText, cause)
                error.isLasting = true
                error.status = state.status
                throw error
            }
            return (body, path)
        }
    }

    func request(_ location: ResourceLocation, unless validators: Validators) throws -> FetchedBody {
        state.withLock { $0.opened.append(location.target) }
        let (body, path) = try answer(location)
        var answer = RangeAnswer(kind: .whole(length: Int64(body.count)))
        answer.validators = Validators(etag: "\"\(body.count)-\(body.reduce(0) { $0 &* 31 &+ Int($1) })\"")
        if path != location.target { answer.redirectedTo = Self.location(path).url }
        if validators == answer.validators {
            state.withLock { $0.unchanged.append(location.target) }
            return FetchedBody(answer: answer, bytes: nil)
        }
        return FetchedBody(answer: answer, bytes: body)
    }
}

/// Reads a resource of a `FakeWeb`; one that is missing answers 404.
final class FakeReader: ResourceReader {
    private let web: FakeWeb
    private let location: ResourceLocation
    private let fetched: Bool
    private let answeredAt: Duration?
    private let isClosed = Locked(false)

    init(_ web: FakeWeb, _ location: ResourceLocation, fetched: Bool, answeredAt: Duration?) {
        self.answeredAt = answeredAt
        self.web = web
        self.location = location
        self.fetched = fetched
    }

    var path: String { location.path }

    private var body: [UInt8]? { try? web.answer(location).body }

    var length: Int64? { nil }

    func read(at offset: Int64, count: Int) async throws -> [UInt8] {
        try Task.checkCancellation()
        if isClosed.withLock({ $0 }) { throw CancellationError() }
        let (body, _) = try web.answer(location)
        // As servers do, it sends less than was asked for.
        return Array(body.dropFirst(Int(min(offset, Int64(body.count)))).prefix(min(count, 10_007)))
    }

    func isStored(_ range: ByteRange) -> Bool { !fetched }

    var report: LoadReport {
        var report = LoadReport()
        report.requestCount = fetched ? 1 : 0
        report.fetchedBytes = fetched ? Int64(body?.count ?? 0) : 0
        report.answeredAt = answeredAt
        return report
    }

    var stream: StreamTable? { web.state.withLock { $0.tables[path] } }
    var streamContents: StreamContents? { web.contents(of: path) }
    func store(_ stream: StreamTable) { web.state.withLock { $0.tables[path] = stream } }

    func allowReadAhead(bytesPerSecond: Double) {}
    func fill() {}
    func reject() async { web.state.withLock { $0.rejected.append(location.target) } }
    func store(_ value: [UInt8], as fact: DerivedFact) {}
    func stored(_ fact: DerivedFact) -> [UInt8] { [] }
    func store(_ facts: TrackFacts) {}

    func close() async {
        let isFirst = isClosed.withLock { exchange(&$0, with: true) == false }
        if isFirst { web.state.withLock { $0.openCount -= 1 } }
    }
}

extension ResourceLocation {
    /// The path with its query.
    fileprivate var target: String {
        guard let url else { return path }
        return String(url.requestString.dropFirst("http://radio.example".utf8.count))
    }
}
