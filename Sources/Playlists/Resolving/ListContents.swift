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

    /// Parses `bytes`, a list found at `subject`, and locates its entries. Throws `.badPlaylist`.
    ///
    /// `begun` hears the first tracks of a long M3U list before the others are read, unless one of these is in a
    /// list of its own or none is a track.
    init(
        bytes: [UInt8],
        base: PlaylistBase,
        expected: PlaylistFormat?,
        subject: SafeText,
        limits: PlaylistLimits,
        fileExists: (String) -> Bool,
        begun: (([Track]) -> Void)? = nil
    ) throws(MediaError) {
        try Playlist.read(
            bytes,
            expected: expected,
            subject: subject,
            limits: limits,
            inPieces: begun != nil
        ) { entries, moreFollow in
            add(entries, base: base, fileExists: fileExists)
            if moreFollow, nested.isEmpty, !tracks.isEmpty { begun?(tracks) }
        }
        if let refused { problems.addRefusals(refused.count, first: refused.first, of: subject) }
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
