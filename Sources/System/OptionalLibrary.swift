/// A shared library that the player can run without. It is opened when it is first needed, and stays open.
///
/// Linking libcurl and libpulse would cost every start 15 ms and 9 MB, even if neither is needed.
///
/// **While the dynamic loader opens a library, no thread of the process can start**: the loader holds the
/// lock under which a new thread's memory is allocated. So all libraries are opened on one thread, in the
/// order of the requests. A thread that must respond in the meantime has to be started before the library is
/// requested, and a library should be requested only when it is needed.
package final class OptionalLibrary: Sendable {
    private enum State {
        case closed
        case opening([@Sendable (String?) -> Void])
        /// The reason why the library cannot be used; `nil` if it can.
        case opened(String?)
    }

    private struct Queue {
        var libraries: [OptionalLibrary] = []
        var hasThread = false
    }

    private static let queue = Locked(Queue())

    private let load: @Sendable () -> String?
    private let state = Locked(State.closed)

    /// `load` opens the library and returns the reason if that fails. It is called once, on the thread
    /// `libraries`.
    package init(load: @escaping @Sendable () -> String?) {
        self.load = load
    }

    /// Opens the library if it is not open yet. Returns the reason why it cannot be used; `nil` if it can.
    package func open() async -> String? {
        await withCheckedContinuation { continuation in open { continuation.resume(returning: $0) } }
    }

    /// Opens the library if it is not open yet, and calls `done` with the reason why it cannot be used, or
    /// with `nil` if it can. Returns at once. `done` is called on the thread `libraries`, or on the calling
    /// thread if the library is open already.
    package func open(then done: @escaping @Sendable (String?) -> Void) {
        let (isFirst, opened): (Bool, String??) = state.withLock { state in
            switch state {
            case .closed:
                state = .opening([done])
                return (true, nil)
            case .opening(let waiting):
                state = .opening(waiting + [done])
                return (false, nil)
            case .opened(let reason): return (false, .some(reason))
            }
        }
        if let opened { done(opened) }
        guard isFirst else { return }
        let needsThread = Self.queue.withLock { queue in
            queue.libraries.append(self)
            defer { queue.hasThread = true }
            return !queue.hasThread
        }
        if needsThread { NamedThread.start("libraries") { Self.serve() } }
    }

    /// Opens the libraries in the queue; the thread ends when the queue is empty.
    private static func serve() {
        while true {
            let next = queue.withLock { queue in
                guard !queue.libraries.isEmpty else {
                    queue.hasThread = false
                    return OptionalLibrary?.none
                }
                return queue.libraries.removeFirst()
            }
            guard let next else { return }
            next.loadNow()
        }
    }

    private func loadNow() {
        let reason = load()
        let waiting = state.withLock { state in
            defer { state = .opened(reason) }
            if case .opening(let waiting) = state { return waiting }
            return []
        }
        for done in waiting { done(reason) }
    }
}
