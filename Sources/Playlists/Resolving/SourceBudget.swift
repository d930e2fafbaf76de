import Media

/// Bounds on everything that one source expands to. Playlists come from anywhere, and a small one can name a
/// large one.
package struct PlaylistLimits: Sendable {
    /// Bytes of all lists, unpacked. The largest list that users report has 600,000 entries and 20 MiB.
    package var bytes = 64 * 1024 * 1024
    /// Tracks of the source, including those of nested lists and folders.
    package var entries = 1_000_000
    /// Bytes of text kept: the locations and tags of all tracks.
    package var text = 256 * 1024 * 1024
    /// Playlists and feeds. Without this limit, eight levels of lists that each name ten more would be 100
    /// million.
    package var lists = 1_000
    /// Folders of web servers.
    package var webFolders = 20_000
    /// Levels of lists and web folders within each other; more are a mistake or an attack.
    package var depth = 8
    /// Levels of local folders within folders.
    package var folderDepth = 64

    package init() {}
}

/// Counts what was read of one source, and stops at its limits. Pure.
struct SourceBudget: Sendable {
    let limits: PlaylistLimits
    private var bytes = 0
    private var text = 0
    private var lists = 0
    private var webFolders = 0
    private(set) var entries = 0
    /// The first limit that was exceeded; `nil` before that.
    private var excess: Limit?

    private enum Limit { case bytes, entries, text, lists, webFolders }

    init(_ limits: PlaylistLimits) { self.limits = limits }

    /// `true` once a limit was exceeded: nothing more is read.
    var isExceeded: Bool { excess != nil }

    /// Counts what `later` has counted since it was the copy `earlier`.
    mutating func add(_ later: SourceBudget, since earlier: SourceBudget) {
        bytes += later.bytes - earlier.bytes
        text += later.text - earlier.text
        lists += later.lists - earlier.lists
        webFolders += later.webFolders - earlier.webFolders
        entries += later.entries - earlier.entries
    }

    /// Counts one more list or web folder to be read; `false` if that is one too many.
    mutating func take(webFolder: Bool) -> Bool {
        if webFolder {
            webFolders += 1
            return check(webFolders <= limits.webFolders, .webFolders)
        }
        lists += 1
        return check(lists <= limits.lists, .lists)
    }

    /// Counts bytes of a list; `false` if they are too many.
    mutating func take(bytes count: Int) -> Bool {
        bytes += count
        return check(bytes <= limits.bytes, .bytes)
    }

    /// Counts `tracks`; returns as many of them as the limits allow.
    mutating func take(_ tracks: [Track]) -> [Track] {
        for index in tracks.indices {
            let size = tracks[index].textSize
            guard check(entries < limits.entries, .entries),
                check(text + size <= limits.text, .text)
            else { return Array(tracks[..<index]) }
            entries += 1
            text += size
        }
        return tracks
    }

    private mutating func check(_ isWithin: Bool, _ limit: Limit) -> Bool {
        if !isWithin, excess == nil { excess = limit }
        return isWithin
    }

    /// The error that says which limit of the source `subject` was exceeded, and what was read; `nil` while
    /// none was.
    func error(about subject: SafeText) -> MediaError? {
        excess.map { limit in
            let read = CountText.of(entries, "track")
            return MediaError(.listTooLarge, subject, SafeText("more than \(words(of: limit)); read \(read)"))
        }
    }

    private func words(of limit: Limit) -> String {
        switch limit {
        case .bytes: "\(limits.bytes >> 20) MiB of playlists"
        case .entries: "\(limits.entries) tracks"
        case .text: "\(limits.text >> 20) MiB of text"
        case .lists: "\(limits.lists) playlists"
        case .webFolders: "\(limits.webFolders) folders"
        }
    }
}
