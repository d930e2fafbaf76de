import Glibc
import Media
import System

@testable import Cache

/// The real file layer, which records its operations, and refuses or holds them on demand.
final class TestDisk: FileLayer {
    enum Operation: Equatable, Sendable {
        case write
        case flush
        /// A transaction of the index that claims bytes.
        case record
        /// A query of the free space.
        case measure
    }

    struct Refused: Error, CustomStringConvertible {
        var description: String { "the disk refuses" }
    }

    private struct State {
        var size: Int64?
        var operations: [Operation] = []
        var written: [ByteRange] = []
        var flushed = ByteRangeSet()
        var most: Int64 = 0
        var refused: (operation: Operation, times: Int, error: any Error)?
        var refusals = 0
        var held: Operation?
        var isHolding = false
        var hook: (operation: Operation, body: @Sendable (TestDisk) -> Void)?
    }

    private let system = SystemFiles()
    private let scene: CacheScene
    private let state = Locked(State())

    /// A disk with `size` bytes for the objects; `nil` for the real one. Like all disks, it reports that it
    /// is full only when it is written to, or asked.
    init(_ scene: CacheScene, size: Int64? = nil) {
        self.scene = scene
        resize(size)
    }

    func resize(_ size: Int64?) { state.withLock { $0.size = size } }

    /// The operations that were attempted since `forget`, except queries.
    var operations: [Operation] { state.withLock { $0.operations.filter { $0 != .measure } } }

    func forget() { state.withLock { $0.operations = [] } }

    /// The ranges that were written. Does not distinguish files, and neither does `flushed`.
    var written: [ByteRange] { state.withLock { $0.written } }

    var flushed: ByteRangeSet { state.withLock { $0.flushed } }

    /// The most bytes that the objects took on the disk after any operation.
    var most: Int64 { state.withLock { $0.most } }

    /// From now on `operation` fails, `times` times.
    func refuse(_ operation: Operation, times: Int = .max, error: any Error = Refused()) {
        state.withLock { $0.refused = (operation, times, error) }
    }

    func refuseNothing() { state.withLock { $0.refused = nil } }

    /// How many operations were refused.
    var refusals: Int { state.withLock { $0.refusals } }

    /// From now on `operation` waits; `nil` lets all continue.
    func hold(_ operation: Operation?) {
        state.withLock { ($0.held, $0.isHolding) = (operation, false) }
    }

    /// `true` while an operation waits.
    var isHolding: Bool { state.withLock { $0.isHolding } }

    /// Runs `body` after each `operation`.
    func after(_ operation: Operation, run body: @escaping @Sendable (TestDisk) -> Void) {
        state.withLock { $0.hook = (operation, body) }
    }

    func write(_ bytes: ArraySlice<UInt8>, to descriptor: CInt, at offset: Int64) throws {
        try begin(.write)
        let room = state.withLock { $0.size }.map { max(0, $0 - scene.allocated) } ?? .max
        // Bytes are written as far as there is room: the file is longer than the claims.
        try system.write(bytes.prefix(Int(room)), to: descriptor, at: offset)
        state.withLock { $0.written.append(offset..<offset + Int64(bytes.count)) }
        end(.write)
        guard room < bytes.count else { return }
        state.withLock { $0.refusals += 1 }
        throw SystemError("write cached bytes", number: ENOSPC)
    }

    func flush(_ descriptor: CInt) throws {
        try begin(.flush)
        let before = ByteRangeSet(written)
        try system.flush(descriptor)
        state.withLock { $0.flushed.formUnion(before) }
        end(.flush)
    }

    func record(_ transaction: () throws -> Void) throws {
        try begin(.record)
        try system.record(transaction)
        end(.record)
    }

    func freeBytes(of descriptor: CInt) throws -> Int64 {
        try begin(.measure)
        guard let size = state.withLock({ $0.size }) else { return try system.freeBytes(of: descriptor) }
        return max(0, size - scene.allocated)
    }

    private func begin(_ operation: Operation) throws {
        let refusal: (any Error)? = state.withLock { state in
            state.operations.append(operation)
            guard let refused = state.refused, refused.operation == operation, refused.times > 0 else {
                return nil
            }
            state.refused?.times -= 1
            state.refusals += 1
            return refused.error
        }
        if let refusal { throw refusal }
        while isHeld(operation) { usleep(1_000) }
    }

    private func isHeld(_ operation: Operation) -> Bool {
        state.withLock { state in
            guard state.held == operation else { return false }
            state.isHolding = true
            return true
        }
    }

    private func end(_ operation: Operation) {
        let allocated = scene.allocated
        let hook = state.withLock { state in
            state.most = max(state.most, allocated)
            return state.hook
        }
        if let hook, hook.operation == operation { hook.body(self) }
    }
}
