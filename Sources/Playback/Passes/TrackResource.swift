import Media
import System

/// One open track of the queue: its bytes and its decoder. Each seek begins a new pass over the same
/// resource.
final class TrackResource: Sendable {
    let track: Track
    private let refresh: Bool
    private let open: PlaybackParts.Open
    private let makeDecoder: TrackDownload.MakeDecoder
    private let openStream: TrackDownload.OpenStream

    private struct State {
        var reader: (any ResourceReader)?
        /// `true` if the reader is that of a stream of segments.
        var isStream = false
        var isClosed = false
        /// `true` while the reads of the resource have low priority: until `raisePriority`.
        var isLowPriority: Bool
        /// The peaks that are known; `nil` before the decoder is open, and for a live stream.
        var waveform: Waveform?
        /// `true` if peaks were added to those that are stored.
        var hasNewPeaks = false
    }

    private let state: Locked<State>

    // Unsafe: only one pass at a time uses these two, and `endPasses` only when there is none. The player
    // waits for the end of a pass before it starts the next one over the same resource, or closes it.
    private nonisolated(unsafe) var decoder: (any AudioDecoder)?
    private nonisolated(unsafe) var isAtStart = true

    /// Creates the resource of the pass `first`. Its reads have the priority of that pass until
    /// `raisePriority`.
    init(
        for first: PassStart,
        makeDecoder: @escaping TrackDownload.MakeDecoder,
        openStream: @escaping TrackDownload.OpenStream,
        open: @escaping PlaybackParts.Open
    ) {
        track = first.track
        refresh = first.refresh
        self.open = open
        self.makeDecoder = makeDecoder
        self.openStream = openStream
        state = Locked(State(isLowPriority: first.isLowPriority))
    }

    /// The track's decoder and its reader. Called by one pass at a time.
    ///
    /// The first call opens the decoder, which every pass uses, even after one that was cancelled. The music
    /// of a stream of segments has another reader than its list.
    func music() async throws -> (decoder: any AudioDecoder, reader: any ResourceReader) {
        let opened = try await reader()
        if decoder == nil { decoder = try await decoder(over: opened) }
        guard let decoder else { throw CancellationError() }
        try await decoder.open()
        let reader = try await reader()
        if isAtStart { beginWaveform(decoder.info.duration, from: reader) }
        return (decoder, reader)
    }

    private func decoder(over reader: any ResourceReader) async throws -> any AudioDecoder {
        do {
            return try await makeDecoder(reader, track)
        } catch let error as MediaError where error.code == .notAudio {
            guard let stream = try await openStream(reader, track, refresh) else { throw error }
            try await adopt(stream.reader, isStream: true)
            return stream.decoder
        }
    }

    /// The reader of the resource; the first call opens it. Called by one pass at a time.
    private func reader() async throws -> any ResourceReader {
        if let reader = openReader { return reader }
        let reader = try await open(track, refresh ? .refreshing : .playing)
        try await adopt(reader, isStream: false)
        return reader
    }

    /// Shares `reader` from now on; closes it and throws if the resource was closed in the meantime.
    private func adopt(_ reader: any ResourceReader, isStream: Bool) async throws {
        // Before the reader is shared, so that `raisePriority` always comes later.
        let wasLowPriority = state.withLock { $0.isLowPriority }
        if wasLowPriority { reader.setPriority(isLow: true) }
        let (isClosed, isLowPriority) = state.withLock { state in
            if !state.isClosed {
                state.reader = reader
                state.isStream = isStream
            }
            return (state.isClosed, state.isLowPriority)
        }
        if wasLowPriority, !isLowPriority { reader.setPriority(isLow: false) }
        guard isClosed else { return }
        await reader.close()
        throw CancellationError()
    }

    /// Prepares `decoder` to decode from `start`. Called by one pass at a time.
    func land(_ decoder: any AudioDecoder, at start: Duration) async throws -> SeekLanding {
        defer { isAtStart = false }
        // The times of a live stream are those of this opening.
        if isAtStart, start == .zero || decoder.info.isRewindable { return try await decoder.start() }
        return try await decoder.seek(to: start)
    }

    /// `true` if a pass from `start` finds all bytes that its first sound needs. Called by one pass at a
    /// time.
    func isStored(at start: Duration) -> Bool {
        guard let reader = openReader else { return false }
        if let length = reader.length, reader.isStored(0..<length) { return true }
        return decoder?.isStored(at: start) ?? false
    }

    /// Gives the reads of this resource the priority of the current track.
    func raisePriority() {
        let reader = state.withLock { state in
            defer { state.isLowPriority = false }
            return state.isLowPriority ? state.reader : nil
        }
        reader?.setPriority(isLow: false)
    }

    /// Begins the waveform of music that lasts `duration`, with the peaks that an earlier session stored.
    private func beginWaveform(_ duration: Duration?, from reader: any ResourceReader) {
        guard reader.live == nil else { return }
        var waveform = Waveform(duration: duration)
        if let stored = Waveform(bytes: reader.stored(.waveform)) { waveform.merge(stored) }
        state.withLock { $0.waveform = waveform }
    }

    /// Adds the peaks of decoded frames, the first of which is number `frame` of the track.
    func addPeaks(of pcm: UnsafeRawBufferPointer, _ format: AudioFormat, at frame: FrameCount) {
        state.withLock { state in
            guard state.waveform != nil else { return }
            state.waveform?.add(pcm, of: format, at: frame)
            state.hasNewPeaks = true
        }
    }

    var hasWaveform: Bool { state.withLock { $0.waveform != nil } }
    var waveform: Waveform { state.withLock { $0.waveform } ?? Waveform() }
    var isStream: Bool { state.withLock { $0.isStream } }
    var openReader: (any ResourceReader)? { state.withLock { $0.reader } }
    var report: LoadReport { openReader?.report ?? LoadReport() }

    /// Stores the seek table and the waveform with the cache entry and frees the decoder. Call it only after
    /// the last pass has ended.
    func endPasses() {
        let table = decoder?.seekTable() ?? []
        decoder = nil
        if !table.isEmpty { openReader?.store(table, as: .seekTable) }
        let peaks = state.withLock { state in
            defer { state.hasNewPeaks = false }
            return state.hasNewPeaks ? state.waveform : nil
        }
        if let peaks { openReader?.store(peaks.bytes, as: .waveform) }
    }

    func close() async {
        let reader = state.withLock { state in
            state.isClosed = true
            return state.reader.take()
        }
        await reader?.close()
    }
}
