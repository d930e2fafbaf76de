internal import Media

/// The reader's end of a transfer; who lets go of it ends the transfer.
final class TransferBody: ResponseBody {
    private let transfer: Transfer

    init(_ transfer: Transfer) {
        self.transfer = transfer
    }

    deinit { transfer.release() }

    /// Whether `next` would return without a wait.
    var hasChunk: Bool { transfer.hasChunk }

    func next() async throws -> [UInt8]? { try await transfer.next() }

    func cancel() { transfer.cancel() }
}
