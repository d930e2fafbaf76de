import Cache
import Decoding
import HTTP
import Loading
import Media
import Playlists
import System

/// The parts behind `reprise cache`.
extension Wiring {
    /// Does what `request` asks for and returns how the process ends.
    static func run(
        _ request: CacheRequest,
        console: CacheConsole,
        clock: any MonotonicClock
    ) async -> ExitCode {
        let lastNotKept = LateBound<MediaError>()
        let notify: @Sendable (MediaError) -> Void = { notice in
            if notice.code == .notKept { lastNotKept.value = notice } else { console.say(notice.safeText) }
        }
        guard let folder = cacheFolder(request.folder, request.location, request.bounds, clock, notify) else {
            preconditionFailure("a request for the cache names its folder")
        }
        do {
            try await folder.checkSecret(isAsking: request.action.onlyAsks)
        } catch {
            console.say(message(error, folder: request.folder))
            return .couldNotStart
        }
        let supply = supply(for: request, from: folder, clock, notify, lastNotKept)
        let code = await CacheCommand(
            request: request,
            administration: FolderAdministration(folder: folder),
            supply: supply,
            console: console
        ).run()
        await supply.shutdown()
        await folder.settle()
        return code
    }

    /// The sentence of a failure that kept the cache from being used.
    static func message(_ error: any Error, folder: String) -> SafeText {
        (error as? MediaError)?.safeText ?? SafeText("the cache in \(folder): \(error)")
    }

    /// The cache for a screen to look at and to change.
    static func shelf(of folder: CacheFolder, clock: any MonotonicClock) -> CacheShelf {
        let administration = FolderAdministration(folder: folder)
        let shelf = CacheShelf(
            clock: clock,
            list: { try await administration.list() },
            drop: { try await administration.drop(number: $0) },
            setPinned: { try await folder.setPinned(number: $0, $1) }
        )
        folder.observe { [weak shelf] in shelf?.cacheChanged() }
        return shelf
    }

    /// The text of a new secret's file.
    static func newSecretText() -> String { CacheSecret.generate().fileText }

    private static func supply(
        for request: CacheRequest,
        from folder: CacheFolder,
        _ clock: any MonotonicClock,
        _ notify: @escaping @Sendable (MediaError) -> Void,
        _ lastNotKept: LateBound<MediaError>
    ) -> MusicSupply {
        let web = http(request.network, sources: request.action.sources, clock)
        let transport = CurlTransport(configuration: web)
        var settings = LoadSettings()
        settings.readAhead = .all
        let loaders = Loaders(
            transport: transport,
            stores: folder,
            clock: clock,
            settings: settings,
            onNotice: notify
        )
        let lists = RecordingOpener(RevalidatingOpener(loaders: loaders))
        return MusicSupply(
            resolver: HomeResolver(
                resolver: SourceResolver(open: lists, workingFolder: BasePaths.workingFolder),
                secretOrigins: web.secretOrigins
            ),
            listsRead: { lists.urls },
            opener: loaders,
            makeDecoder: { source, subject in
                MPEGDecoder(source: source, subject: subject, seekTable: [])
            },
            lastNotKept: { lastNotKept.value },
            shutdown: { await transport.shutdown() }
        )
    }
}

/// The cache as `reprise cache` needs it.
private struct FolderAdministration: CacheAdministration {
    let folder: CacheFolder

    func list() async throws -> [CacheListing] { try await folder.list().map { Self.listing($0) } }

    func info(_ url: WebURL) async throws -> CacheListing? {
        try await folder.info(for: url).map { Self.listing($0) }
    }

    func verify(
        progress: @escaping @Sendable (_ checked: Int64, _ total: Int64) -> Void
    ) async throws -> CheckReport {
        let report = try await folder.verify { progress($0.bytes, $0.totalBytes) }
        return CheckReport(
            entries: report.entries,
            bytes: report.bytes,
            damaged: report.damaged.map { CheckReport.Damage(source: $0.url, ranges: $0.ranges) },
            leftBytes: report.leftBytes,
            strayFiles: report.orphansRemoved,
            reclaimedBytes: report.reclaimedBytes,
            isIndexLost: report.indexWasDamaged
        )
    }

    func drop(_ urls: [WebURL], includesPinned: Bool) async throws -> DropReport {
        Self.report(try await folder.evict(urls, includingPinned: includesPinned))
    }

    func shrink(to size: Int64, includesPinned: Bool) async throws -> DropReport {
        Self.report(try await folder.evict(toBudget: size, includingPinned: includesPinned))
    }

    func forecast(shrinkingTo size: Int64) async throws -> DropReport {
        Self.report(try await folder.victims(toBudget: size))
    }

    func clear(includesPinned: Bool) async throws -> DropReport {
        Self.report(try await folder.clear(includingPinned: includesPinned))
    }

    func setPinned(_ url: WebURL, _ isPinned: Bool) async throws {
        try await folder.setPinned(url, isPinned)
    }

    /// Drops the entry with this number.
    func drop(number: Int64) async throws -> DropReport {
        Self.report(try await folder.evict(number: number))
    }

    func export(_ url: WebURL, into descriptor: Int32) async throws -> ExportReport? {
        try await folder.export(url, into: descriptor).map {
            ExportReport(length: $0.length, writtenBytes: $0.writtenBytes, gaps: $0.gaps)
        }
    }

    private static func report(_ removal: CacheRemoval) -> DropReport {
        DropReport(
            removedEntries: removal.entriesRemoved,
            removedBytes: removal.bytesFreed,
            pinnedEntries: removal.entriesPinned,
            openEntries: removal.entriesInUse,
            unknownSources: removal.entriesMissing
        )
    }

    private static func listing(_ entry: CacheEntrySummary) -> CacheListing {
        CacheListing(
            number: entry.number,
            source: entry.url,
            otherSources: entry.otherURLs,
            title: entry.title,
            artist: entry.artist,
            duration: entry.duration,
            length: entry.length,
            stored: entry.stored,
            allocatedBytes: entry.allocatedBytes,
            contentType: entry.contentType,
            etag: entry.validators.etag.map { SafeText($0) },
            lastModified: entry.validators.lastModified.map { SafeText($0) },
            isSeekable: entry.acceptsRanges,
            isPinned: entry.isPinned,
            created: entry.keptSince,
            lastPlayed: entry.lastPlayed
        )
    }
}
