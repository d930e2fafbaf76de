import CSystem
import Glibc

/// Starts named threads: all threads of the player except the main thread and those that run tasks.
package enum NamedThread {
    /// The niceness of threads with low priority: a tenth of the processor while other threads could use all
    /// of it.
    private static let lowPriority: Int32 = 10

    /// Starts a detached thread that runs `body` once.
    ///
    /// `name` shows in debuggers and `top -H`, cut after 15 bytes. Signals are blocked on the new thread, so
    /// that the thread `signals` receives them. Faults are handled even if the new thread's stack is
    /// exhausted. With low priority, the thread gets less of the processor than others, and on most
    /// systems of the disk.
    package static func start(
        _ name: String,
        isLowPriority: Bool = false,
        _ body: @escaping @Sendable () -> Void
    ) {
        let box = Unmanaged.passRetained(Body(name: name, isLowPriority: isLowPriority, run: body))
        var thread = pthread_t()
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        let status = pthread_create(
            &thread,
            &attributes,
            { argument in
                guard let argument else { return nil }
                // Balances the `passRetained` above.
                let body = Unmanaged<Body>.fromOpaque(argument).takeRetainedValue()
                var all = sigset_t()
                sigfillset(&all)
                // A fault on this thread must still end the process with a message.
                for fault in [SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGABRT, SIGFPE] { sigdelset(&all, fault) }
                pthread_sigmask(SIG_BLOCK, &all, nil)
                csystem_name_thread(body.name)
                // On Linux, 0 is the calling thread and not the process (setpriority(2), "BUGS").
                if body.isLowPriority {
                    setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, NamedThread.lowPriority)
                }
                let stack = csystem_add_fault_stack()
                body.run()
                csystem_remove_fault_stack(stack)
                return nil
            },
            box.toOpaque()
        )
        pthread_attr_destroy(&attributes)
        precondition(status == 0, "the system refuses to start the thread \(name) (errno \(status))")
    }

    /// Lets faults on the calling thread be handled even if its stack is exhausted, as on threads that
    /// `start` creates.
    ///
    /// Call it once, on the main thread. The threads that run tasks have no such stack: a task that exhausts
    /// its stack ends the process without the handler.
    package static func guardCallingThread() { _ = csystem_add_fault_stack() }

    private final class Body: Sendable {
        let name: String
        let isLowPriority: Bool
        let run: @Sendable () -> Void

        init(name: String, isLowPriority: Bool, run: @escaping @Sendable () -> Void) {
            self.name = name
            self.isLowPriority = isLowPriority
            self.run = run
        }
    }
}
