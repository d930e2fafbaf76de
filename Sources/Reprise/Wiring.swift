import Cache
import Decoding
import Glibc
import HTTP
import Loading
import Media
import Output
import Playback
import Playlists
import System
import TerminalUI

/// Puts the parts together, in the order a byte takes: source, loader, decoder, output.
///
/// The only file that names their concrete types.
enum Wiring {
    /// The decoder for each kind of audio.
    static let decoders = DecoderTable(mpeg: { MPEGDecoder($0) })

    /// Plays what `options` ask for and returns how the process ends.
    static func run(
        options: Options,
        presentation: Presentation,
        interface: InterfaceSettings,
        clock: any MonotonicClock,
        journal: (any RequestJournal)? = nil
    ) async -> ExitCode {
        // The parts tell their notices to a player that is made of them.
        let listener = LateBound<Player>()
        let notify: @Sendable (MediaError) -> Void = { listener.value?.notify($0) }
        let folder =
            options.noCache
            ? nil : cacheFolder(options.cache.folder, options.cache, options.bounds, clock, notify)
        let checking = Task { if let folder { try await folder.checkSecret() } }
        let shelf = presentation == .screen ? folder.map { Self.shelf(of: $0, clock: clock) } : nil
        let shelving = Task { await shelf?.run() }
        defer { shelving.cancel() }
        // The screen shows the newest requests; the journal has all of them.
        let requests = RequestHistory(onward: journal)
        let heard: (any RequestJournal)? = presentation == .screen ? requests : journal
        let memory = interface.memory
        let trusted = options.sources + (memory?.trustedOrigins ?? [])
        let web = http(options.network, sources: trusted, clock)
        let curl = CurlTransport(configuration: web)
        let beginning = Beginning(options: options, memory: memory)
        let settings = playback(options, presentation, memory?.session)
        let warming = warmUp(
            curl,
            for: beginning,
            options,
            kept: folder,
            once: checking
        )
        defer { warming?.cancel() }
        let (loaders, network) = load(
            by: curl,
            kept: folder,
            options,
            journal: heard,
            notify,
            clock
        )
        let resolver = SourceResolver(
            open: RevalidatingOpener(loaders: loaders),
            workingFolder: BasePaths.workingFolder
        )
        let session = PlayingSession(
            presentation: presentation,
            options: options,
            interface: interface,
            surroundings: surroundings(kept: shelf, requests: requests, clock: clock),
            clock: clock
        )
        let output = options.sink.makeOutput(clock: clock)
        let reaching = reach(output, after: warming)
        do {
            try await checking.value
        } catch {
            reaching?.cancel()
            await output.close()
            Messages.show(message(error, folder: options.cache.folder ?? ""))
            return .couldNotStart
        }
        var parts = PlaybackParts(
            open: { location, refresh in
                refresh || options.refresh
                    ? try await loaders.openRevalidated(location) : try await loaders.open(location)
            },
            makeDecoder: { try await decoders.decoder(for: $0, at: $1) },
            output: output,
            resolver: HomeResolver(resolver: resolver, secretOrigins: web.secretOrigins),
            save: { try await resolver.save($0, to: BasePaths.expandingHome($1)) },
            clock: clock,
            cache: folder,
            connectivity: network
        )
        parts.connecting = reaching
        parts.resumePoint = { memory?.resumePoint(of: $0) }
        let player = Player(parts: parts, settings: settings)
        player.observeEvents { session.report($0) }
        listener.value = player
        memory?.watch(player, notify: notify)
        tellWithoutFolder(options, notify)
        if beginning.isPaused { player.send(.pause) }
        let code = await session.run(player) {
            await player.run(
                tracks: beginning.tracks,
                sources: options.sources,
                start: beginning.start,
                position: beginning.position
            )
        }
        await memory?.finish()
        network.end()
        await curl.shutdown()
        await folder?.settle()
        return code
    }

    /// Where bytes come from: `transport`, watched over for whether there is a network at all, behind what is kept.
    private static func load(
        by transport: CurlTransport,
        kept folder: CacheFolder?,
        _ options: Options,
        journal: (any RequestJournal)?,
        _ notify: @escaping @Sendable (MediaError) -> Void,
        _ clock: any MonotonicClock
    ) -> (Loaders, NetworkWatch) {
        let numbers = RequestNumbers()
        let network = NetworkWatch(
            clock: clock,
            isForced: options.offline,
            journal: journal,
            numbers: numbers
        )
        let loaders = Loaders(
            transport: network.guarding(transport),
            stores: folder ?? VolatileStores(),
            clock: clock,
            settings: loading(options),
            connectivity: network,
            journal: journal,
            numbers: numbers,
            onNotice: notify
        )
        network.observe { if !$0.isOffline { loaders.networkIsBack() } }
        return (loaders, network)
    }

