import Cache
import Decoding
import Desktop
import Glibc
import HTTP
import Loading
import Media
import Output
import Playback
import Playlists
import Segments
import System
import TerminalUI

/// Creates the parts of a session and connects them, in the order in which bytes pass through them: source,
/// loader, decoder, output.
///
/// Only this file connects the concrete types of different modules.
struct Wiring {
    let options: Options
    let presentation: Presentation
    let interface: InterfaceSettings
    let clock: any MonotonicClock
    var journal: (any RequestJournal)?

    /// Plays the sources of the options; returns the exit code.
    func run() async -> ExitCode {
        LegacyText.assume(options.charset)
        // The player is created last, so notices reach it through a late-bound reference.
        let listener = LateBound<Player>()
        let notify: @Sendable (MediaError) -> Void = { listener.value?.notify($0) }
        let beginning = Beginning(options: options, last: interface.memory?.last ?? SavedState())
        // Source: the web, through the cache.
        let folder = options.noCache ? nil : options.cache.folder
        let cache = folder.map { Self.cacheFolder($0, options.cache, options.bounds, clock, notify) }
        let unlocking = Task { try await cache?.checkSecret() }
        let trusted = options.sources + (interface.memory?.trustedOrigins ?? [])
        let web = HTTPConfiguration(options.network, sources: trusted, asks: presentation == .screen, clock)
        let curl = CurlTransport(configuration: web)
        let warming = warmUp(curl, for: beginning, cache, once: unlocking)
        defer { warming?.cancel() }
        // Loader: reports each request to the journal, and to the screen.
        let requests = RequestHistory(onward: journal)
        let (loaders, network) = makeLoaders(over: curl, cache, requests, notify)
        // Output.
        let output = options.sink.makeOutput(clock: clock, sample: options.sinkFormat ?? .s16)
        let connecting = connect(output, after: warming)
        guard await isUnlocked(unlocking) else {
            connecting?.cancel()
            await output.close()
            return .couldNotStart
        }
        // Player, with a decoder for each track, and its user interface.
        let session = makeSession(cache, requests, web.logins, output)
        let resolver = SourceResolver(loaders, refreshesAll: options.refresh)
        var parts = makeParts(loaders, resolver, output, cache, network, web, notify)
        parts.connecting = connecting
        let settings = PlaybackSettings(options, presentation, last: interface.memory?.last.session)
        let player = Player(parts: parts, settings: settings)
        player.observeEvents { session.report($0) }
        listener.value = player
        interface.memory?.watch(player, notify: notify)
        if options.mpris ?? (presentation == .screen && output.isRealTime) {
            MPRISService.start(player, clock: clock)
        }
        watchPower(player, output)
        let socket = openSocket(for: player, notify)
        warnWithoutHome(notify)
        let code = await session.run(player) { await beginning.play(options.sources, on: player) }
        await socket?.finish()
        await interface.memory?.finish()
        await resolver.close()
        await curl.shutdown()
        await cache?.settle()
        return code
    }

    // MARK: Source

    /// Starts a task that loads libcurl if a first request is expected; `nil` if offline or if no first URL
    /// is known. The task loads nothing if `unlocking` fails.
    ///
    /// Loading takes longer than all other steps between the start and the first request. Cached tracks play
    /// without libcurl, so a replay does not load it.
    private func warmUp(
        _ curl: CurlTransport,
        for beginning: Beginning,
        _ cache: CacheFolder?,
        once unlocking: Task<Void?, any Error>
    ) -> Task<Void, Never>? {
        guard !options.offline, let url = beginning.firstURL(of: options.sources) else { return nil }
        return Task {
            guard (try? await unlocking.value) != nil else { return }
            // A playlist is revalidated even if it is cached.
            let isRequested = options.refresh || ResourceKind.of(name: url.path).isList
            if !isRequested, let cache, await cache.holdsSome(of: url) { return }
            guard !Task.isCancelled else { return }
            curl.warmUp()
        }
    }

