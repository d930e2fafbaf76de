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

    /// Parses `bytes`, a list found at `subject`, and locates its entries. Throws `.badPlaylist`.
    init(
        bytes: [UInt8],
        base: PlaylistBase,
        expected: PlaylistFormat?,
        subject: SafeText,
        limits: PlaylistLimits,
        fileExists: (String) -> Bool
    ) throws(MediaError) {
        let entries = try Playlist.entries(of: bytes, expected: expected, subject: subject, limits: limits)
        tracks.reserveCapacity(entries.count)
        let firstID = TrackIDs.take(entries.count).value
        var refused: (count: Int, first: MediaError)?
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
        if let refused { problems.addRefusals(refused.count, first: refused.first, of: subject) }
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
