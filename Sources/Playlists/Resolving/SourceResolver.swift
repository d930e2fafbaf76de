package import Media
import Synchronization
import System

/// Turns SOURCE arguments into tracks: files, folders, playlists, URLs and standard input.
///
/// A single URL costs no request, and a single file is not opened. Lists from the web are read through the opener, so
/// they are cached and shared like music. Blocking calls and parsing run on a thread that ends with the resolver. All
/// calls may be made from any task, several at once.
package final class SourceResolver: TrackResolver {
    private let opener: any ResourceOpener
    private let workingFolder: String
    private let standardInput: @Sendable () throws -> [UInt8]
    private let limits: PlaylistLimits
    private let thread = WorkThread(name: "playlists")

    /// `workingFolder` is absolute and the base of relative paths. `standardInput` reads that stream to its end; it may
    /// block and is called on a thread of its own, once for each source `-`.
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

    /// `true` if the resource at `url` is read as a playlist, which the extension of its path decides.
    package static func isList(_ url: WebURL) -> Bool { PlaylistFormat(extensionOf: url.path) != nil }

    /// Resolves `source`; returns its tracks in order, at least one.
    ///
    /// Entries that cannot be used become problems. Throws `MediaError` if no track is left, and `CancellationError`.
    package func tracks(for source: String) async throws -> ResolvedTracks {
        switch try Source(source, workingFolder: workingFolder) {
        case .standardInput: return try await standardInputTracks()
        case .webTrack(let url):
            return ResolvedTracks(tracks: [Track(id: TrackIDs.take(), location: .web(url))])
        case .webList(let url): return try await listTracks(.web(url))
        case .path(let path):
            switch try await thread.run({ try LocalFile.kind(of: path) }) {
            case .music:
                return ResolvedTracks(tracks: [Track(id: TrackIDs.take(), location: .file(path))])
            case .list: return try await listTracks(.file(path))
            case .folder: return try await folderTracks(path)
            }
        }
    }

    /// Writes `tracks` as an M3U8 list, atomically, on the resolver's thread.
    ///
    /// `path` is absolute or relative to the working folder; an existing list is replaced. Throws `MediaError` with
    /// `.notCached`.
    package func save(_ tracks: [Track], to path: String) async throws {
        let path = PlaylistBase.absolute(path, in: workingFolder)
        try await thread.run { try M3UWriter.save(tracks, to: path) }
    }

    private func folderTracks(_ path: String) async throws -> ResolvedTracks {
        let found = try await thread.run { [limits] in try FolderScan(limits: limits).files(in: path) }
        let firstID = TrackIDs.take(found.paths.count).value
        let tracks = found.paths.enumerated().map { index, path in
            Track(id: Track.ID(firstID + UInt64(index)), location: .file(path))
        }
        return ResolvedTracks(tracks: tracks, problems: found.problems)
    }

    private func standardInputTracks() async throws -> ResolvedTracks {
        // A thread of its own, since standard input may stay open for long and must not delay other sources.
        let reader = WorkThread(name: "stdin list")
        defer { reader.stop() }
        let bytes = try await reader.run(standardInput)
        var expansion = ListExpansion(opener: opener, thread: thread, limits: limits)
        try await expansion.add(bytes, base: .folder(workingFolder), subject: "standard input")
        return try expansion.resolved(of: "standard input")
    }

    private func listTracks(_ location: ResourceLocation) async throws -> ResolvedTracks {
        var expansion = ListExpansion(opener: opener, thread: thread, limits: limits)
        try await expansion.addList(at: location, ancestors: [])
        return try expansion.resolved(of: location.safeText)
    }
}

/// The meaning of a SOURCE argument, before anything is opened. Pure.
private enum Source {
    case standardInput
    /// Absolute.
    case path(String)
    case webTrack(WebURL)
    case webList(WebURL)

    /// Parses `text` as typed; paths are relative to `workingFolder`.
    ///
    /// A URL is a list only if its path has a list's extension. Everything else is opened as music, which
    /// costs the one request of a cold start; checking its type first would cost a second request. Throws
    /// `.unsupportedScheme`, `.badURL`, or `.notFound` for an empty text.
    init(_ text: String, workingFolder: String) throws(MediaError) {
        guard text != "-" else {
            self = .standardInput
            return
        }
        switch Reference(text) {
        case .web:
            guard let url = WebURL(text) else { throw Reference.badURL(text) }
            self = SourceResolver.isList(url) ? .webList(url) : .webTrack(url)
        case .file:
            self = .path(try Reference.path(ofFileURL: text))
        case .other:
            throw Reference.unsupportedScheme(text)
        case .relative:
            guard !text.isEmpty, !text.utf8.contains(0) else {
                throw MediaError(.notFound, "the source", "it is empty")
            }
            self = .path(PlaylistBase.absolute(text, in: workingFolder))
        }
    }
}

/// Issues track IDs, each only once in the life of the process. May be called from any thread.
package enum TrackIDs {
    private static let next = Atomic<UInt64>(1)

    /// A new ID.
    package static func take() -> Track.ID { take(1) }

    /// The first of `count` consecutive new IDs.
    package static func take(_ count: Int) -> Track.ID {
        Track.ID(next.wrappingAdd(UInt64(max(0, count)), ordering: .relaxed).oldValue)
    }
}
