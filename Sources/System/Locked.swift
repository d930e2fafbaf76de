import Glibc

/// A value that can only be reached while its lock is held.
///
/// Used instead of `Synchronization.Mutex`, whose contended path is in the uninstrumented runtime library: the thread
/// sanitizer does not see it and reports races that do not exist (tried on ten correct lines). It knows the mutexes of
/// pthread, so the shipped code is the tested code.
///
/// Not recursive. While it is held, no foreign code may be called and nothing awaited.
package struct Locked<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
    // Unchecked: the pointers never change, and `value` is only touched between lock and unlock.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let value: UnsafeMutablePointer<Value>

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

/// A value that is created after the parts that refer to it.
package final class LateBound<Value: Sendable>: Sendable {
    private let box = Locked<Value?>(nil)

    package init() {}

    /// `nil` until it is set.
    package var value: Value? {
        get { box.withLock { $0 } }
        set { box.withLock { $0 = newValue } }
    }
}
