internal import Media

/// The reader's end of a transfer; who lets go of it ends the transfer.
final class TransferBody: ResponseBody {
    private let transfer: Transfer

    init(_ transfer: Transfer) {
        self.transfer = transfer
    }

    deinit { transfer.cancel() }

    func next() async throws -> [UInt8]? { try await transfer.next() }

    func cancel() { transfer.cancel() }
}
