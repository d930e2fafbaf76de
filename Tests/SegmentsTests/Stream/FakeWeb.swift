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
    }

    let state = Locked(State())

    init(_ bodies: [String: [UInt8]] = [:]) { state.withLock { $0.bodies = bodies } }

    func set(_ path: String, _ body: [UInt8]?) { state.withLock { $0.bodies[path] = body } }
    func set(_ path: String, _ body: String) { set(path, Array(body.utf8)) }

    /// The paths that were opened, in order.
    var opened: [String] { state.withLock { $0.opened } }
    /// The number of readers that are open.
    var openCount: Int { state.withLock { $0.openCount } }
    var rejected: [String] { state.withLock { $0.rejected } }

    static func location(_ path: String) -> ResourceLocation {
        guard let url = WebURL("http://radio.example" + path) else { preconditionFailure(path) }
        return .web(url)
    }

    func open(_ location: ResourceLocation, fetched: Bool = true) -> FakeReader {
        state.withLock { state in
            state.opened.append(location.path)
            state.openCount += 1
        }
        return FakeReader(self, location, fetched: fetched)
    }
}

/// Reads a resource of a `FakeWeb`; one that is missing answers 404.
final class FakeReader: ResourceReader {
    private let web: FakeWeb
    private let location: ResourceLocation
    private let fetched: Bool
    private let isClosed = Locked(false)

    init(_ web: FakeWeb, _ location: ResourceLocation, fetched: Bool) {
        self.web = web
        self.location = location
        self.fetched = fetched
    }

    private var body: [UInt8]? { web.state.withLock { $0.bodies[location.path] } }

    var length: Int64? { nil }

    func read(at offset: Int64, count: Int) async throws -> [UInt8] {
        try Task.checkCancellation()
        if isClosed.withLock({ $0 }) { throw CancellationError() }
        guard let body else {
            throw MediaError(.httpStatus, location.safeText, "the server answers 404")
        }
        // As servers do, it sends less than was asked for.
        return Array(body.dropFirst(Int(min(offset, Int64(body.count)))).prefix(min(count, 10_007)))
    }

    func isStored(_ range: ByteRange) -> Bool { !fetched }

    var report: LoadReport {
        var report = LoadReport()
        report.requestCount = fetched ? 1 : 0
        report.fetchedBytes = fetched ? Int64(body?.count ?? 0) : 0
        return report
    }

    func allowReadAhead(bytesPerSecond: Double) {}
    func fill() {}
    func reject() async { web.state.withLock { $0.rejected.append(location.path) } }
    func store(_ value: [UInt8], as fact: DerivedFact) {}
    func stored(_ fact: DerivedFact) -> [UInt8] { [] }
    func store(_ facts: TrackFacts) {}

    func close() async {
        let isFirst = isClosed.withLock { exchange(&$0, with: true) == false }
        if isFirst { web.state.withLock { $0.openCount -= 1 } }
    }
}
