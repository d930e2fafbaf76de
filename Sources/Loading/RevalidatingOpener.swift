package import Media

/// Opens resources like its loaders, after asking the server whether what is stored is still current.
///
/// For playlists: they change, are small, and an old one serves where the network is away.
package struct RevalidatingOpener: ResourceOpener {
    private let loaders: Loaders

    package init(loaders: Loaders) { self.loaders = loaders }

    package func open(_ location: ResourceLocation) async throws -> any ResourceReader {
        try await loaders.openRevalidated(location)
    }
}