    /// Waits for `unlocking`; `true` if the cache opens with the secret, or if there is no cache. Otherwise
    /// prints the reason.
    private func isUnlocked(_ unlocking: Task<Void?, any Error>) async -> Bool {
        do {
            _ = try await unlocking.value
            return true
        } catch {
            Messages.show(CacheCommand.message(error, folder: options.cache.folder ?? ""))
            return false
        }
    }

    private func warnWithoutHome(_ notify: @Sendable (MediaError) -> Void) {
        guard options.cache.folder == nil, !options.noCache else { return }
        let cause: SafeText = "not cached: this account has no home folder; name one with --cache-dir"
        notify(MediaError(.notCached, "music", cause))
    }

    // MARK: Loader

    /// Creates the loaders, and the network watch through which they send requests over `transport`. While
    /// the machine is offline, the watch refuses requests.
    private func makeLoaders(
        over transport: CurlTransport,
        _ cache: CacheFolder?,
        _ requests: RequestHistory,
        _ notify: @escaping @Sendable (MediaError) -> Void
    ) -> (Loaders, NetworkWatch) {
        let recorder: (any RequestJournal)? = presentation == .screen ? requests : journal
        let network = NetworkWatch(
            over: transport,
            clock: clock,
            isForced: options.offline,
            journal: recorder
        )
        var settings = LoadSettings()
        if let readAhead = options.readAhead { settings.readAhead = readAhead }
        let loaders = Loaders(
            transport: network,
            stores: cache ?? VolatileStores(),
            volatileStores: VolatileStores(),
            clock: clock,
            settings: settings,
            connectivity: network,
            journal: recorder,
            onNotice: notify
        )
        network.observe { if !$0.isOffline { loaders.networkIsBack() } }
        return (loaders, network)
    }

    // MARK: Output

    /// Starts to connect to the audio server; `nil` for an output that is not in real time, such as a file,
    /// which is created only when the player needs it.
    ///
    /// Libraries are loaded in the order in which the process asks for them, and the first HTTP request needs
    /// libcurl before any sound needs libpulse. So the task waits until the loading of libcurl has begun, or
    /// is known to be unnecessary.
    private func connect(
        _ output: any AudioOutput,
        after warming: Task<Void, Never>?
    ) -> Task<Void, any Error>? {
        guard output.isRealTime else { return nil }
        return Task {
            await warming?.value
            try await output.connect()
        }
    }

    // MARK: Player

    private func makeParts(
        _ loaders: Loaders,
        _ resolver: SourceResolver,
        _ output: any AudioOutput,
        _ cache: CacheFolder?,
        _ network: NetworkWatch,
        _ web: HTTPConfiguration,
        _ notify: @escaping @Sendable (MediaError) -> Void
    ) -> PlaybackParts {
        let refreshesAll = options.refresh
        var parts = PlaybackParts(
            open: { track, opening in
                let location = track.location
                if opening == .ahead {
                    return try await loaders.open(location, of: track.episode, for: .ahead)
                }
                // The resolver has opened a URL whose name did not show that it is music.
                if opening == .playing, let opened = resolver.takeOpened(location) { return opened }
                return opening == .refreshing || refreshesAll
                    ? try await loaders.openRevalidated(location, of: track.episode)
                    : try await loaders.open(location, of: track.episode)
            },
            makeDecoder: Self.makeDecoder,
            output: output,
            resolver: HomeResolver(resolver: resolver, web: web, memory: interface.memory),
            save: { try await resolver.save($0, to: BasePaths.expandingHome($1)) },
            clock: clock,
            cache: cache,
            connectivity: network
        )
        parts.openStream = Self.openStream(
            by: loaders,
            network,
            clock,
            readAhead: (options.readAhead ?? LoadSettings().readAhead).duration,
            cache: cache,
            quality: options.network.hlsQuality,
            refreshesAll: refreshesAll,
            notify
        )
        // Scripts read no tags of tracks that they do not play.
        if presentation == .screen || presentation == .plain {
            parts.openFile = { try await loaders.openFile($0, on: $1) }
        }
        if options.readsShownTags(presentation) {
            parts.openHead = { [secretOrigins = web.secretOrigins] url in
                secretOrigins?.contains(url) == true ? try await loaders.openHead(url) : nil
            }
        }
        parts.memory = interface.memory
        return parts
    }

