package import System

/// Reads a file on a thread, and reads ahead of a sequential reader, so that its next read need not wait for
/// the thread.
package final class ReadAhead: Sendable {
    /// Reads up to a number of bytes at an offset. The flag is `true` if they are read ahead; then an error
    /// is ignored, since the read that needs these bytes encounters it again.
    package typealias Read = @Sendable (_ offset: Int64, _ count: Int, _ isAhead: Bool) throws -> [UInt8]

    private let thread: WorkThread
    private let state = Locked(ReadAheadState())

    package init(on thread: WorkThread) { self.thread = thread }

    /// Answers a read from bytes that were read ahead, on the caller's thread, or else by `read` on the
    /// thread.
    package func bytes(at offset: Int64, count: Int, by read: @escaping Read) async throws -> [UInt8] {
        if let held = takeHeld(at: offset, count: count, read) { return held }
        return try await thread.run { [self] in
            // The thread may just have read these bytes ahead.
            if let held = takeHeld(at: offset, count: count, read) { return held }
            let bytes = try read(offset, count, false)
            answered(at: offset, bytes.count, of: count, read)
            return bytes
        }
    }

    /// Drops the bytes that were read ahead, and those of a read-ahead that is still in progress.
    package func stop() { state.withLock { $0.stop() } }

    private func takeHeld(at offset: Int64, count: Int, _ read: @escaping Read) -> [UInt8]? {
        guard let bytes = state.withLock({ $0.take(at: offset, count: count) }) else { return nil }
        answered(at: offset, bytes.count, of: count, read)
        return bytes
    }

    private func answered(at offset: Int64, _ given: Int, of count: Int, _ read: @escaping Read) {
        guard let next = state.withLock({ $0.answered(at: offset, count: given) }) else { return }
        thread.submit { [self] in
            guard let bytes = try? read(next, min(count, ReadAheadState.mostHeld), true) else { return }
            state.withLock { $0.arrived(bytes, at: next) }
        }
    }
}

/// Decides which bytes of a file are read ahead. Pure.
///
/// While a sequential reader decodes between two reads, the next bytes are read, and checked if necessary.
/// They are held in memory until they are read, or dropped at a read at another offset.
package struct ReadAheadState: Sendable {
    /// The most bytes held, whatever the length of reads.
    package static let mostHeld = 128 * 1024

    /// The offset at which the last read ended.
    private var end: Int64?
    private var held: (start: Int64, bytes: [UInt8])?

    package init() {}

    /// Takes at most `count` held bytes for a read at `offset`; `nil` if none are held for it.
    package mutating func take(at offset: Int64, count: Int) -> [UInt8]? {
        guard let (start, bytes) = held, start == offset else { return nil }
        held = bytes.count > count ? (start + Int64(count), Array(bytes[count...])) : nil
        return bytes.count > count ? Array(bytes[..<count]) : bytes
    }

    /// Records that a read at `offset` returned `count` bytes. Returns the offset from which to read ahead;
    /// `nil` if the read did not continue the previous one, was empty, or left some of the held bytes.
    package mutating func answered(at offset: Int64, count: Int) -> Int64? {
        let next = offset + Int64(count)
        let goesOn = offset == end && count > 0
        end = next
        guard goesOn, held?.start == next else {
            held = nil
            return goesOn ? next : nil
        }
        return nil
    }

    /// Holds `bytes`, which were read ahead at `offset`; they are empty if nothing was stored there or it was
    /// damaged.
    package mutating func arrived(_ bytes: [UInt8], at offset: Int64) {
        // The bytes are useless if there was a read at another offset in the meantime.
        if offset == end, !bytes.isEmpty { held = (offset, bytes) }
    }

    /// Drops the held bytes, and those of a read-ahead that is still in progress.
    package mutating func stop() {
        end = nil
        held = nil
    }
}
