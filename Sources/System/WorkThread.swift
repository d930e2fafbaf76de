import Glibc

/// One named thread that runs jobs in the order in which they are submitted, for C calls that block.
///
/// It is also a task executor: a task with this executor preference runs its own code here, so that a decoder
/// does not occupy a thread of the task pool.
package final class WorkThread: TaskExecutor, @unchecked Sendable {
    // Unchecked: `jobs`, `isStopped` and `isStarted` are only touched with `mutex` held. A condition
    // variable is needed, which Synchronization's Mutex does not offer.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let wake: UnsafeMutablePointer<pthread_cond_t>
    private var jobs: [Job] = []
    private var isStopped = false
    private var isStarted = false
    private let name: String

    private enum Job {
        case closure(@Sendable () -> Void)
        case task(UnownedJob)
    }

    /// The thread starts with the first job, or at once if `isReady`, and ends with `stop`.
    package init(name: String, isReady: Bool = false) {
        self.name = name
        mutex = .allocate(capacity: 1)
        wake = .allocate(capacity: 1)
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(wake, nil)
        if isReady {
            isStarted = true
            start()
        }
    }

    private func start() { NamedThread.start(name) { self.serve() } }

    deinit {
        pthread_cond_destroy(wake)
        pthread_mutex_destroy(mutex)
        wake.deallocate()
        mutex.deallocate()
    }

    /// Runs `body` on the thread and returns its result; cancelling the task has no effect on it.
    package func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            submit { continuation.resume(with: Result(catching: body)) }
        }
    }

    /// Like `run` above, for a `body` that cannot fail.
    package func run<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            submit { continuation.resume(returning: body()) }
        }
    }

    /// Runs `body` on the thread without waiting for it.
    package func submit(_ body: @escaping @Sendable () -> Void) {
        enqueue(job: .closure(body))
    }

    /// Ends the thread after the jobs submitted so far. None may be submitted afterwards.
    package func stop() {
        pthread_mutex_lock(mutex)
        isStopped = true
        pthread_cond_signal(wake)
        pthread_mutex_unlock(mutex)
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        enqueue(job: .task(UnownedJob(job)))
    }

    private func enqueue(job: Job) {
        pthread_mutex_lock(mutex)
        precondition(!isStopped, "a stopped thread accepts no more jobs")
        // If jobs are queued, the thread is already awake and will take them all. Signalled while the lock is
        // held: afterwards the job may already have run, ended the thread and freed the condition variable.
        if jobs.isEmpty { pthread_cond_signal(wake) }
        jobs.append(job)
        let isFirst = !isStarted
        isStarted = true
        pthread_mutex_unlock(mutex)
        if isFirst { start() }
    }

    private func serve() {
        while true {
            pthread_mutex_lock(mutex)
            while jobs.isEmpty && !isStopped { pthread_cond_wait(wake, mutex) }
            let batch = jobs
            jobs.removeAll(keepingCapacity: true)
            pthread_mutex_unlock(mutex)
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
