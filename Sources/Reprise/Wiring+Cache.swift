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
            administration: folder,
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

    /// The cache for the screen's cache view.
    static func shelf(of folder: CacheFolder, clock: any MonotonicClock) -> CacheBrowser {
        let browser = CacheBrowser(
            clock: clock,
            list: { try await folder.list() },
            drop: { try await folder.evict(number: $0) },
            setPinned: { try await folder.setPinned(number: $0, $1) }
        )
        folder.observe { [weak browser] in browser?.cacheChanged() }
        return browser
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
            makeDecoder: { try await decoders.decoder(for: $0, at: $1) },
            lastNotKept: { lastNotKept.value },
            shutdown: { await transport.shutdown() }
        )
    }
}
