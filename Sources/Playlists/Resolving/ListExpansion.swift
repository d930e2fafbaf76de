import Media
import System

/// Opens a list and the lists within it, and joins their tracks in the order of the entries.
///
/// Use an instance once, for one source. If the first list cannot be used, its error is thrown; a nested list
/// that cannot be used becomes a problem.
struct ListExpansion {
    let opener: any ResourceOpener
    let thread: WorkThread
    let limits: PlaylistLimits

    private var tracks: [Track] = []
    private var problems = PlaylistProblems()
    private var listCount = 0

    init(opener: any ResourceOpener, thread: WorkThread, limits: PlaylistLimits) {
        self.opener = opener
        self.thread = thread
        self.limits = limits
    }

    /// The tracks and problems collected so far. Throws the first problem if there is no track.
    func resolved(of subject: SafeText) throws(MediaError) -> ResolvedTracks {
        let problems = problems.all(of: subject)
        guard !tracks.isEmpty else {
            throw problems.first ?? MediaError(.badPlaylist, subject, "the playlist is empty")
        }
        return ResolvedTracks(tracks: tracks, problems: problems)
    }

    /// Adds the list at `location`. `ancestors` are the identities of the lists that contain it.
    mutating func addList(at location: ResourceLocation, ancestors: [String]) async throws {
        let subject = location.safeText
        listCount += 1
        guard listCount <= limits.lists else {
            let cause = SafeText("too many nested playlists (more than \(limits.lists))")
            throw MediaError(.badPlaylist, subject, cause)
        }
        guard ancestors.count < limits.depth else {
            let cause = SafeText("playlists are nested too deeply (more than \(limits.depth) levels)")
            throw MediaError(.badPlaylist, subject, cause)
        }
        let identity = await identity(of: location)
        guard !ancestors.contains(identity) else {
            throw MediaError(.badPlaylist, subject, "the playlist contains itself")
        }
        try await add(try await contents(of: location), ancestors: ancestors + [identity])
    }

    /// Adds the list on standard input, whose content is `bytes`.
    mutating func addStandardInput(_ bytes: [UInt8], workingFolder: String) async throws {
        let list = ListFile(subject: "standard input", name: "", base: .folder(workingFolder))
        try await add(try await parsed(bytes, of: list), ancestors: [])
    }

    private mutating func add(_ contents: ListContents, ancestors: [String]) async throws {
        problems.add(contents.problems)
        var added = 0
        for list in contents.nested {
            try add(contents.tracks[added..<list.tracksBefore])
            added = list.tracksBefore
            do {
                try await addList(at: list.location, ancestors: ancestors)
            } catch let problem as MediaError {
                problems.add(problem)
            }
        }
        try add(contents.tracks[added...])
    }

    private mutating func add(_ more: ArraySlice<Track>) throws(MediaError) {
        guard tracks.count + more.count <= limits.entries else {
            throw Playlist.tooLong(more.first?.location.safeText ?? "the playlist", limits)
        }
        // A single long list is not copied.
        if tracks.isEmpty { tracks = Array(more) } else { tracks += more }
    }

    /// A text that is the same for all spellings of one location.
    private func identity(of location: ResourceLocation) async -> String {
        switch location {
        case .web(let url): url.requestString
        case .file(let path): await thread.run { LocalFile.realPath(of: path) }
        }
    }

    private func contents(of location: ResourceLocation) async throws -> ListContents {
        let list = ListFile(at: location)
        switch location {
        case .file(let path):
            let bytes = try await thread.run { [limits] in try LocalFile.read(path, limit: limits.bytes) }
            return try await parsed(bytes, of: list)
        case .web:
            let reader = try await opener.open(location)
            do {
                let bytes = try await download(reader, subject: list.subject)
                let contents = try await parsed(bytes, of: list, contentType: reader.report.contentType)
                await reader.close()
                return contents
            } catch {
                // A body that is not a playlist, such as a login page, must not stay in the cache.
                if (error as? MediaError)?.code == .badPlaylist { await reader.reject() }
                await reader.close()
                throw error
            }
        }
    }

    /// Reads all bytes of `source`. Throws `.badPlaylist` if there are too many, `.emptyResource` if there
    /// are none, and the errors of the source.
    private func download(_ source: any ByteSource, subject: SafeText) async throws -> [UInt8] {
        let limit = limits.bytes
        var bytes: [UInt8] = []
        while true {
            // Checked before each read, since only the first response states the length.
            if let length = source.length, length > Int64(limit) { throw LocalFile.tooLarge(subject) }
            let chunk = try await source.read(at: Int64(bytes.count), count: 256 * 1024)
            if chunk.isEmpty { break }
            guard chunk.count <= limit - bytes.count else { throw LocalFile.tooLarge(subject) }
            bytes += chunk
            if source.length == Int64(bytes.count) { break }
        }
        guard !bytes.isEmpty else { throw LocalFile.empty(subject) }
        return bytes
    }

