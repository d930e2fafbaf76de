import Glibc

/// A value that is only reached under its lock.
///
/// Used in place of `Synchronization.Mutex`, whose contended path lies in the uninstrumented runtime
/// library: the thread sanitizer does not see it and reports races where there are none (tried on ten
/// correct lines). A pthread mutex it knows, so what is tested is what is shipped.
///
/// Not recursive. Nothing foreign may be called, and nothing awaited, while it is held.
package struct Locked<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
    // Unchecked: both pointers never change, and `value` is only touched between lock and unlock.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let value: UnsafeMutablePointer<Value>

    /// Puts `initial` behind a new lock.
    package init(_ initial: consuming sending Value) {
        mutex = .allocate(capacity: 1)
        pthread_mutex_init(mutex, nil)
        value = .allocate(capacity: 1)
        value.initialize(to: initial)
    }

    deinit {
        value.deinitialize(count: 1)
        value.deallocate()
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// Runs `body` on the value while no one else does, and returns what it returns.
    package borrowing func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value.pointee)
    }
}