    /// Lets other programs control `player`, unless the options say otherwise. If there can be no socket,
    /// says so only to a user who has asked for one.
    private func openSocket(
        for player: Player,
        _ notify: @escaping @Sendable (MediaError) -> Void
    ) -> SocketService? {
        guard options.socket ?? (presentation == .screen) else { return nil }
        let report: @Sendable (SafeText) -> Void = { [isWanted = options.socket != nil] cause in
            if isWanted { notify(MediaError(.unreadable, "the control socket", cause)) }
        }
        guard let folder = BasePaths.runtimeFolder else {
            report("there is none, since XDG_RUNTIME_DIR is not set")
            return nil
        }
        let language = SocketService.Language(
            command: { line in
                guard let command = try CommandReader.parsed(line) else {
                    throw UsageError("The command is empty")
                }
                return command
            },
            line: { EventLine($0, at: $1).jsonPieces }
        )
        return SocketService.start(
            in: SocketFolder(runtimeFolder: folder),
            player,
            language,
            clock: clock,
            onFailure: { report(SafeText("\($0)")) }
        )
    }

    /// Lets the machine's power follow the music, and the music the machine's sleep: where the player is on
    /// the desktop, so that no script does. The memory, which observes the player already, then saves the
    /// place of a paused player.
    private func watchPower(_ player: Player, _ output: any AudioOutput) {
        guard output.isRealTime, presentation == .screen || options.mpris == true else { return }
        let report: @Sendable (NetworkCost) -> Void = { player.networkCost(is: $0) }
        let savePlace: @Sendable () async -> Void = { [memory = interface.memory] in
            await memory?.saveNow()
        }
        PowerService.start(
            player,
            options.power.settings,
            clock: clock,
            savePlace: savePlace,
            report: options.power.metered == .use ? nil : report
        )
    }

    private func makeSession(
        _ cache: CacheFolder?,
        _ requests: RequestHistory,
        _ logins: Logins?,
        _ output: any AudioOutput
    ) -> PlayingSession {
        let browser = presentation == .screen ? cache.map { makeBrowser(of: $0) } : nil
        // The calendar time at which the player's clock began.
        let start = Int64(time(nil)) - clock.now.components.seconds
        var surroundings = ScreenSurroundings(
            cache: browser,
            requests: requests,
            logins: logins,
            timeOfDay: { moment in
                SafeText(CalendarTime.timeOfDay(secondsSince1970: start &+ moment.components.seconds))
            }
        )
        surroundings.devices = { await output.devices() }
        return PlayingSession(
            presentation: presentation,
            options: options,
            interface: interface,
            surroundings: surroundings,
            clock: clock
        )
    }

    /// The cache view of the screen.
    private func makeBrowser(of folder: CacheFolder) -> CacheBrowser {
        let budget = options.bounds.cacheSize ?? CacheFolder.defaultBudget
        let browser = CacheBrowser(folder, clock: clock, budget: budget)
        folder.observe { [weak browser] in browser?.cacheChanged() }
        return browser
    }
}

// Shared by playing and `reprise cache`.
extension Wiring {
    static var canShowScreen: Bool { TerminalConfiguration(BasePaths.variable).isUsable }

    /// The reason why a terminal gets no screen, if that is its type.
    static var screenProblem: SafeText? { TerminalConfiguration(BasePaths.variable).typeProblem }

    /// The cache in `folder`.
    static func cacheFolder(
        _ folder: String,
        _ location: CacheLocationOptions,
        _ bounds: CacheBoundsOptions?,
        _ clock: any MonotonicClock,
        _ notify: @escaping @Sendable (MediaError) -> Void
    ) -> CacheFolder {
        CacheFolder(
            path: folder,
            budget: bounds?.cacheSize ?? CacheFolder.defaultBudget,
            minimumFree: bounds?.minFree ?? CacheFolder.defaultMinimumFree,
            maximumAge: bounds?.cacheAge.map { .seconds($0 * 86_400) },
            identity: CacheIdentity(rules: location.identityRules),
            secret: location.secret,
            clock: clock,
            onNotice: notify
        )
    }

