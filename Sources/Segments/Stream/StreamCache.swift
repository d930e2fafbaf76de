package import Media

/// Caches the parts of recorded streams, each in the entry of the stream's list. Called from any task; `list`
/// is always the open reader of the stream's URL.
package struct StreamCache: Sendable {
    /// Opens a part, which is then cached. The number is at least its likely length.
    package var open:
        @Sendable (PartName, ResourceLocation, _ likelyLength: Int64, _ list: any ResourceReader) async throws
            -> any ResourceReader
    /// Opens a part if it is cached whole.
    package var openStored:
        @Sendable (PartName, ResourceLocation, _ list: any ResourceReader) async throws
            -> (any ResourceReader)?
    /// Caches a list that was requested from a location, in the place of an earlier one.
    package var keep:
        @Sendable (PartName, ResourceLocation, FetchedBody, _ list: any ResourceReader) async throws -> Void
    /// Replaces the stream at a URL by an empty one, and opens its list; `isChange` if it has changed on the
    /// server.
    package var replace: @Sendable (ResourceLocation, _ isChange: Bool) async throws -> any ResourceReader
    /// Opens the list of another rendition of the stream at a URL: the cached one whose stored form begins
    /// with these bytes, or an empty one.
    package var openRendition: @Sendable ([UInt8], ResourceLocation) async throws -> any ResourceReader
    /// `true` if the cached rendition plays whatever the setting says: it is pinned, or all of it is there.
    package var isKept: @Sendable () async -> Bool
    /// `true` while there is no network.
    package var isOffline: @Sendable () -> Bool

    package init(
        open:
            @escaping @Sendable (PartName, ResourceLocation, Int64, any ResourceReader) async throws
            -> any ResourceReader,
        openStored:
            @escaping @Sendable (PartName, ResourceLocation, any ResourceReader) async throws
            -> (any ResourceReader)?,
        keep:
            @escaping @Sendable (PartName, ResourceLocation, FetchedBody, any ResourceReader) async throws
            -> Void,
        replace: @escaping @Sendable (ResourceLocation, Bool) async throws -> any ResourceReader,
        openRendition:
            @escaping @Sendable ([UInt8], ResourceLocation) async throws -> any ResourceReader,
        isKept: @escaping @Sendable () async -> Bool,
        isOffline: @escaping @Sendable () -> Bool
    ) {
        self.open = open
        self.openStored = openStored
        self.keep = keep
        self.replace = replace
        self.openRendition = openRendition
        self.isKept = isKept
        self.isOffline = isOffline
    }
}
