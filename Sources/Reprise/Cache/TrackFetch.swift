import Cache
import Media
import System

/// Downloads one track into the cache, to its end. Of a local file, only checks that it is music.
struct TrackFetch: Sendable {
    /// The result for one track.
    enum Outcome: Sendable, Equatable {
        /// All of it is cached in an entry; `fetched` bytes were downloaded now.
        case cached(CachedItem, fetched: Int64)
        /// A local file that can be played, which needs no cache.
        case local
        /// A list instead of music, of these tracks.
        case list(ResolvedTracks)
        case failed(MediaError)
    }

    /// The most bytes of one read; it returns fewer if fewer are available.
    static let chunk = 256 << 10
    /// The assumed rate of a track whose bit rate is unknown: 128 kbit/s.
    static let usualBytesPerSecond = 16_000.0

    let track: Track
    let supply: MusicSupply
    /// Looks up the entry of a URL.
    let entry: @Sendable (WebURL) async throws -> CachedItem?
    /// Called with the reader once it is open, so that its report can be shown, and with `nil` before it
    /// closes.
    let onReader: @Sendable ((any ResourceReader)?) -> Void

    /// Returns when the track is cached or cannot be. Throws `CancellationError`; bytes received until then
    /// stay cached.
    func run() async throws -> Outcome {
        do {
            let reader = try await supply.opener.open(track.location)
            onReader(reader)
            let result = await Self.result { try await fetch(from: reader) }
            let report = reader.report
            onReader(nil)
            await reader.close()
            if let list = try result.get() { return .list(list) }
            guard case .web(let url) = track.location else { return .local }
            // Looked up last, because only bytes that the index records will be found the next time.
            guard let entry = try await entry(url), entry.isComplete else {
                return .failed(notCached())
            }
            return .cached(entry, fetched: report.fetchedBytes)
        } catch let error as MediaError {
            return .failed(error)
        }
    }

    /// Returns the tracks of a list; `nil` once all of the music is cached.
    private func fetch(from reader: any ResourceReader) async throws -> ResolvedTracks? {
        if let list = try await storeTags(of: reader) { return list }
        guard case .web = track.location else { return nil }
        while true {
            let report = reader.report
            guard report.live == nil else {
                throw MediaError(
                    .notCached,
                    track.location.safeText,
                    "a live stream can't be cached"
                )
            }
            guard report.isCached else { throw notCached() }
            guard let offset = Self.nextOffset(report) else { return nil }
            let bytes = try await reader.read(at: offset, count: Self.chunk)
            if bytes.isEmpty { return nil }
        }
    }

    /// Decodes the head, so that only music is cached, and `cache list` can show its title. Returns the
    /// tracks of a list that is named as music.
    private func storeTags(of reader: any ResourceReader) async throws -> ResolvedTracks? {
        let decoder: any AudioDecoder
        do {
            decoder = try await supply.makeDecoder(reader, track.location)
            try await decoder.open()
        } catch let error as MediaError where error.code == .notAudio || error.code == .emptyResource {
            do {
                if error.code == .notAudio,
                    let list = try await supply.resolver.list(at: track, openAs: reader)
                {
                    return list
                }
            } catch let problem as MediaError {
                if problem.code == .badPlaylist { await reader.reject() }
                throw problem
            }
            await reader.reject()
            throw error
        }
        let info = decoder.info
        let tags = info.tags.filled(from: track.tags)
        reader.storeTags(title: tags.title, artist: tags.artist, duration: info.duration ?? track.duration)
        reader.allowReadAhead(
            bytesPerSecond: info.bytesPerSecond > 0 ? info.bytesPerSecond : Self.usualBytesPerSecond
        )
        return nil
    }

    /// The offset of the first missing byte; `nil` if there is none. If the length is unknown, the end of the
    /// bytes stored from the start without a gap.
    static func nextOffset(_ report: LoadReport) -> Int64? {
        guard let length = report.length else { return report.stored.run(from: 0)?.upperBound ?? 0 }
        return report.stored.gaps(in: 0..<length).first?.lowerBound
    }

    private func notCached() -> MediaError {
        let cause = supply.lastNotCached()
        return MediaError(
            .notCached,
            track.location.safeText,
            cause.map { "not cached: " + $0.safeText }
                ?? "its server forbids caching it, or the cache is full"
        )
    }

    private static func result<Value>(_ body: () async throws -> Value) async -> Result<Value, any Error> {
        do {
            return .success(try await body())
        } catch {
            return .failure(error)
        }
    }
}
