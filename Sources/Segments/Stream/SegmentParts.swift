package import Media
package import System

/// What the reader of a stream needs of other modules.
package struct SegmentParts: Sendable {
    /// Decrypts whole blocks of AES-128 in CBC mode; the last parameter is the block before them.
    package typealias Decrypt =
        @Sendable (ArraySlice<UInt8>, _ key: [UInt8], _ vector: [UInt8]) async throws
        -> [UInt8]

    /// Opens a list, a key or a segment, whose bytes are not cached. Readers of one resource share them.
    package var open: @Sendable (ResourceLocation) async throws -> any ResourceReader
    /// Requests a list, whose bytes are not cached, unless it is still the one that the
    /// validators describe: then it has no bytes. Lists of more than `MediaPlaylist.mostBytes` are refused.
    package var request: @Sendable (ResourceLocation, Validators) async throws -> FetchedBody
    /// `nil` if recorded streams are not cached.
    package var cache: StreamCache?
    package var decrypt: Decrypt
    package var clock: any MonotonicClock
    /// How much music is loaded ahead of the decoder.
    package var readAhead: Duration
    package var quality: StreamQuality
    /// The codecs among which the rendition is chosen.
    package var played: Set<StreamCodec>
    /// Called from any task when segments were lost, once for each loss.
    package var onNotice: @Sendable (MediaError) -> Void

    package init(
        open: @escaping @Sendable (ResourceLocation) async throws -> any ResourceReader,
        request: @escaping @Sendable (ResourceLocation, Validators) async throws -> FetchedBody,
        cache: StreamCache? = nil,
        decrypt: @escaping Decrypt,
        clock: any MonotonicClock,
        readAhead: Duration,
        quality: StreamQuality = .high,
        played: Set<StreamCodec> = [.aac, .mpeg],
        onNotice: @escaping @Sendable (MediaError) -> Void
    ) {
        self.open = open
        self.request = request
        self.cache = cache
        self.decrypt = decrypt
        self.clock = clock
        self.readAhead = readAhead
        self.quality = quality
        self.played = played
        self.onNotice = onNotice
    }
}
