import Glibc

/// A value that can only be accessed while its lock is held.
///
/// Used instead of `Synchronization.Mutex`, whose contended path is in the uninstrumented runtime library:
/// the thread sanitizer does not see it, and reported races in a correct ten-line program. The sanitizer does
/// see pthread mutexes, so the tests can run the code that is shipped.
///
/// Not recursive. While the lock is held, do not call foreign code and do not await.
package struct Locked<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
    // Unchecked: the pointers never change, and `value` is only touched between lock and unlock.
    fileprivate let mutex: UnsafeMutablePointer<pthread_mutex_t>
    fileprivate let value: UnsafeMutablePointer<Value>

    /// Protects `initial` by a new lock.
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

    /// Runs `body` on the value while no other thread does, and returns its result.
    package borrowing func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value.pointee)
    }
}

/// A value like that of `Locked`, for whose changes a thread can wait.
///
/// Only named threads may wait, never a task of Swift's pool.
package struct Monitor<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
    // Unchecked: the pointer never changes, and only threads that hold the lock, or wait for it, use it.
    private let changed: UnsafeMutablePointer<pthread_cond_t>
    private let lock: Locked<Value>

    /// Protects `initial` by a new lock.
    package init(_ initial: consuming sending Value) {
        changed = .allocate(capacity: 1)
        pthread_cond_init(changed, nil)
        lock = Locked(initial)
    }

    deinit {
        pthread_cond_destroy(changed)
        changed.deallocate()
    }

    /// Blocks until `condition` holds, runs `body` on the value while no other thread does, and wakes the
    /// threads that wait. Returns the result of `body`.
    package borrowing func withLock<Result: ~Copyable>(
        when condition: (borrowing Value) -> Bool = { _ in true },
        _ body: (inout sending Value) -> sending Result
    ) -> sending Result {
        pthread_mutex_lock(lock.mutex)
        while !condition(lock.value.pointee) { pthread_cond_wait(changed, lock.mutex) }
        defer {
            // While the lock is held: afterwards a woken thread may already have freed the condition
            // variable.
            pthread_cond_broadcast(changed)
            pthread_mutex_unlock(lock.mutex)
        }
        return body(&lock.value.pointee)
    }
}

/// A reference to a value that is created after the parts that use it.
package final class LateBound<Value: Sendable>: Sendable {
    private let box = Locked<Value?>(nil)

    package init() {}

    /// `nil` until it is set.
    package var value: Value? {
        get { box.withLock { $0 } }
        set { box.withLock { $0 = newValue } }
    }
}
