package import Media
import Synchronization
import System

/// Turns SOURCE arguments into tracks: files, folders, playlists, URLs and standard input.
///
/// A URL that does not name a list costs no request. A file is opened only if it is a list, or if its name
/// does not show its kind. Lists from the web are read through `opener`, so they are cached and shared like
/// music. Blocking calls and parsing run on a thread that ends with the resolver. All calls may be made from
/// any task, several at once.
package final class SourceResolver: TrackResolver {
    private let opener: any ResourceOpener
    private let workingFolder: String
    private let standardInput: @Sendable () throws -> [UInt8]
    private let limits: PlaylistLimits
    private let thread = WorkThread(name: "playlists")

    /// `workingFolder` is absolute and the base of relative paths. `standardInput` reads standard input to
    /// its end. It may block, and is called on a thread of its own, once for each source `-`.
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

    /// Resolves `source`; returns its tracks in order, at least one.
    ///
    /// Entries that cannot be used become problems. Throws `MediaError` if no track is left, and
    /// `CancellationError` if the task is cancelled.
    package func tracks(for source: String) async throws -> ResolvedTracks {
        guard source != "-" else { return try await standardInputTracks() }
        let location = try location(of: source)
        switch try await kind(of: location) {
        case .list:
            var expansion = ListExpansion(opener: opener, thread: thread, limits: limits)
            try await expansion.addList(at: location, ancestors: [])
            return try expansion.resolved(of: location.safeText)
        case .folder:
            let path = location.path
            return try await thread.run { [limits] in try FolderScan(limits: limits).tracks(in: path) }
        case .music, .unknown:
            return ResolvedTracks(tracks: [Track(id: TrackIDs.take(), location: location)])
        }
    }

    /// The location that `source` names; opens nothing. Relative paths start at the working folder.
    ///
    /// Throws `.unsupportedScheme`, `.badURL`, or `.notFound` for an empty text.
    private func location(of source: String) throws(MediaError) -> ResourceLocation {
        switch Reference(source) {
        case .web:
            guard let url = WebURL(source) else { throw Reference.badURL(source) }
            return .web(url)
        case .file:
            return .file(try Reference.path(ofFileURL: source))
        case .other:
            throw Reference.unsupportedScheme(source)
        case .relative:
            guard !source.isEmpty, !source.utf8.contains(0) else {
                throw MediaError(.notFound, "the source", "it is empty")
            }
            return .file(PlaylistBase.absolute(source, in: workingFolder))
        }
    }

    /// The kind of the resource at `location`. For a URL, only its name decides, because checking its content
    /// type would cost a second request.
    private func kind(of location: ResourceLocation) async throws -> ResourceKind {
        switch location {
        case .web(let url): ResourceKind.of(name: url.path)
        case .file(let path): try await thread.run { try LocalFile.kind(of: path) }
        }
    }

    /// Writes `tracks` as an M3U8 list, atomically, on the resolver's thread.
    ///
    /// `path` is absolute or relative to the working folder; an existing list is replaced. Throws
    /// `MediaError` with `.notCached`.
    package func save(_ tracks: [Track], to path: String) async throws {
        let path = PlaylistBase.absolute(path, in: workingFolder)
        try await thread.run { try M3UWriter.save(tracks, to: path) }
    }

    private func standardInputTracks() async throws -> ResolvedTracks {
        // A thread of its own, since standard input may stay open for long and must not delay other sources.
        let reader = WorkThread(name: "stdin list")
        defer { reader.stop() }
        let bytes = try await reader.run(standardInput)
        var expansion = ListExpansion(opener: opener, thread: thread, limits: limits)
        try await expansion.addStandardInput(bytes, workingFolder: workingFolder)
        return try expansion.resolved(of: "standard input")
    }
}

/// Issues track IDs, each only once in the life of the process. May be called from any thread.
enum TrackIDs {
    private static let next = Atomic<UInt64>(1)

    /// A new ID.
    static func take() -> Track.ID { Track.ID(next.wrappingAdd(1, ordering: .relaxed).oldValue) }
}
