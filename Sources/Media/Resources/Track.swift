import System

/// An item of the queue.
///
/// Copies share what a list states of the track, so that a queue of 100,000 tracks is quick to sort and to
/// copy.
package struct Track: Sendable, Equatable, Identifiable {
    /// Distinguishes items with the same location; never used twice in a process.
    package struct ID: Hashable, Sendable, Comparable {
        package var value: UInt64

        package init(_ value: UInt64) { self.value = value }

        package static func < (left: ID, right: ID) -> Bool { left.value < right.value }
    }

    package var id: ID
    /// `true` if the episode was heard to its end, or marked as played; always `false` for other tracks.
    package var isPlayed = false
    /// `true` if a listing of a web folder named it.
    package var isListed = false
    /// `nil` if the track did not come from a feed.
    package var episode: Episode?
    private var entry: Shared<Entry>

    package var location: ResourceLocation {
        get { entry.value.location }
        set { entry.value.location = newValue }
    }
    /// The tags in the playlist; see `tags(with:)`.
    package var tags: TrackTags {
        get { entry.value.tags }
        set { entry.value.tags = newValue }
    }
    /// The duration that the playlist states; `nil` if unknown.
    package var duration: Duration? {
        get { entry.value.duration }
        set { entry.value.duration = newValue }
    }
    /// The path or URL of the list that names the track from elsewhere, without a password; `nil` if none
    /// does, or if the list lies in the folder of the track or above it.
    package var list: String? {
        get { entry.value.list }
        set { entry.value.list = newValue }
    }
    /// The identities of the lists that were found where music was expected and that led to this track,
    /// outermost first.
    package var foundLists: [String] {
        get { entry.value.foundLists }
        set { entry.value.foundLists = newValue }
    }

    package init(
        id: ID,
        location: ResourceLocation,
        tags: TrackTags = TrackTags(),
        duration: Duration? = nil,
        episode: Episode? = nil,
        list: String? = nil
    ) {
        self.id = id
        self.episode = episode
        entry = Shared(Entry(location: location, tags: tags, duration: duration, list: list))
    }

    /// The facts that the playlist, folder or feed of the track states.
    private struct Entry: Sendable, Equatable {
        var location: ResourceLocation
        var tags: TrackTags
        var duration: Duration?
        var list: String?
        var foundLists: [String] = []

        var textSize: Int {
            switch location {
            case .file(let path): path.utf8.count + tags.textSize
            case .web(let url):
                url.host.utf8.count + url.path.utf8.count + (url.query?.utf8.count ?? 0) + tags.textSize
            }
        }
    }

    /// The bytes of its location and tags in UTF-8.
    package var textSize: Int { entry.value.textSize }

    /// All known tags, if the file has the tags `found`. A file's own tags take precedence over those of a
    /// playlist, but not over those of a feed: publishers maintain the titles in their feeds, and hardly
    /// those in their files.
    package func tags(with found: TrackTags) -> TrackTags {
        episode == nil ? found.filled(from: tags) : tags.filled(from: found)
    }

    /// The track with the tags and duration of `facts`, if they are known, instead of those of its playlist.
    package func described(by facts: TrackFacts?) -> Track {
        guard let facts else { return self }
        var entry = entry.value
        entry.tags = facts.tags
        entry.duration = facts.duration
        var track = self
        track.entry = Shared(entry)
        return track
    }
}

/// A value that its copies share: a copy takes one reference count, however many parts the value has.
struct Shared<Value: Sendable & Equatable>: Sendable, Equatable {
    /// Never changed, so that threads can share it.
    private final class Storage: Sendable {
        let value: Value

        init(_ value: Value) { self.value = value }
    }

    private var storage: Storage

    init(_ value: Value) { storage = Storage(value) }

    var value: Value {
        get { storage.value }
        set { storage = Storage(newValue) }
    }

    static func == (left: Self, right: Self) -> Bool {
        left.storage === right.storage || left.value == right.value
    }
}

/// Tags and duration of a track as found when it was opened.
package struct TrackFacts: Sendable, Equatable {
    package var tags: TrackTags
    /// `nil` if unknown, and for a live stream.
    package var duration: Duration?
    /// `true` if a decoder has stated the exact duration. Not stored.
    package var isExact: Bool

    package init(tags: TrackTags = TrackTags(), duration: Duration? = nil, isExact: Bool = false) {
        self.tags = tags
        self.duration = duration
        self.isExact = isExact
    }
}

/// Turns a SOURCE (file, folder, playlist or URL) into tracks.
package protocol TrackResolver: Sendable {
    /// Resolves `source`, and calls `deliver` with its tracks in order, at least one, in one part or in
    /// several. The last part has the problems. Throws `MediaError`.
    ///
    /// `source` is as typed: a path, absolute or relative to the working directory, or a URL.
    func resolve(_ source: String, deliver: @Sendable (ResolvedTracks) async -> Void) async throws

    /// Resolves `source` likewise. `isForeign` is `true` if another program named it, not the user: then its
    /// server gets none of the user's secrets.
    func resolve(
        _ source: String,
        isForeign: Bool,
        deliver: @Sendable (ResolvedTracks) async -> Void
    ) async throws

    /// The tracks of the list that `track`, whose resource is open as `reader`, turned out to be; `nil` if it
    /// is no list. Throws `MediaError` if the list can't be used.
    ///
    /// Uses the bytes that `reader` has read before, without a request for them. The caller closes `reader`.
    func list(at track: Track, openAs reader: any ResourceReader) async throws -> ResolvedTracks?
}

extension TrackResolver {
    /// By default, a resolver has no secrets.
    package func resolve(
        _ source: String,
        isForeign: Bool,
        deliver: @Sendable (ResolvedTracks) async -> Void
    ) async throws { try await resolve(source, deliver: deliver) }

    /// By default, no track is a list.
    package func list(at track: Track, openAs reader: any ResourceReader) async throws -> ResolvedTracks? {
        nil
    }

    /// Resolves `source`, and returns all of its tracks at once.
    package func tracks(for source: String) async throws -> ResolvedTracks {
        let all = Locked(ResolvedTracks(tracks: []))
        try await resolve(source) { part in all.withLock { $0.add(part) } }
        return all.withLock { $0 }
    }
}

/// The tracks of a source, and the problems with single entries.
package struct ResolvedTracks: Sendable, Equatable {
    package var tracks: [Track]
    /// The reasons why entries were skipped.
    package var problems: [MediaError]
    /// The lists from the web that were read: the source itself, and those within it.
    package var lists: [WebURL] = []

    package init(tracks: [Track], problems: [MediaError] = []) {
        self.tracks = tracks
        self.problems = problems
    }

    /// Adds a part that follows.
    package mutating func add(_ part: ResolvedTracks) {
        // A single long list is not copied.
        if tracks.isEmpty { tracks = part.tracks } else { tracks += part.tracks }
        problems += part.problems
        lists += part.lists
    }
}