    private func parsed(
        _ bytes: [UInt8],
        of list: ListFile,
        contentType: String? = nil
    ) async throws -> ListContents {
        try await thread.run { [limits] in
            let entries = try Playlist.entries(
                of: bytes,
                contentType: contentType,
                name: list.name,
                subject: list.subject,
                limits: limits
            )
            return ListContents(entries, of: list)
        }
    }
}

/// The facts about a list that are known before it is read.
private struct ListFile: Sendable {
    /// The name of the list in errors.
    var subject: SafeText
    /// Its path, whose extension suggests its format.
    var name: String
    /// The base of its relative entries.
    var base: PlaylistBase
    /// The URL without user name and password, or the path; `nil` for standard input.
    var identity: String?
}

extension Track {
    fileprivate init(_ entry: PlaylistEntry, at location: ResourceLocation, episode: Episode?) {
        let id = TrackIDs.take()
        self.init(id: id, location: location, tags: entry.tags, duration: entry.duration, episode: episode)
    }
}

extension ListFile {
    /// The episode of `entry`; `nil` if the list is no feed, or has no URL or path by which to know it again.
    func episode(_ entry: PlaylistEntry, place: Int) -> Episode? {
        guard let facts = entry.episode, let feed = identity else { return nil }
        return Episode(feed: feed, guid: facts.guid, date: facts.date, place: place)
    }

    init(at location: ResourceLocation) {
        let (base, identity): (PlaylistBase, String) =
            switch location {
            case .file(let path): (.folder(path.lastIndex(of: "/").map { String(path[...$0]) } ?? "/"), path)
            case .web(let url): (.web(url), url.requestString)
            }
        self.init(subject: location.safeText, name: location.path, base: base, identity: identity)
    }
}

/// The tracks that one list names, and the lists between them.
private struct ListContents: Sendable {
    struct NestedList: Sendable {
        /// The number of tracks before this list.
        var tracksBefore: Int
        var location: ResourceLocation
    }

    var tracks: [Track] = []
    var nested: [NestedList] = []
    var problems = PlaylistProblems()

    /// Locates the `entries` of `list`. Blocks, because it checks if files exist.
    init(_ entries: [PlaylistEntry], of list: ListFile) {
        // Local files that a list from the web may not open.
        var refusals: (count: Int, first: MediaError)?
        tracks.reserveCapacity(entries.count)
        for (place, entry) in entries.enumerated() {
            do throws(MediaError) {
                let location = try list.base.location(of: entry, fileExists: LocalFile.exists)
                if entry.isList || (entry.episode == nil && ResourceKind.of(name: location.path).isList) {
                    nested.append(NestedList(tracksBefore: tracks.count, location: location))
                } else {
                    tracks.append(Track(entry, at: location, episode: list.episode(entry, place: place)))
                }
            } catch {
                if error.code == .refusedLocalFile {
                    refusals = (count: (refusals?.count ?? 0) + 1, first: refusals?.first ?? error)
                } else {
                    problems.add(error)
                }
            }
        }
        if let refusals { problems.addRefusals(refusals.count, first: refusals.first, of: list.subject) }
    }
}

/// Collects the problems of single entries, so that a list of 100,000 bad entries causes only a few messages.
struct PlaylistProblems: Sendable, Equatable {
    /// The number of problems that are reported one by one.
    static let most = 20

    private var problems: [MediaError] = []
    private var furtherCount = 0

    mutating func add(_ problem: MediaError) {
        if problems.count < Self.most {
            problems.append(problem)
        } else {
            furtherCount += 1
        }
    }

    /// Adds one problem for `count` local files that the list `subject` may not open; `first` is the error of
    /// the first.
    mutating func addRefusals(_ count: Int, first: MediaError, of subject: SafeText) {
        guard count > 1 else { return add(first) }
        let cause = SafeText("\(count) entries are local files, which a playlist from the web can't open")
        add(MediaError(.refusedLocalFile, subject, cause))
    }

    /// Adds the problems of a nested list.
    mutating func add(_ others: PlaylistProblems) {
        for problem in others.problems { add(problem) }
        furtherCount += others.furtherCount
    }

    /// The problems in their order. Those beyond `most` are summarised in one more, about `subject`, at the
    /// end.
    func all(of subject: SafeText) -> [MediaError] {
        guard furtherCount > 0 else { return problems }
        let rest = SafeText("skipped \(furtherCount) more bad entries")
        return problems + [MediaError(.badPlaylist, subject, rest)]
    }
}

extension ResourceLocation {
    /// The path, whose extension suggests the kind of resource.
    var path: String {
        switch self {
        case .file(let path): path
        case .web(let url): url.path
        }
    }
}
