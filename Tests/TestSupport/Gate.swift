import Glibc
import System

/// Holds a thread until a test opens the gate.
package final class Gate: @unchecked Sendable {
    // Unchecked: the semaphore is a C object that any thread may use at its fixed address.
    private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    package init() { sem_init(semaphore, 0, 0) }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    /// Lets one waiting thread pass, or the next one that comes.
    package func open() { sem_post(semaphore) }

    /// Blocks the calling thread until `open`.
    package func wait() { retryingInterrupted { sem_wait(semaphore) } }
}
