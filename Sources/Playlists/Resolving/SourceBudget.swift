import Media
import System

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

/// Counts what is read of one source, and stops at its limits. Several tasks may count at the same time.
final class SourceBudget: Sendable {
    enum Limit: Int, CaseIterable { case bytes, entries, text, lists, webFolders }

    private struct Spent {
        var counts = [Int](repeating: 0, count: Limit.allCases.count)
        /// The first limit that was exceeded.
        var excess: Limit?
    }

    let limits: PlaylistLimits
    private let spent = Locked(Spent())

    init(_ limits: PlaylistLimits) { self.limits = limits }

    /// `true` once a limit was exceeded: nothing more is read.
    var isExceeded: Bool { spent.withLock { $0.excess != nil } }

    /// Counts what is about to be used; `false` if that is too much.
    func spend(_ count: Int, of limit: Limit) -> Bool {
        spent.withLock { spend(count, of: limit, &$0) }
    }

    /// Counts `tracks`; returns as many of them as the limits allow.
    func limited(_ tracks: [Track]) -> [Track] {
        spent.withLock { spent in
            let fitting = tracks.prefix {
                spend($0.textSize, of: .text, &spent) && spend(1, of: .entries, &spent)
            }
            // A single long list is not copied.
            return fitting.count == tracks.count ? tracks : Array(fitting)
        }
    }

    private func spend(_ count: Int, of limit: Limit, _ spent: inout Spent) -> Bool {
        let most =
            switch limit {
            case .bytes: limits.bytes
            case .entries: limits.entries
            case .text: limits.text
            case .lists: limits.lists
            case .webFolders: limits.webFolders
            }
        let sum = spent.counts[limit.rawValue] + count
        guard sum <= most else {
            spent.excess = spent.excess ?? limit
            return false
        }
        spent.counts[limit.rawValue] = sum
        return true
    }

    /// The error that says which limit of the source `subject` was exceeded, and what was read; `nil` while
    /// none was.
    func error(about subject: SafeText) -> MediaError? {
        let spent = spent.withLock { $0 }
        let words: String
        switch spent.excess {
        case nil: return nil
        case .bytes: words = "\(limits.bytes >> 20) MiB of playlists"
        case .entries: words = "\(limits.entries) tracks"
        case .text: words = "\(limits.text >> 20) MiB of text"
        case .lists: words = "\(limits.lists) playlists"
        case .webFolders: words = "\(limits.webFolders) folders"
        }
        let read = CountText.of(spent.counts[Limit.entries.rawValue], "track")
        return MediaError(.listTooLarge, subject, SafeText("more than \(words); read \(read)"))
    }
}
