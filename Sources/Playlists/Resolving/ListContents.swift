import Media

/// The facts about a list that are known before it is read.
struct ListFile: Sendable {
    /// The name of the list in errors.
    var subject: SafeText
    /// Its path, whose extension suggests its format.
    var name: String
    /// The base of its relative entries.
    var base: PlaylistBase
    /// The URL without user name and password, or the path; `nil` for standard input.
    var identity: String?
    /// `nil` for standard input.
    var location: ResourceLocation?
}

extension ListFile {
    init(at location: ResourceLocation) {
        let (base, identity): (PlaylistBase, String) =
            switch location {
            case .file(let path): (.folder(path.lastIndex(of: "/").map { String(path[...$0]) } ?? "/"), path)
            case .web(let url): (.web(url), url.requestString)
            }
        self.init(
            subject: location.safeText,
            name: location.path,
            base: base,
            identity: identity,
            location: location
        )
    }

    /// The list at `url`, which was read at `answering`, where a redirect led.
    init(at url: WebURL, answering: WebURL) {
        self.init(at: .web(answering))
        subject = url.safeText
        identity = url.requestString
        location = .web(url)
    }

    /// `true` if `location` is in the folder of the list or below it.
    func isAbove(_ location: ResourceLocation) -> Bool {
        switch location {
        case .file(let path):
            if case .folder(let folder) = base { return path.hasPrefix(folder) }
        case .web(let url):
            if case .web(let list) = base {
                return list.host == url.host && list.port == url.port && url.path.hasPrefix(list.folderPath)
            }
        }
        return false
    }
}

/// The tracks that one list names, and the lists between them.
struct ListContents: Sendable {
    struct NestedList: Sendable {
        var location: ResourceLocation
        /// `true` if it is a folder in the listing of a web folder.
        var isWebFolder = false
        /// The tracks between this list and the next one.
        var tracksBehind: [Track] = []
    }

    /// A text that is the same for all spellings of the list's location.
    var identity = ""
    /// The tracks before the first nested list.
    var tracks: [Track] = []
    var nested: [NestedList] = []
    var problems = PlaylistProblems()
    /// `true` if it is the listing of a web folder.
    var isWebFolder = false

    init() {}

    /// Parses `bytes` and locates the entries. Blocks, because it checks if files exist. Throws
    /// `.badPlaylist`.
    init(
        of bytes: [UInt8],
        in list: ListFile,
        contentType: String?,
        limits: PlaylistLimits
    ) throws(MediaError) {
        let kind = ResourceKind.of(contentType: contentType, firstBytes: bytes, name: list.name)
        if kind == .music, let location = list.location {
            // A stream of segments is named like a list.
            tracks = [Track(id: TrackIDs.next(), location: location)]
            return
        }
        isWebFolder = kind == .list(.webFolder)
        // Local files that a list from the web may not open.
        var refusals: (count: Int, first: MediaError)?
        var place = 0
        switch kind {
        case .list(.m3u), .unknown:
            // Growing by doubling would copy a long list.
            tracks.reserveCapacity(min(limits.entries, bytes.count { $0 == 0x0A || $0 == 0x0D }) + 1)
        default: break
        }
        try Playlist.parse(bytes, kind: kind, in: list, limits: limits) { entry in
            do throws(MediaError) {
                let location = try list.base.location(of: entry, fileExists: LocalFile.exists)
                // Without its URL or path, an episode could not be known again.
                let episode = entry.episode.flatMap { facts in
                    list.identity.map {
                        Episode(feed: $0, guid: facts.guid, date: facts.date, place: place)
                    }
                }
                let isNamedFromElsewhere = episode == nil && !isWebFolder && !list.isAbove(location)
                add(entry, at: location, episode: episode, list: isNamedFromElsewhere ? list.identity : nil)
            } catch {
                if error.code == .refusedLocalFile {
                    refusals = (count: (refusals?.count ?? 0) + 1, first: refusals?.first ?? error)
                } else {
                    problems.add(error)
                }
            }
            place += 1
        }
        if let refusals { problems.addRefusals(refusals.count, first: refusals.first, of: list.subject) }
    }

    private mutating func add(
        _ entry: PlaylistEntry,
        at location: ResourceLocation,
        episode: Episode?,
        list: String?
    ) {
        let kind = ResourceKind.of(name: location.path)
        if entry.isList || (kind.isList && !isWebFolder && entry.episode == nil) {
            nested.append(NestedList(location: location, isWebFolder: isWebFolder))
        } else if isWebFolder && kind != .music {
            // As in local folders, playlists and files that are no music are left out.
            problems.leaveOut(location.path)
        } else {
            var track = Track(
                id: TrackIDs.next(),
                location: location,
                tags: entry.tags,
                duration: entry.duration,
                episode: episode,
                list: list
            )
            track.isListed = isWebFolder
            if nested.isEmpty {
                tracks.append(track)
            } else {
                nested[nested.count - 1].tracksBehind.append(track)
            }
        }
    }
}
