import Glibc
import Synchronization

/// An HTTP/1.1 server on 127.0.0.1 for tests, demonstrations and benchmarks. Serves a folder and resources
/// in memory, and behaves well unless faults are set.
///
/// Every member may be called from any thread, also while requests are served.
package final class Origin: Sendable {
    private struct Script {
        var next: [[Fault]]
        var afterwards: [Fault]
    }

    private struct State {
        var resources: [String: OriginResource]
        var scripts: [String: Script] = [:]
        var faults: [Fault]
        var gates: [OriginGate] = []
        var shaping: Shaping
        var line: LineSchedule?
        var serving: Task<Void, Never>?
    }

    package let port: UInt16
    /// The requests and the bytes sent for them.
    package let log: RequestLog

    private let folder: OriginFolder?
    private let state: Mutex<State>
    private let epoch = ContinuousClock.now

    /// Starts serving, until `stop`.
    ///
    /// - Parameters:
    ///   - resources: the resources in memory, by path.
    ///   - folder: a folder whose files are served if no resource in memory has the path.
    ///   - port: the port; 0 takes a free one.
    ///   - faults: the faults of answers for paths without a script of their own.
    ///   - onEnd: called with each request after it has ended.
    /// - Throws: `OriginFailure` if the port is taken or the folder does not exist.
    package init(
        resources: [String: OriginResource] = [:],
        folder: String? = nil,
        port: UInt16 = 0,
        shaping: Shaping = Shaping(),
        faults: [Fault] = [],
        onEnd: @escaping @Sendable (LoggedRequest) -> Void = { _ in }
    ) throws(OriginFailure) {
        if let folder {
            guard let opened = OriginFolder(path: folder) else { throw .last("open folder \(folder)") }
            self.folder = opened
        } else {
            self.folder = nil
        }
        let listener = try ListeningSocket(port: port)
        self.port = listener.port
        log = RequestLog(onEnd: onEnd)
        state = Mutex(State(resources: resources, faults: faults, shaping: shaping))
        self.shaping = shaping
        let serving = Task { [self] in await serve(listener) }
        state.withLock { $0.serving = serving }
    }

    /// `http://127.0.0.1:PORT`, without a slash at the end.
    package var baseURL: String { "http://127.0.0.1:\(port)" }

    /// The URL of `path`, which begins with `/` and is percent-encoded if needed.
    package func url(_ path: String) -> String { baseURL + path }

    /// The simulated line. A change applies to bytes sent from now on.
    package var shaping: Shaping {
        get { state.withLock { $0.shaping } }
        set {
            let now = now
            state.withLock { state in
                state.shaping = newValue
                state.line = newValue.bytesPerSecond.map { LineSchedule(bytesPerSecond: $0, now: now) }
            }
        }
    }

    /// Serves `resource` at `path` (decoded, beginning with `/`) from the next request on; `nil` removes it.
    package func setResource(_ resource: OriginResource?, at path: String) {
        state.withLock { $0.resources[path] = resource }
    }

    /// Applies `faults` to every answer for `path` from the next request on; empty removes them.
    package func setFaults(_ faults: [Fault], for path: String) {
        script([], thenAlways: faults, for: path)
    }

    /// Applies one element of `faults` to each of the next answers for `path` (an empty element for none),
    /// and `thenAlways` to those after them.
    package func script(_ faults: [[Fault]], thenAlways: [Fault] = [], for path: String) {
        state.withLock { $0.scripts[path] = Script(next: faults, afterwards: thenAlways) }
    }

    /// Holds the answers for `path` (nil: for every path) at `place`, from now on until the gate is
    /// released; what is being sent already is held too.
    package func hold(_ path: String? = nil, _ place: OriginGate.Place) -> OriginGate {
        let gate = OriginGate(path: path, place: place)
        state.withLock { $0.gates.append(gate) }
        return gate
    }

    /// Closes the port and all connections; returns when no request is being served any more.
    package func stop() async {
        beginStopping()
        await state.withLock { $0.serving }?.value
    }

    /// Begins to stop, without waiting for the end.
    package func beginStopping() {
        state.withLock { $0.serving }?.cancel()
    }

    private func serve(_ listener: consuming ListeningSocket) async {
        await withDiscardingTaskGroup { group in
            while let socket = try? await listener.accept() {
                group.addTask { await OriginConnection(socket: socket, origin: self).serve() }
            }
            await SocketWaiting.settle()
        }
    }

    var now: Duration { ContinuousClock.now - epoch }

    func representation(of path: String) -> Representation? {
        if let resource = state.withLock({ $0.resources[path] }) { return resource.representation }
        return folder?.representation(of: path)
    }

    func nextFaults(for path: String) -> [Fault] {
        state.withLock { state in
            guard let script = state.scripts[path] else { return state.faults }
            if script.next.isEmpty { return script.afterwards }
            return state.scripts[path]?.next.removeFirst() ?? []
        }
    }

    func gates(for path: String) -> [OriginGate] {
        state.withLock { state in
            state.gates.removeAll { $0.isReleased }
            return state.gates.filter { $0.path == nil || $0.path == path }
        }
    }

    /// Reserves the line for `count` bytes; returns when they may be sent.
    func waitForLine(_ count: Int) async throws {
        let now = now
        let due = state.withLock { $0.line?.reserve(count, now: now) }
        if let due, due > now { try await Task.sleep(until: epoch + due, clock: .continuous) }
    }
}

/// A system call failed while the origin started.
package struct OriginFailure: Error, Equatable, CustomStringConvertible {
    /// The failed operation and its object.
    package var operation: String
    /// Its `errno`.
    package var code: Int32

    package init(operation: String, code: Int32) {
        self.operation = operation
        self.code = code
    }

    package var description: String { "\(operation): \(String(cString: strerror(code)))" }

    /// The failure of the call that has just returned.
    static func last(_ operation: String) -> OriginFailure {
        OriginFailure(operation: operation, code: errno)
    }
}