    /// Carries out a command of `reprise cache`; returns the exit code.
    static func run(_ request: CacheRequest, console: CacheConsole, clock: any MonotonicClock) async
        -> ExitCode
    {
        let lastNotCached = LateBound<MediaError>()
        let notify: @Sendable (MediaError) -> Void = { notice in
            if notice.code == .notCached {
                lastNotCached.value = notice
            } else {
                console.say(notice.safeText)
            }
        }
        let folder = cacheFolder(request.folder, request.location, request.bounds, clock, notify)
        do {
            try await folder.checkSecret(isAsking: request.action.onlyAsks)
        } catch {
            console.say(CacheCommand.message(error, folder: request.folder))
            return .couldNotStart
        }
        let supply = supply(for: request, from: folder, clock, notify, lastNotCached)
        let command = CacheCommand(request: request, administration: folder, supply: supply, console: console)
        let code = await command.run()
        await supply.shutdown()
        await folder.settle()
        return code
    }

    /// Chooses the decoder of an open resource by its kind, and makes it.
    private static let makeDecoder: TrackDownload.MakeDecoder = { reader, track in
        try await DecoderTable.all.decoder(for: reader, at: track.location, lasting: track.duration)
    }

    /// Opens streams of segments, whose parts `loaders` loads.
    private static func openStream(
        by loaders: Loaders,
        _ network: NetworkWatch,
        _ clock: any MonotonicClock,
        readAhead: Duration,
        cache folder: CacheFolder?,
        quality: StreamQuality?,
        refreshesAll: Bool = false,
        _ notify: @escaping @Sendable (MediaError) -> Void
    ) -> TrackDownload.OpenStream {
        { reader, track, refresh in
            guard try await isSegmented(reader) else { return nil }
            let location = track.location
            let cache = StreamCache(
                open: { try await loaders.openPart($0, at: $1, likelyLength: $2, of: $3, in: location) },
                openStored: { await loaders.openStored($0, at: $1, of: $2) },
                keep: { try await loaders.keep($0, from: $1, $2, of: $3) },
                replace: { try await loaders.replace($0, isChange: $1) },
                openRendition: { try await loaders.openRendition($0, of: $1) },
                isKept: {
                    guard let url = location.url, let folder else { return false }
                    let cached = await folder.availability(of: [url]).first ?? nil
                    return cached?.isPinned == true || cached?.isComplete == true
                },
                isOffline: { network.report.isOffline }
            )
            let parts = SegmentParts(
                open: { try await loaders.openVolatile($0, of: location) },
                request: {
                    try await loaders.request($0, unless: $1, atMost: MediaPlaylist.mostBytes, of: location)
                },
                cache: cache,
                decrypt: { try await AES128.decrypt($0, key: $1, vector: $2) },
                clock: clock,
                readAhead: readAhead,
                quality: quality ?? .high,
                onNotice: notify
            )
            let refreshes = refresh || refreshesAll
            let stream = try await SegmentedReader.open(reader, at: location, parts, refreshes: refreshes)
            return (SegmentedDecoder(stream, subject: location.safeText), stream)
        }
    }

    /// `true` if the bytes that `reader` has read begin a list of segments, or of such lists.
    private static func isSegmented(_ reader: any ResourceReader) async throws -> Bool {
        let head = try await reader.readStored(at: 0, count: ResourceKind.headLength)
        return head.withUnsafeBufferPointer { HLSPlaylistKind.of($0) } != nil
    }

