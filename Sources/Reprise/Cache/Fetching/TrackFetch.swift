import Media

/// Fetches one piece of music to its end.
struct TrackFetch: Sendable {
    /// What became of a piece.
    enum Outcome: Sendable, Equatable {
        /// All of it is kept, as `entry`; `fetched` bytes of it came since the call.
        case kept(CacheListing, fetched: Int64)
        /// A file of the local system, which needs no keeping.
        case local
        case failed(MediaError)
    }

    /// What is asked for at a time: the reader hands on what comes sooner.
    static let chunk = 256 << 10
    /// For a piece whose music does not tell its rate: 128 kbit/s.
    static let usualBytesPerSecond = 16_000.0

    let track: Track
    let supply: MusicSupply
    /// What is kept of a URL.
    let entry: @Sendable (WebURL) async throws -> CacheListing?
    /// Hears of the open reader, for its report, and of its end.
    let onReader: @Sendable ((any ResourceReader)?) -> Void

    /// Returns when all is kept, or cannot be. Throws `CancellationError`; what came by then is kept.
    func run() async throws -> Outcome {
        guard case .web(let url) = track.location else { return .local }
        do {
            let reader = try await supply.opener.open(track.location)
            onReader(reader)
            let result = await Self.result { try await fetch(from: reader) }
            let report = reader.report
            onReader(nil)
            await reader.close()
            try result.get()
            // Asked last of all: only what the index claims is there the next time.
            guard let entry = try await entry(url), entry.isComplete else {
                return .failed(notKept(track.location))
            }
            return .kept(entry, fetched: report.fetchedBytes)
        } catch let error as MediaError {
            return .failed(error)
        }
    }

    private func fetch(from reader: any ResourceReader) async throws {
        try await keepTags(of: reader)
        while true {
            let report = reader.report
            guard report.live == nil else {
                throw MediaError(
                    .notKept,
                    track.location.safeText,
                    "is a live stream, which has no end to keep"
                )
            }
            guard report.isKept else { throw notKept(track.location) }
            guard let offset = Self.nextOffset(report) else { return }
            let bytes = try await reader.read(at: offset, count: Self.chunk)
            if bytes.isEmpty { return }
        }
    }

    /// Decodes the head, so that what is no music is not kept, and what is shows its name in a listing.
    private func keepTags(of reader: any ResourceReader) async throws {
        let decoder = supply.makeDecoder(reader, track.location.safeText)
        do {
            try await decoder.open()
        } catch let error as MediaError where error.code == .notAudio || error.code == .emptyResource {
            await reader.reject()
            throw error
        }
        let info = decoder.info
        let tags = info.tags.filled(from: track.tags)
        reader.keepTags(title: tags.title, artist: tags.artist, duration: info.duration ?? track.duration)
        reader.allowReadAhead(
            bytesPerSecond: info.bytesPerSecond > 0 ? info.bytesPerSecond : Self.usualBytesPerSecond
        )
    }

    /// Where the first missing byte is; nil when there is none. Where the length is not known, behind all that
    /// is stored from the start on.
    static func nextOffset(_ report: LoadReport) -> Int64? {
        guard let length = report.length else { return report.stored.run(from: 0)?.upperBound ?? 0 }
        return report.stored.gaps(in: 0..<length).first?.lowerBound
    }

    private func notKept(_ location: ResourceLocation) -> MediaError {
        let cause = supply.lastNotKept()
        return MediaError(
            .notKept,
            location.safeText,
            cause.map { "is not kept: " + $0.safeText }
                ?? "its server does not allow to keep it, or the cache is full"
        )
    }

    private static func result(_ body: () async throws -> Void) async -> Result<Void, any Error> {
        do {
            return .success(try await body())
        } catch {
            return .failure(error)
        }
    }
}
