import Media
import System

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
        /// Its reads wait for those of the track that is heard, until `hurry`.
        var isPatient: Bool
    }

    private let state: Locked<State>

    /// With `isPatient` its reads wait for those of other tracks until `hurry`.
    init(
        track: Track,
        refresh: Bool,
        isPatient: Bool,
        open: @escaping @Sendable (ResourceLocation, Bool) async throws -> any ResourceReader
    ) {
        self.track = track
        self.refresh = refresh
        self.open = open
        state = Locked(State(isPatient: isPatient))
    }

    /// The open resource; opens it at the first call. One pass at a time calls this.
    func reader() async throws -> any ResourceReader {
        if let reader = state.withLock({ $0.reader }) { return reader }
        let reader = try await open(track.location, refresh)
        // Before anyone else knows the reader, so that a `hurry` always comes after it.
        let wasPatient = state.withLock { $0.isPatient }
        if wasPatient { reader.setPatience(true) }
        let (isClosed, isPatient) = state.withLock { state in
            if !state.isClosed { state.reader = reader }
            return (state.isClosed, state.isPatient)
        }
        if wasPatient, !isPatient { reader.setPatience(false) }
        if isClosed {
            await reader.close()
            throw CancellationError()
        }
        return reader
    }

    /// Its reads are as urgent as any from now on.
    func hurry() {
        let reader = state.withLock { state in
            defer { state.isPatient = false }
            return state.isPatient ? state.reader : nil
        }
        reader?.setPatience(false)
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
