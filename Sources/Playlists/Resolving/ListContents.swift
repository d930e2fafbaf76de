import Media

/// What one list names: tracks, and lists at places between them.
struct ListContents: Sendable {
    struct NestedList: Sendable, Equatable {
        /// How many of the tracks come before it.
        var tracksBefore: Int
        var location: ResourceLocation
    }

    var tracks: [Track] = []
    var nested: [NestedList] = []
    var problems = PlaylistProblems()

    /// Names of local files that a list of the web may not open.
    private var refused: (count: Int, first: MediaError)?

    /// Parses `bytes`, a list found at `subject`, and locates its entries; behind those of `beginning` where that was
    /// read before. Throws `.badPlaylist`.
    init(
        bytes: [UInt8],
        behind beginning: ListBeginning? = nil,
        base: PlaylistBase,
        expected: PlaylistFormat?,
        subject: SafeText,
        limits: PlaylistLimits,
        fileExists: (String) -> Bool
    ) throws(MediaError) {
        if let beginning {
            self = beginning.contents
            let most = limits.entries - beginning.entryCount
            let entries = Playlist.entries(of: bytes, from: beginning.end, most: most)
            add(entries, base: base, fileExists: fileExists)
        } else {
            let entries = try Playlist.entries(
                of: bytes,
                expected: expected,
                subject: subject,
                limits: limits
            )
            add(entries, base: base, fileExists: fileExists)
        }
        if let refused { problems.addRefusals(refused.count, first: refused.first, of: subject) }
    }

    /// The contents of a list as far as its `entries` go.
    fileprivate init(_ entries: [PlaylistEntry], base: PlaylistBase, fileExists: (String) -> Bool) {
        add(entries, base: base, fileExists: fileExists)
    }

    private mutating func add(_ entries: [PlaylistEntry], base: PlaylistBase, fileExists: (String) -> Bool) {
        tracks.reserveCapacity(tracks.count + entries.count)
        let firstID = TrackIDs.take(entries.count).value
        for (index, entry) in entries.enumerated() {
            do throws(MediaError) {
                let location = try base.location(of: entry, fileExists: fileExists)
                if PlaylistFormat(extensionOf: location.path) != nil {
                    nested.append(NestedList(tracksBefore: tracks.count, location: location))
                } else {
                    let id = Track.ID(firstID + UInt64(index))
                    tracks.append(
                        Track(id: id, location: location, tags: entry.tags, duration: entry.duration)
                    )
                }
            } catch {
                if error.code == .refusedLocalFile {
                    refused = (count: (refused?.count ?? 0) + 1, first: refused?.first ?? error)
                } else {
                    problems.add(error)
                }
            }
        }
    }
}

/// What a long M3U list begins with, from which on it is read when all of it is here.
struct ListBeginning: Sendable {
    let contents: ListContents
    let entryCount: Int
    /// The offset behind its last entry.
    let end: Int

    /// Nil where the list that begins with `head` is none that can be begun with: also where a list is among the first
    /// entries, and where none of these is a track.
    init?(
        head: [UInt8],
        base: PlaylistBase,
        expected: PlaylistFormat?,
        subject: SafeText,
        limits: PlaylistLimits,
        fileExists: (String) -> Bool
    ) {
        guard
            let found = Playlist.beginning(in: head, expected: expected, subject: subject, limits: limits)
        else { return nil }
        contents = ListContents(found.entries, base: base, fileExists: fileExists)
        entryCount = found.entries.count
        end = found.end
        guard contents.nested.isEmpty, !contents.tracks.isEmpty else { return nil }
    }
}

extension ResourceLocation {
    /// The path whose extension tells what is there.
    var path: String {
        switch self {
        case .file(let path): path
        case .web(let url): url.path
        }
    }

    /// What the entries of a list at this place count from.
    var playlistBase: PlaylistBase {
        switch self {
        case .file(let path):
            .folder(path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "/")
        case .web(let url): .web(url)
        }
    }
}
