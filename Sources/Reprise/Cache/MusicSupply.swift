import Media

/// The functions with which `reprise cache` resolves, downloads and decodes tracks.
struct MusicSupply: Sendable {
    /// Resolves sources into tracks.
    let resolver: any TrackResolver
    /// Opens a track; its bytes are cached.
    let opener: any ResourceOpener
    /// Chooses and creates the decoder of an open resource.
    let makeDecoder: @Sendable (any ResourceReader, ResourceLocation) async throws -> any AudioDecoder
    /// Returns `true` if the content of a whole resource does not match a checksum that it contains.
    let isDamaged: @Sendable (any ByteSource) async throws -> Bool
    /// The last error that says why something could not be cached.
    let lastNotCached: @Sendable () -> MediaError?
    /// Closes the music that `resolver` opened to see what it is. Nothing may be resolved meanwhile.
    let closeOpened: @Sendable () async -> Void
    /// Closes connections and ends threads.
    let shutdown: @Sendable () async -> Void
}