    /// Passes the cached segments of the stream `item`, as one file, to `write`.
    private static func exportStream(
        _ item: CachedItem,
        of folder: CacheFolder,
        _ clock: any MonotonicClock,
        write: ([UInt8]) throws -> Void
    ) async throws {
        guard let url = WebURL(item.url.string), let store = try await folder.openToRead(item.id, at: url)
        else {
            throw MediaError(.notCached, item.url, "no longer cached")
        }
        let list = StoredReader(store, subject: item.url)
        let missing = MediaError(.notCached, item.url, "its list or key is not cached")
        let open: @Sendable (PartName, ResourceLocation) async throws -> StoredReader = {
            guard let part = await list.part($0, at: $1) else { throw missing }
            return part
        }
        let cache = StreamCache(
            open: { name, location, _, _ in try await open(name, location) },
            openStored: { name, location, _ in
                let part = try await open(name, location)
                return part.isWhole ? part : nil
            },
            keep: { _, _, _, _ in },
            replace: { _, _ in throw missing },
            openRendition: { _, _ in throw missing },
            isKept: { true },
            isOffline: { true }
        )
        let parts = SegmentParts(
            open: { _ in throw missing },
            request: { _, _ in throw missing },
            cache: cache,
            decrypt: { try await AES128.decrypt($0, key: $1, vector: $2) },
            clock: clock,
            readAhead: .zero,
            onNotice: { _ in }
        )
        let stream = try await SegmentedReader.open(list, at: .web(url), parts)
        let numbers = item.stream?.segments.flatMap { Array($0) } ?? []
        do {
            try await SegmentExport(of: stream, subject: item.url).run(numbers, write: write)
            await stream.close()
        } catch {
            await stream.close()
            throw error
        }
    }

    private static func supply(
        for request: CacheRequest,
        from folder: CacheFolder,
        _ clock: any MonotonicClock,
        _ notify: @escaping @Sendable (MediaError) -> Void,
        _ lastNotCached: LateBound<MediaError>
    ) -> MusicSupply {
        let web = HTTPConfiguration(request.network, sources: request.action.sources, clock)
        let transport = CurlTransport(configuration: web)
        let watch = NetworkWatch(over: transport, clock: clock)
        var settings = LoadSettings()
        settings.retry.waitsForServer = false
        let loaders = Loaders(
            transport: watch,
            stores: folder,
            volatileStores: VolatileStores(),
            clock: clock,
            settings: settings,
            connectivity: watch,
            onNotice: notify
        )
        let resolver = SourceResolver(loaders)
        return MusicSupply(
            resolver: HomeResolver(resolver: resolver, web: web),
            opener: loaders,
            makeDecoder: makeDecoder,
            openStream: openStream(
                by: loaders,
                watch,
                clock,
                readAhead: .seconds(60),
                cache: folder,
                quality: request.network?.hlsQuality,
                notify
            ),
            exportStream: { try await exportStream($0, of: folder, clock, write: $1) },
            isDamaged: { try await FLACDigest.isDamaged($0) },
            lastNotCached: { lastNotCached.value },
            closeOpened: { await resolver.close() },
            shutdown: {
                await resolver.close()
                await transport.shutdown()
            }
        )
    }
}

extension SourceResolver {
    /// A resolver that reads lists through `loaders`. With `refreshesAll` cached music is revalidated too.
    convenience init(_ loaders: Loaders, refreshesAll: Bool = false) {
        self.init(
            open: { location, isList in
                isList || refreshesAll
                    ? try await loaders.openRevalidated(location, comparesAll: isList)
                    : try await loaders.open(location)
            },
            workingFolder: BasePaths.workingFolder
        )
    }
}

/// Resolves the sources that the user names: expands `~/`, and allows the user's secrets to be sent to the
/// servers of the URLs.
struct HomeResolver: TrackResolver {
    let resolver: SourceResolver
    let web: HTTPConfiguration
    var memory: SessionMemory?

    func resolve(_ source: String, deliver: @Sendable (ResolvedTracks) async -> Void) async throws {
        try await resolve(source, isForeign: false, deliver: deliver)
    }

    func resolve(
        _ source: String,
        isForeign: Bool,
        deliver: @Sendable (ResolvedTracks) async -> Void
    ) async throws {
        if !isForeign, let url = WebURL(source) {
            web.secretOrigins?.insert(url)
            web.logins?.named(url)
            memory?.added(url)
        }
        try await resolver.resolve(BasePaths.expandingHome(source), deliver: deliver)
    }

    func list(at track: Track, openAs reader: any ResourceReader) async throws -> ResolvedTracks? {
        try await resolver.list(at: track, openAs: reader)
    }
}