    private static func tellWithoutFolder(
        _ options: Options,
        _ notify: @Sendable (MediaError) -> Void
    ) {
        guard options.cache.folder == nil, !options.noCache else { return }
        let cause: SafeText = "not kept, for there is no home folder; name one with --cache-dir"
        notify(MediaError(.notKept, "music", cause))
    }

    /// Whether standard output is a terminal that a screen can be shown on.
    static var canShowScreen: Bool { TerminalConfiguration(environment: BasePaths.environment).isUsable }

    /// What is told to servers; secrets go to the origins of `sources` alone.
    static func http(
        _ options: NetworkOptions?,
        sources: [String],
        _ clock: any MonotonicClock
    ) -> HTTPConfiguration {
        var configuration = HTTPConfiguration()
        configuration.clock = clock
        configuration.headers = options?.headers ?? []
        configuration.secretOrigins = SecretOrigins(sources.compactMap { WebURL($0) })
        configuration.netrcFile = BasePaths.expandingHome("~/.netrc")
        // What curl and OpenSSL's own programs look at; libcurl as a library does not.
        configuration.certificateFile =
            options?.cacert ?? BasePaths.variable("SSL_CERT_FILE").flatMap { $0.isEmpty ? nil : $0 }
        configuration.hasProxy = HTTPConfiguration.namesProxy(BasePaths.variable)
        if let userAgent = options?.userAgent { configuration.userAgent = userAgent }
        return configuration
    }

    /// The cache in `folder`; `nil` if there is none.
    static func cacheFolder(
        _ folder: String?,
        _ location: CacheLocationOptions,
        _ bounds: CacheBoundsOptions?,
        _ clock: any MonotonicClock,
        _ notify: @escaping @Sendable (MediaError) -> Void
    ) -> CacheFolder? {
        folder.map { path in
            CacheFolder(
                path: path,
                budget: bounds?.cacheSize ?? CacheFolder.defaultBudget,
                minimumFree: bounds?.minFree ?? CacheFolder.defaultMinimumFree,
                maximumAge: bounds?.cacheAge.map { .seconds($0 * 86_400) },
                identity: CacheIdentity(rules: location.identityRules),
                secret: location.secret,
                clock: clock,
                onNotice: notify
            )
        }
    }

    /// What was typed or configured wins over what the last session left.
    static func playback(
        _ options: Options,
        _ presentation: Presentation,
        _ last: SavedSession?
    ) -> PlaybackSettings {
        // Full volume is also what a session leaves that never touched it: the server's memory decides then.
        let lastVolume = last.flatMap { $0.volume == 100 ? nil : $0.volume }
        var settings = PlaybackSettings(
            exitsAtEnd: presentation != .screen,
            volume: options.volume ?? lastVolume,
            repeatMode: options.repeatMode ?? last?.repeatMode ?? .off,
            shuffle: options.shuffle ?? last?.isShuffled ?? false
        )
        settings.fillsHeardTracks = options.fill
        settings.gainMode = options.gain ?? last?.gainMode ?? .off
        // Without a screen nobody looks more often than events come.
        if presentation != .screen { settings.tick = .seconds(1) }
        return settings
    }

    private static func loading(_ options: Options) -> LoadSettings {
        var settings = LoadSettings()
        if let readAhead = options.readAhead { settings.readAhead = readAhead }
        return settings
    }
}

/// A resolver of what the listener names: `~/` is the home folder, and the listener's secrets are for it.
struct HomeResolver: TrackResolver {
    let resolver: SourceResolver
    let secretOrigins: SecretOrigins?

    func tracks(for source: String) async throws -> ResolvedTracks {
        if let url = WebURL(source) { secretOrigins?.insert(url) }
        return try await resolver.tracks(for: BasePaths.expandingHome(source))
    }
}

/// A value that is created after the parts that refer to it.
final class LateBound<Value: Sendable>: Sendable {
    private let box = Locked<Value?>(nil)

    /// `nil` until it is set.
    var value: Value? {
        get { box.withLock { $0 } }
        set { box.withLock { $0 = newValue } }
    }
}
