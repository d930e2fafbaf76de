import Glibc
import Media
import Synchronization
import System

/// Resumes the decoding task when the audio thread has made room in the ring.
///
/// The audio thread must not resume a task itself, which locks and allocates. So it posts a semaphore, and a
/// dedicated thread resumes the task.
package final class SpaceSignal: @unchecked Sendable {
    // Unchecked: `semaphore` never moves and may be used from any thread; all other state is atomic or
    // guarded by the lock.
    private let semaphore: UnsafeMutablePointer<sem_t>
    /// How much room the writer waits for, in bytes; 0 when it does not wait.
    private let wanted = Atomic<Int>(0)
    private let isStopped = Atomic<Bool>(false)
    private let waiter = Locked<CheckedContinuation<Void, any Error>?>(nil)

    /// Starts the thread, which lives until `stop`.
    package init() {
        semaphore = .allocate(capacity: 1)
        sem_init(semaphore, 0, 0)
        // The thread keeps the signal alive until it is stopped.
        NamedThread.start("pcm-space") { self.serve() }
    }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    /// Called on the audio thread when `bytes` bytes are free.
    func roomMade(_ bytes: Int) {
        let needed = wanted.load(ordering: .sequentiallyConsistent)
        guard needed > 0, bytes >= needed else { return }
        // Because of the exchange, several reads cause only one post.
        if wanted.exchange(0, ordering: .sequentiallyConsistent) > 0 { sem_post(semaphore) }
    }

    /// Returns when `room()` is at least `bytes`; throws `CancellationError` when the task is cancelled.
    func wait(for bytes: Int, room: @Sendable () -> Int) async throws {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation {
                (continuation: CheckedContinuation<Void, any Error>) in
                let isCancelled = waiter.withLock { waiter in
                    if Task.isCancelled { return true }
                    precondition(waiter == nil, "one task writes into the ring")
                    waiter = continuation
                    return false
                }
                if isCancelled {
                    continuation.resume(throwing: CancellationError())
                    return
                }
                wanted.store(bytes, ordering: .sequentiallyConsistent)
                // The reader may have made room before it could see the request.
                if room() >= bytes, wanted.exchange(0, ordering: .sequentiallyConsistent) > 0 { resume() }
            }
        } onCancel: {
            wanted.store(0, ordering: .sequentiallyConsistent)
            waiter.withLock { $0.take() }?.resume(throwing: CancellationError())
        }
    }

    /// Ends the thread.
    package func stop() {
        isStopped.store(true, ordering: .releasing)
        sem_post(semaphore)
    }

    private func serve() {
        while true {
            // If a signal interrupts it, wait again.
            while sem_wait(semaphore) != 0 {}
            if isStopped.load(ordering: .acquiring) { return }
            resume()
        }
    }

    private func resume() { waiter.withLock { $0.take() }?.resume() }
}
