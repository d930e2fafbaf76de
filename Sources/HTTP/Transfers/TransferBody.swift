import System

internal import Media

/// The reader's end of a transfer; who lets go of it ends the transfer.
final class TransferBody: ResponseBody {
    private struct Live {
        var splitter: ICYSplitter
        /// What was split and not handed out yet.
        var pieces: ArraySlice<ICYSplitter.Piece> = []
        var title: SafeText?

        /// The next music, whose title becomes the one to take.
        mutating func takeFirst() -> [UInt8]? {
            guard let piece = pieces.popFirst() else { return nil }
            if let title = piece.title { self.title = title }
            return piece.music
        }
    }

    private let transfer: Transfer
    // Guards what only a body with titles in it has; nil for all others.
    private let live = Locked<Live?>(nil)

    init(_ transfer: Transfer) {
        self.transfer = transfer
    }

    deinit { transfer.release() }

    /// From here on the body has titles between its music, with `interval` bytes of music from one to the
    /// next; nil for a body without any. To be called before the first `next`.
    func partTitles(every interval: Int64?) {
        live.withLock { $0 = interval.map { Live(splitter: ICYSplitter(interval: $0)) } }
    }

    /// Whether `next` would return without a wait, in a body without titles.
    var hasChunk: Bool { transfer.hasChunk }

    /// Whether the sender is held up, because more has come than is kept without being taken.
    var isHeldUp: Bool { transfer.isHeldUp }

    func next() async throws -> [UInt8]? {
        guard live.withLock({ $0 != nil }) else { return try await transfer.next() }
        while true {
            if let music = live.withLock({ $0?.takeFirst() }) { return music }
            guard let bytes = try await transfer.next() else { return nil }
            live.withLock { live in
                let pieces = live?.splitter.split(bytes) ?? []
                live?.pieces = pieces[...]
            }
        }
    }

    func takeTitle() -> SafeText? {
        live.withLock { live in
            defer { live?.title = nil }
            return live?.title
        }
    }

    func cancel() { transfer.cancel() }
}
