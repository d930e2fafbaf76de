/// One item of the queue.
package struct Track: Sendable, Equatable, Identifiable {
    /// Tells apart two items of one location; never used twice in a process.
    package struct ID: Hashable, Sendable, Comparable {
        package var value: UInt64

        package init(_ value: UInt64) { self.value = value }

        package static func < (left: ID, right: ID) -> Bool { left.value < right.value }
    }

    package var id: ID
    package var location: ResourceLocation
    /// What the playlist says; tags of the music itself win.
    package var tags: TrackTags
    /// What the playlist says.
    package var duration: Duration?

    package init(id: ID, location: ResourceLocation, tags: TrackTags = TrackTags(), duration: Duration? = nil)
    {
        self.id = id
        self.location = location
        self.tags = tags
        self.duration = duration
    }
}

/// What is said of a piece of music.
package struct TrackTags: Sendable, Equatable {
    package var title: SafeText?
    package var artist: SafeText?
    package var album: SafeText?
    package var year: SafeText?
    /// The number on its album, as written (`3` or `3/12`).
    package var number: SafeText?

    package init(
        title: SafeText? = nil,
        artist: SafeText? = nil,
        album: SafeText? = nil,
        year: SafeText? = nil,
        number: SafeText? = nil
    ) {
        self.title = title
        self.artist = artist
        self.album = album
        self.year = year
        self.number = number
    }

    /// These tags, with those of `other` where these say nothing.
    package func filled(from other: TrackTags) -> TrackTags {
        TrackTags(
            title: title ?? other.title,
            artist: artist ?? other.artist,
            album: album ?? other.album,
            year: year ?? other.year,
            number: number ?? other.number
        )
    }
}

/// What a track said of itself when it was opened.
package struct TrackFacts: Sendable, Equatable {
    package var tags: TrackTags
    /// Nil where it is not known, and for a live stream.
    package var duration: Duration?

    package init(tags: TrackTags = TrackTags(), duration: Duration? = nil) {
        self.tags = tags
        self.duration = duration
    }
}

/// Turns what a user names (file, folder, playlist, URL) into tracks.
package protocol TrackResolver: Sendable {
    /// The tracks of `source`, in order, at least one. Throws `MediaError`.
    ///
    /// `source` is as typed: a path, absolute or relative to the working directory, or a URL.
    func tracks(for source: String) async throws -> ResolvedTracks

    /// The same tracks. Where reading all of them takes a while, `begun` hears the first before it returns or throws:
    /// once at most, from any thread, at least one and in order; it must not wait.
    func tracks(
        for source: String,
        begun: @escaping @Sendable ([Track]) -> Void
    ) async throws -> ResolvedTracks
}

extension TrackResolver {
    /// A resolver that knows all tracks at once has nothing to begin with.
    package func tracks(
        for source: String,
        begun: @escaping @Sendable ([Track]) -> Void
    ) async throws -> ResolvedTracks {
        try await tracks(for: source)
    }
}

/// The tracks of a source, and what was wrong with single entries of it.
package struct ResolvedTracks: Sendable, Equatable {
    package var tracks: [Track]
    /// Entries that were passed over, each with its reason.
    package var problems: [MediaError]

    package init(tracks: [Track], problems: [MediaError] = []) {
        self.tracks = tracks
        self.problems = problems
    }
}
