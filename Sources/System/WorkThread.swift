/// One named thread that runs jobs in the order in which they are submitted, for C calls that block.
///
/// It is also a task executor: a task with this executor preference runs its own code here, so that a decoder
/// does not occupy a thread of the task pool.
package final class WorkThread: TaskExecutor {
    private struct State {
        var jobs: [Job] = []
        var isStopped = false
        var isStarted: Bool
    }

    private enum Job: Sendable {
        case closure(@Sendable () -> Void)
        case task(UnownedJob)
    }

    private let state: Monitor<State>
    private let name: String
    private let isLowPriority: Bool

    /// The thread starts with the first job, or at once if `isReady`, and ends with `stop`.
    package init(name: String, isReady: Bool = false, isLowPriority: Bool = false) {
        self.name = name
        self.isLowPriority = isLowPriority
        state = Monitor(State(isStarted: isReady))
        if isReady { start() }
    }

    private func start() { NamedThread.start(name, isLowPriority: isLowPriority) { self.serve() } }

    /// Runs `body` on the thread and returns its result; cancelling the task has no effect on it.
    package func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await run { Result(catching: body) }.get()
    }

    /// Like `run` above, for a `body` that cannot fail.
    package func run<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        let outcome = Outcome<Value>()
        await withCheckedContinuation { continuation in
            submit {
                let value = body()
                outcome.value.withLock { $0 = value }
                continuation.resume()
            }
        }
        guard let value = outcome.value.withLock({ $0 }) else { preconditionFailure("the job has run") }
        return value
    }

    /// The result of a job. It passes through a lock and not through the continuation: if that is resumed
    /// before the task waits, the order is known to the uninstrumented runtime library only, and the thread
    /// sanitizer now and then reported a race in what the result refers to.
    private final class Outcome<Value: Sendable>: Sendable {
        let value = Locked<Value?>(nil)
    }

    /// Runs `body` on the thread without waiting for it.
    package func submit(_ body: @escaping @Sendable () -> Void) { enqueue(job: .closure(body)) }

    /// Ends the thread after the jobs submitted so far. None may be submitted afterwards.
    package func stop() { state.withLock { $0.isStopped = true } }

    package func enqueue(_ job: consuming ExecutorJob) { enqueue(job: .task(UnownedJob(job))) }

    private func enqueue(job: Job) {
        let isFirst = state.withLock { state in
            precondition(!state.isStopped, "a stopped thread accepts no more jobs")
            state.jobs.append(job)
            defer { state.isStarted = true }
            return !state.isStarted
        }
        if isFirst { start() }
    }

    private func serve() {
        while true {
            let batch = state.withLock(when: { !$0.jobs.isEmpty || $0.isStopped }) { state in
                defer { state.jobs.removeAll(keepingCapacity: true) }
                return state.jobs
            }
            if batch.isEmpty { return }
            for job in batch {
                switch job {
                case .closure(let body): body()
                case .task(let task): task.runSynchronously(on: asUnownedTaskExecutor())
                }
            }
        }
    }
}
