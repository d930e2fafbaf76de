import Cache
import Media
import System

/// The real file layer, which records the order of operations and fails on demand.
final class RecordingFiles: FileLayer {
    enum Operation: Equatable, Sendable {
        case write
        case flush
        case record
    }

    struct Refused: Error, CustomStringConvertible {
        var description: String { "the disk refuses" }
    }

    private struct State {
        var operations: [Operation] = []
        var refused: Operation?
    }

    private let system = SystemFiles()
    private let state = Locked(State())

    var operations: [Operation] { state.withLock { $0.operations } }

    func refuse(_ operation: Operation?) { state.withLock { $0.refused = operation } }

    func forget() { state.withLock { $0.operations = [] } }

    func write(_ bytes: ArraySlice<UInt8>, to descriptor: CInt, at offset: Int64) throws {
        try note(.write)
        try system.write(bytes, to: descriptor, at: offset)
    }

    func flush(_ descriptor: CInt) throws {
        try note(.flush)
        try system.flush(descriptor)
    }

    func record(_ transaction: () throws -> Void) throws {
        try note(.record)
        try system.record(transaction)
    }

    private func note(_ operation: Operation) throws {
        let isRefused = state.withLock { state in
            state.operations.append(operation)
            return state.refused == operation
        }
        if isRefused { throw Refused() }
    }
}
