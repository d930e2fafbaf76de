package import Media
import System

/// Turns SOURCE arguments into tracks: files, folders, playlists, URLs and standard input.
///
/// A single URL costs no request, a single file is not opened. Lists of the web are read through
/// the opener, so they are kept and shared like music. Blocking calls and long parsing run on a thread
/// of its own, which ends with the resolver. From any task, several at once.
package final class SourceResolver: TrackResolver {
    private let opener: any ResourceOpener
    private let workingFolder: String
    private let standardInput: @Sendable () throws -> [UInt8]
    private let limits: PlaylistLimits
    private let thread = WorkThread(name: "playlists")

    /// `workingFolder` is the absolute folder of relative paths. `standardInput` reads that stream to its
    /// end; it may block and is called on a thread of its own, once for each source `-`.
    package init(
        open opener: any ResourceOpener,
        workingFolder: String,
        standardInput: @escaping @Sendable () throws -> [UInt8] = { try LocalFile.readStandardInput() },
        limits: PlaylistLimits = PlaylistLimits()
    ) {
        self.opener = opener
        self.workingFolder = workingFolder
        self.standardInput = standardInput
        self.limits = limits
    }

    deinit { thread.stop() }

    /// Whether what is at `url` is read as a list, which its path's extension tells.
    package static func isList(_ url: WebURL) -> Bool { PlaylistFormat(extensionOf: url.path) != nil }

    /// The tracks of `source`, in order, at least one.
    ///
    /// Entries of lists that cannot be used become problems. Throws `MediaError`
    /// when nothing is left, and `CancellationError`.
    package func tracks(for source: String) async throws -> ResolvedTracks {
        try await resolved(source, begun: nil)
    }

    /// The same tracks. `begun` hears the first of a long M3U list, from the resolver's thread, as soon as these are
    /// read.
    package func tracks(
        for source: String,
        begun: @escaping @Sendable ([Track]) -> Void
    ) async throws -> ResolvedTracks {
        try await resolved(source, begun: begun)
    }

    private func resolved(
        _ source: String,
        begun: (@Sendable ([Track]) -> Void)?
    ) async throws -> ResolvedTracks {
        switch try Source(source, workingFolder: workingFolder) {
        case .standardInput: return try await standardInputTracks(begun)
        case .webTrack(let url):
            return ResolvedTracks(tracks: [Track(id: TrackIDs.take(), location: .web(url))])
        case .webList(let url): return try await listTracks(.web(url), begun)
        case .path(let path):
            switch try await thread.run({ try LocalFile.kind(of: path) }) {
            case .music:
                return ResolvedTracks(tracks: [Track(id: TrackIDs.take(), location: .file(path))])
            case .list: return try await listTracks(.file(path), begun)
            case .folder: return try await folderTracks(path)
            }
        }
    }

    /// Writes `tracks` as an M3U8 list, whole or not at all, on the resolver's thread.
    ///
    /// `path` is absolute or relative to the working folder; a list that is there is replaced.
    /// Throws `MediaError` with `.notKept`.
    package func save(_ tracks: [Track], to path: String) async throws {
        let path = PlaylistBase.absolute(path, in: workingFolder)
        try await thread.run { try M3UWriter.save(tracks, to: path) }
    }

    private func folderTracks(_ path: String) async throws -> ResolvedTracks {
        let limits = limits
        let found = try await thread.run { try FolderScan(limits: limits).files(in: path) }
        let firstID = TrackIDs.take(found.paths.count).value
        let tracks = found.paths.enumerated().map { index, path in
            Track(id: Track.ID(firstID + UInt64(index)), location: .file(path))
        }
        return ResolvedTracks(tracks: tracks, problems: found.problems)
    }

    private func standardInputTracks(_ begun: (@Sendable ([Track]) -> Void)?) async throws -> ResolvedTracks {
        // Its end may be far away, and other sources must not wait for it.
        let reader = WorkThread(name: "stdin list")
        defer { reader.stop() }
        let bytes = try await reader.run(standardInput)
        var expansion = ListExpansion(opener: opener, thread: thread, limits: limits, begun: begun)
        let base = PlaylistBase.folder(workingFolder)
        try await expansion.add(bytes, base: base, subject: "standard input")
        return try expansion.resolved(of: "standard input")
    }

    private func listTracks(
        _ location: ResourceLocation,
        _ begun: (@Sendable ([Track]) -> Void)?
    ) async throws -> ResolvedTracks {
        var expansion = ListExpansion(opener: opener, thread: thread, limits: limits, begun: begun)
        try await expansion.addList(at: location, ancestors: [])
        return try expansion.resolved(of: location.safeText)
    }
}
