import Media

/// The bytes of one track of the queue while it is open, over as many passes as seeks make.
final class TrackResource: Sendable {
    let track: Track
    private let refresh: Bool
    private let open: @Sendable (ResourceLocation, Bool) async throws -> any ResourceReader

    private struct State {
        var reader: (any ResourceReader)?
        /// Of the last pass; a file of the local system has no other place for it.
        var seekTable: [UInt8] = []
        var isClosed = false
    }

    private let state = Locked(State())

    init(
        track: Track,
        refresh: Bool,
        open: @escaping @Sendable (ResourceLocation, Bool) async throws -> any ResourceReader
    ) {
        self.track = track
        self.refresh = refresh
        self.open = open
    }

    /// The open resource; opens it at the first call. One pass at a time calls this.
    func reader() async throws -> any ResourceReader {
        if let reader = state.withLock({ $0.reader }) { return reader }
        let reader = try await open(track.location, refresh)
        let isClosed = state.withLock { state in
            if !state.isClosed { state.reader = reader }
            return state.isClosed
        }
        if isClosed {
            await reader.close()
            throw CancellationError()
        }
        return reader
    }

    var openReader: (any ResourceReader)? { state.withLock { $0.reader } }
    var report: LoadReport { openReader?.report ?? LoadReport() }

    var seekTable: [UInt8] {
        let (own, reader) = state.withLock { ($0.seekTable, $0.reader) }
        return own.isEmpty ? reader?.keptSeekTable ?? [] : own
    }

    /// Keeps what a pass learned of the track.
    func keep(seekTable: [UInt8]) {
        guard !seekTable.isEmpty else { return }
        let reader = state.withLock { state in
            state.seekTable = seekTable
            return state.reader
        }
        reader?.keepSeekTable(seekTable)
    }

    func close() async {
        let reader = state.withLock { state in
            state.isClosed = true
            return state.reader.take()
        }
        await reader?.close()
    }
}
