package import Media

/// One entry of a playlist, as the list says it.
package struct PlaylistEntry: Sendable, Equatable {
    /// A path or URL, absolute or relative, as written; outside text.
    package var reference: String
    /// Whether `reference` is a URI throughout (XSPF), so that escapes in a local name mean
    /// characters. Elsewhere a local name is a path, and its `%` is a percent sign.
    package var isURI: Bool
    package var tags: TrackTags
    /// How long the list says the music is; nil for unknown, which lists write as -1 or 0.
    package var duration: Duration?

    package init(
        reference: String,
        isURI: Bool = false,
        tags: TrackTags = TrackTags(),
        duration: Duration? = nil
    ) {
        self.reference = reference
        self.isURI = isURI
        self.tags = tags
        self.duration = duration
    }
}
