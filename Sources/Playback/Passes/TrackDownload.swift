package import Media
package import System

/// Downloads one track into the cache: opens it, checks by its head that it is music, stores its tags, and
/// fetches what is missing.
///
/// The loader gives these requests the lowest priority, so the music never waits for their bytes.
package struct TrackDownload: Sendable {
    package typealias MakeDecoder = @Sendable (any ResourceReader, Track) async throws -> any AudioDecoder
    /// Makes the decoder of a stream whose list the reader has, and the reader that takes its place; `nil` if
    /// it is no such list. If the flag is set, the server is asked for the list again.
    package typealias OpenStream =
        @Sendable (any ResourceReader, Track, _ refresh: Bool) async throws
        -> (decoder: any AudioDecoder, reader: any ResourceReader)?

    /// The result of a download that did not fail.
    package enum Outcome: Sendable {
        /// Everything that the server lets be cached is stored, as the report states.
        case music(LoadReport)
        /// The resource is a list, of these tracks. It stays cached.
        case list(ResolvedTracks)
    }

    /// An event of a download in progress.
    package enum Step: Sendable {
        /// The reader is open: its report can be shown.
        case opened(any ResourceReader)
        /// The head of the music states its tags and length.
        case learned(StreamInfo)
        /// About once a second while bytes arrive.
        case progressed
        /// The reader closes, after success or failure, and this is its last report.
        case closing(LoadReport)
    }

    private let track: Track
    private let open: @Sendable (Track) async throws -> any ResourceReader
    private let makeDecoder: MakeDecoder
    private let openStream: OpenStream
    private let resolver: any TrackResolver
    private let clock: any MonotonicClock
    private let onStep: @Sendable (Step) -> Void

    package init(
        of track: Track,
        open: @escaping @Sendable (Track) async throws -> any ResourceReader,
        makeDecoder: @escaping MakeDecoder,
        openStream: @escaping OpenStream,
        resolver: any TrackResolver,
        clock: any MonotonicClock,
        onStep: @escaping @Sendable (Step) -> Void
    ) {
        self.track = track
        self.open = open
        self.makeDecoder = makeDecoder
        self.openStream = openStream
        self.resolver = resolver
        self.clock = clock
        self.onStep = onStep
    }

    /// Returns when the track is cached as far as possible; a local file is only checked. Throws `MediaError`
    /// if it is no music or cannot be loaded, and `CancellationError`; bytes received until then stay cached.
    package func run() async throws -> Outcome {
        var reader = try await open(track)
        reader.setPriority(isLow: true)
        onStep(.opened(reader))
        do {
            let list = try await readHead(through: &reader)
            if list == nil { try await Self.fetchRest(through: reader, clock) { onStep(.progressed) } }
            let report = reader.report
            await close(reader)
            return list.map { .list($0) } ?? .music(report)
        } catch {
            await close(reader)
            throw error
        }
    }

    private func close(_ reader: any ResourceReader) async {
        onStep(.closing(reader.report))
        await reader.close()
    }

    /// Decodes the head, and stores its tags for `cache list`. Returns the tracks of a list that is named as
    /// music. A resource that is neither music nor a list is removed from the cache.
    ///
    /// For a stream of segments, `reader` is replaced by its reader.
    private func readHead(through reader: inout any ResourceReader) async throws -> ResolvedTracks? {
        do {
            let decoder = try await decoder(through: &reader)
            try await decoder.open()
            let info = decoder.info
            let tags = info.tags.filled(from: track.tags)
            reader.store(TrackFacts(tags: tags, duration: info.duration ?? track.duration))
            // The head of a station has the song of the moment.
            if reader.report.live == nil { onStep(.learned(info)) }
            return nil
        } catch let error as MediaError where error.code == .emptyResource {
            await reader.reject()
            throw error
        } catch let error as MediaError where error.code == .notAudio && !(reader is any SegmentList) {
            do {
                if let list = try await resolver.list(at: track, openAs: reader) { return list }
            } catch let problem as MediaError {
                if problem.code == .badPlaylist { await reader.reject() }
                throw problem
            }
            await reader.reject()
            throw error
        }
    }

    private func decoder(through reader: inout any ResourceReader) async throws -> any AudioDecoder {
        do {
            return try await makeDecoder(reader, track)
        } catch let error as MediaError where error.code == .notAudio {
            guard let stream = try await openStream(reader, track, false) else { throw error }
            reader = stream.reader
            reader.setPriority(isLow: true)
            onStep(.opened(reader))
            return stream.decoder
        }
    }

    /// Fetches the missing bytes of an open resource. Returns when all that can be cached are stored; throws
    /// `MediaError` if the loader gives up, and `CancellationError`.
    ///
    /// `progressed` is called about once a second while bytes arrive.
    static func fetchRest(
        through reader: any ResourceReader,
        _ clock: any MonotonicClock,
        progressed: () -> Void
    ) async throws {
        // The read-ahead of music that was played is no more urgent than the other missing bytes.
        reader.allowReadAhead(bytesPerSecond: 0)
        reader.setPriority(isLow: true)
        var due = clock.now + .seconds(1)
        func arrived() {
            guard clock.now >= due else { return }
            due = clock.now + .seconds(1)
            progressed()
        }
        // The bytes of a stream are those of its segments.
        if let segments = reader as? any SegmentList {
            if reader.report.isCached { try await segments.loadAll(progressed: arrived) }
            return
        }
        reader.fill()
        while let offset = reader.report.missingOffset {
            guard try await !reader.read(at: offset, count: 1).isEmpty else { return }
            arrived()
        }
    }
}

extension LoadReport {
    /// The offset of the byte to wait for: the first one that a request is to deliver, since waiting for it
    /// cancels no request. Without such a request, the first missing byte; if the length is unknown, the byte
    /// after those stored from the start. `nil` if nothing more can be fetched and cached.
    package var missingOffset: Int64? {
        guard live == nil, isCached else { return nil }
        if let coming = inFlight.first(where: { !stored.contains($0.lowerBound) }) {
            return coming.lowerBound
        }
        guard let length else { return stored.run(from: 0)?.upperBound ?? 0 }
        return stored.gaps(in: 0..<length).first?.lowerBound
    }
}
