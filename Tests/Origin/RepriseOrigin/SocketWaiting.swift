internal import FlyingSocks

/// Suspends tasks until sockets are ready.
///
/// One pool serves all origins of the process, because every FlyingSocks pool that ends leaves a
/// descriptor behind.
enum SocketWaiting {
    private static let pool: SocketPool<ePoll> = .ePoll(maxEvents: 64)

    // Owns the pool's loop, which runs as long as the process; its value is available once the pool is
    // prepared.
    private static let loop = Task {
        try await pool.prepare()
        return Task { try await pool.run() }
    }

    /// Returns when `descriptor` is readable or its peer has left; throws if the connection
    /// is broken or the task is cancelled.
    static func untilReadable(_ descriptor: Int32) async throws { try await wait(for: .read, on: descriptor) }

    /// Returns when `descriptor` is writable; throws like `untilReadable`.
    static func untilWritable(_ descriptor: Int32) async throws {
        try await wait(for: .write, on: descriptor)
    }

    private static func wait(for event: Socket.Event, on descriptor: Int32) async throws {
        _ = try await loop.value
        let socket = Socket(file: Socket.FileDescriptor(rawValue: descriptor))
        try await pool.suspendSocket(socket, untilReadyFor: [event])
    }

    /// Returns when the pool has removed every finished wait.
    ///
    /// The pool resumes a waiter before it takes the descriptor out of its set. A descriptor closed
    /// between the two would stay registered, and a later one with the same number would never
    /// wake. So call this before closing a descriptor.
    static func settle() async { await settle(on: pool) }

    private static func settle(on pool: isolated SocketPool<ePoll>) {}
}
