import Glibc
import Synchronization

/// An HTTP/1.1 server on 127.0.0.1, of a folder and of resources in memory, for tests, demonstrations
/// and benchmarks. It does what a good server does, unless it is told to misbehave.
///
/// Every member can be called from any thread, also while requests are served.
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
    /// What was asked and sent.
    package let log: RequestLog

    private let folder: OriginFolder?
    private let state: Mutex<State>
    private let epoch = ContinuousClock.now

    /// Starts serving. It goes on until `stop`.
    ///
    /// - Parameters:
    ///   - resources: what is in memory when the first request comes, by its path.
    ///   - folder: the folder whose files are served, where no resource in memory has the path.
    ///   - port: 0 takes a free one.
    ///   - faults: what is wrong with the answers of every path that has no script of its own.
    ///   - onEnd: called with every request that has ended.
    /// - Throws: `OriginFailure` when the port is taken or there is no such folder.
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

    /// The URL of `path`, which begins with `/` and is percent-encoded where it must be.
    package func url(_ path: String) -> String { baseURL + path }

    /// What the line costs; a change counts for what is sent from now on.
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

    /// Serves `resource` at `path` (decoded, beginning with `/`) from the next request on; nil takes it away.
    package func setResource(_ resource: OriginResource?, at path: String) {
        state.withLock { $0.resources[path] = resource }
    }

    /// Makes every answer for `path` wrong in these ways, from the next request on; empty makes them right.
    package func setFaults(_ faults: [Fault], for path: String) {
        script([], thenAlways: faults, for: path)
    }

    /// Makes the next answers for `path` wrong, each in the ways of its place in `faults` (an empty list
    /// for a right one), and those after them in the ways of `thenAlways`.
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

    /// Closes the port and all connections, and returns when nothing is served any more.
    package func stop() async {
        beginStopping()
        await state.withLock { $0.serving }?.value
    }

    /// Tells everything to end, and does not wait for it.
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

    /// Takes the line for `count` bytes and returns when they may be sent.
    func waitForLine(_ count: Int) async throws {
        let now = now
        let due = state.withLock { $0.line?.reserve(count, now: now) }
        if let due, due > now { try await Task.sleep(until: epoch + due, clock: .continuous) }
    }
}
