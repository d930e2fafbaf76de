package import Media
import Synchronization
import System

/// Turns SOURCE arguments into tracks: files, folders, playlists, web folders, URLs and standard input.
///
/// A URL that is named as music costs no request. Any other URL is opened, and its first bytes show if it is
/// a list; the open reader of music is handed on, so that playing it needs no second request. Lists from the
/// web are cached and shared like music, and revalidated. Blocking calls and parsing run on a thread that
/// ends with the resolver. All calls may be made from any task, several at once.
package final class SourceResolver: TrackResolver {
    /// Opens a resource. With `true` cached bytes are revalidated with the server first.
    package typealias Open = @Sendable (ResourceLocation, Bool) async throws -> any ResourceReader

    private let open: Open
    private let workingFolder: String
    private let standardInput: @Sendable () throws -> [UInt8]
    private let limits: PlaylistLimits
    private let thread = WorkThread(name: "playlists")
    /// The open readers of music that was resolved and not played yet.
    private let opened = Locked<[(location: ResourceLocation, reader: any ResourceReader)]>([])
    /// The most of them. Few, since an open reader of a station receives its music.
    private static let mostOpened = 4
    /// Counts all lists that were found where music was expected, since each may lead to more of them.
    private let foundLists: SourceBudget

    /// `workingFolder` is absolute and the base of relative paths. `standardInput` reads standard input to
    /// its end. It may block, and is called on a thread of its own, once for each source `-`.
    package init(
        open: @escaping Open,
        workingFolder: String,
        standardInput: @escaping @Sendable () throws -> [UInt8] = { try LocalFile.readStandardInput() },
        limits: PlaylistLimits = PlaylistLimits()
    ) {
        self.open = open
        self.workingFolder = workingFolder
        self.standardInput = standardInput
        self.limits = limits
        foundLists = SourceBudget(limits)
    }

    deinit { thread.stop() }

    /// Resolves `source`; delivers its tracks in order, at least one.
    ///
    /// Entries that cannot be used become problems. Throws `MediaError` if no track is left, and
    /// `CancellationError` if the task is cancelled.
    package func resolve(_ source: String, deliver: @Sendable (ResolvedTracks) async -> Void) async throws {
        guard source != "-" else { return try await expand(await readStandardInput(), deliver) }
        let location = try location(of: source)
        let kind = try await kind(of: location, named: source)
        if let reason = kind.refusedList { throw MediaError(.badPlaylist, location.safeText, reason) }
        switch kind {
        case .list where location.url == nil: try await expand(.location(location), deliver)
        case .folder:
            await deliver(try await scan(location.path))
        case .list, .unknown, .music:
            if let url = location.url, kind != .music,
                let list = try await openedList(at: url, isNamedList: kind.isList)
            {
                return try await expand(list, deliver)
            }
            await deliver(ResolvedTracks(tracks: [Track(id: TrackIDs.next(), location: location)]))
        }
    }

    private func expand(_ root: ListExpansion.Root, _ deliver: ListExpansion.Deliver) async throws {
        let budget = SourceBudget(limits)
        try await ListExpansion(root: root, open: open, thread: thread, budget: budget).run(deliver)
    }

    /// Reads the list that a track turned out to be: one whose URL is named as music, or that another list
    /// names.
    ///
    /// If `reader` has only cached bytes, the list is revalidated. A list that leads to itself is an error.
    package func list(at track: Track, openAs reader: any ResourceReader) async throws -> ResolvedTracks? {
        let location = track.location
        // The first bytes of a live stream may be gone: it is no list.
        let kind = try? await probe(reader, at: location)
        if let reason = kind?.refusedList { throw MediaError(.badPlaylist, location.safeText, reason) }
        guard kind?.isList == true else { return nil }
        let isFresh = location.url != nil && reader.report.requestCount > 0
        let expansion = ListExpansion(
            root: isFresh ? .opened(location, reader) : .location(location),
            ancestors: track.foundLists,
            open: open,
            thread: thread,
            budget: foundLists
        )
        let all = Locked(ResolvedTracks(tracks: []))
        try await expansion.run { part in all.withLock { $0.add(part) } }
        var found = all.withLock { $0 }
        let lists = track.foundLists + [await thread.identity(of: location)]
        for index in found.tracks.indices { found.tracks[index].foundLists = lists }
        return found
    }

    /// The music below a folder; that found so far if the task is cancelled.
    private func scan(_ folder: String) async throws -> ResolvedTracks {
        try await withTaskExecutorPreference(thread) {
            try FolderScan(limits: limits) { Task.isCancelled }.tracks(in: folder)
        }
    }

    private func readStandardInput() async throws -> ListExpansion.Root {
        // A thread of its own, since standard input may stay open for long and must not delay other sources.
        let reader = WorkThread(name: "stdin list")
        defer { reader.stop() }
        return .standardInput(try await reader.run(standardInput), workingFolder: workingFolder)
    }

    // MARK: What a URL is

    /// Opens `url` and reads its first bytes. Returns the open list; `nil` if it is music.
    ///
    /// If `isNamedList`, its name is that of a list, and a resource that is neither music nor a list is an
    /// error. Otherwise it is taken for music, and the player reports what is wrong with it. Throws
    /// `.badPlaylist` and the errors of reading.
    private func openedList(at url: WebURL, isNamedList: Bool) async throws -> ListExpansion.Root? {
        let location = ResourceLocation.web(url)
        var current: (any ResourceReader)?
        do {
            var reader = try await open(location, isNamedList)
            current = reader
            if !isNamedList, try await isCachedList(reader, at: url) {
                // Unlike music, a list changes. While the network is away, it is used as it is.
                await reader.close()
                current = nil
                reader = try await open(location, true)
                current = reader
            }
            let kind = try await probe(reader, at: location)
            if case .unknown(notList: let reason?) = kind, isNamedList || kind.refusedList != nil {
                await reader.reject()
                throw MediaError(.badPlaylist, url.safeText, reason)
            }
            if kind.isList || (isNamedList && kind != .music) { return .opened(location, reader) }
            await hold(reader, of: location)
            return nil
        } catch {
            await current?.close()
            // Music that is not cached waits in the queue for the network.
            guard !isNamedList, (error as? MediaError)?.code == .offline else { throw error }
            return nil
        }
    }

    private func isCachedList(_ reader: any ResourceReader, at url: WebURL) async throws -> Bool {
        let stored = try await reader.readStored(at: 0, count: ResourceKind.headLength)
        return !stored.isEmpty && kind(of: stored, from: reader, at: .web(url)).isList
    }

    /// Reads as much of `reader` as shows its kind.
    private func probe(
        _ reader: any ResourceReader,
        at location: ResourceLocation
    ) async throws -> ResourceKind {
        var head: [UInt8] = []
        while head.count < ResourceKind.headLength {
            let more = try await reader.read(at: Int64(head.count), count: 64 << 10)
            if more.isEmpty { break }
            head += more
            // Bytes of music show themselves early, and a station sends them slowly.
            let kind = kind(of: head, from: reader, at: location)
            if kind == .music || kind == ResourceKind.binary { return kind }
        }
        return kind(of: head, from: reader, at: location)
    }

    private func kind(
        of head: [UInt8],
        from reader: any ResourceReader,
        at location: ResourceLocation
    ) -> ResourceKind {
        let report = reader.report
        return ResourceKind.of(
            contentType: report.contentType,
            firstBytes: head,
            name: report.redirectedTo?.path ?? location.path
        )
    }

    /// Holds `reader` until it is taken; closes the oldest if there are too many.
    private func hold(_ reader: any ResourceReader, of location: ResourceLocation) async {
        let surplus = opened.withLock { opened in
            opened.append((location, reader))
            return opened.count > Self.mostOpened ? opened.removeFirst().reader : nil
        }
        await surplus?.close()
    }

    /// Hands over the open reader of a track that was resolved; `nil` if there is none. The caller closes it.
    package func takeOpened(_ location: ResourceLocation) -> (any ResourceReader)? {
        opened.withLock { opened in
            opened.firstIndex { $0.location == location }.map { opened.remove(at: $0).reader }
        }
    }

    /// Closes the open readers that were not taken. Call it only when nothing is being resolved any more.
    package func close() async {
        for (_, reader) in opened.withLock({ exchange(&$0, with: []) }) { await reader.close() }
    }

    // MARK: Sources

    /// The location that `source` names; opens nothing. Relative paths start at the working folder.
    ///
    /// Throws `.unsupportedScheme`, `.badURL`, or `.notFound` for an empty text.
    private func location(of source: String) throws(MediaError) -> ResourceLocation {
        switch Reference(source) {
        case .web:
            guard let url = WebURL(source) else { throw Reference.badURL(source) }
            return .web(url)
        case .file:
            return .file(try Reference.path(ofFileURL: source))
        case .other:
            throw Reference.unsupportedScheme(source)
        case .relative:
            guard !source.isEmpty, !source.utf8.contains(0) else {
                throw MediaError(.notFound, "the source", "it is empty")
            }
            return .file(PlaylistBase.absolute(source, in: workingFolder))
        }
    }

    /// The kind of the resource at `location`, which was typed as `source`; that of a URL as far as its name
    /// shows it.
    private func kind(of location: ResourceLocation, named source: String) async throws -> ResourceKind {
        switch location {
        case .web(let url): return ResourceKind.of(name: url.path)
        case .file(let path):
            do {
                return try await thread.run { try LocalFile.kind(of: path) }
            } catch let error as MediaError where error.code == .notFound {
                guard let scheme = Reference.missingScheme(of: source) else { throw error }
                // The text may be a URL without its scheme, with a password before `@` or a token after `?`.
                let mayBeSecret = source.contains { $0 == "@" || $0 == "?" }
                let whole = scheme + "://" + source
                let url = WebURL(whole)?.safeText
                throw MediaError(
                    error.code,
                    mayBeSecret ? url ?? Reference.safe(whole) : error.subject,
                    error.cause + (url.map { " – did you mean " + $0 + "?" } ?? "")
                )
            }
        }
    }

    /// Writes `tracks` as an M3U8 list, atomically, on the resolver's thread.
    ///
    /// `path` is absolute or relative to the working folder; an existing list is replaced. Throws
    /// `MediaError` with `.notCached`.
    package func save(_ tracks: [Track], to path: String) async throws {
        let path = PlaylistBase.absolute(path, in: workingFolder)
        try await thread.run { try M3UWriter.save(tracks, to: path) }
    }
}

/// Issues track IDs, each only once in the life of the process. May be called from any thread.
enum TrackIDs {
    private static let counter = Atomic<UInt64>(1)

    static func next() -> Track.ID { Track.ID(counter.wrappingAdd(1, ordering: .relaxed).oldValue) }
}
