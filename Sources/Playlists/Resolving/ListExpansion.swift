import Media
import System

/// Opens a list and the lists within it, and joins their tracks in the order of the entries.
///
/// One use, for one source. A nested list that cannot be used becomes a problem; the first one throws.
struct ListExpansion {
    let opener: any ResourceOpener
    let thread: WorkThread
    let limits: PlaylistLimits

    /// Hears the first tracks of the outermost list before the others are read, where that is a long one; nil once
    /// that list is being read.
    private var begun: (@Sendable ([Track]) -> Void)?
    private var tracks: [Track] = []
    private var problems = PlaylistProblems()
    private var listCount = 0

    init(
        opener: any ResourceOpener,
        thread: WorkThread,
        limits: PlaylistLimits,
        begun: (@Sendable ([Track]) -> Void)?
    ) {
        self.opener = opener
        self.thread = thread
        self.limits = limits
        self.begun = begun
    }

    /// What was found; throws the first problem when it is no track at all.
    func resolved(of subject: SafeText) throws(MediaError) -> ResolvedTracks {
        let problems = problems.all(of: subject)
        guard !tracks.isEmpty else {
            throw problems.first ?? MediaError(.badPlaylist, subject, "the playlist names no music")
        }
        return ResolvedTracks(tracks: tracks, problems: problems)
    }

    /// Adds the list at `location`. `ancestors` are the identities of the lists that led here.
    mutating func addList(at location: ResourceLocation, ancestors: [String]) async throws {
        let subject = location.safeText
        listCount += 1
        guard listCount <= limits.lists else {
            let cause = SafeText("more than \(limits.lists) playlists are nested, which is too many")
            throw MediaError(.badPlaylist, subject, cause)
        }
        guard ancestors.count < limits.depth else {
            let cause = SafeText("playlists are nested more than \(limits.depth) deep")
            throw MediaError(.badPlaylist, subject, cause)
        }
        let identity = try await identity(of: location)
        guard !ancestors.contains(identity) else {
            throw MediaError(.badPlaylist, subject, "the playlist contains itself")
        }
        let contents = try await contents(of: location, subject: subject, begun: takeBegun())
        try await add(contents, ancestors: ancestors + [identity])
    }

    /// Adds the outermost list, which `bytes` hold.
    mutating func add(_ bytes: [UInt8], base: PlaylistBase, subject: SafeText) async throws {
        let contents = try await parsed(
            bytes,
            base: base,
            expected: nil,
            subject: subject,
            begun: takeBegun()
        )
        try await add(contents, ancestors: [])
    }

    private mutating func add(_ contents: ListContents, ancestors: [String]) async throws {
        problems.add(contents.problems)
        var added = 0
        for list in contents.nested {
            try add(contents.tracks[added..<list.tracksBefore])
            added = list.tracksBefore
            do {
                try await addList(at: list.location, ancestors: ancestors)
            } catch let problem as MediaError {
                problems.add(problem)
            }
        }
        try add(contents.tracks[added...])
    }

    private mutating func add(_ more: ArraySlice<Track>) throws(MediaError) {
        guard tracks.count + more.count <= limits.entries else {
            let cause = SafeText("the playlist has more than \(limits.entries) entries, which is too long")
            throw MediaError(.badPlaylist, more.first?.location.safeText ?? "the playlist", cause)
        }
        if tracks.isEmpty { tracks = Array(more) } else { tracks += more }
    }

    private mutating func takeBegun() -> (@Sendable ([Track]) -> Void)? {
        defer { begun = nil }
        return begun
    }

    /// What is the same for two spellings of one place.
    private func identity(of location: ResourceLocation) async throws -> String {
        switch location {
        case .web(let url): url.requestString
        case .file(let path): await thread.run { LocalFile.realPath(of: path) }
        }
    }

    private func contents(
        of location: ResourceLocation,
        subject: SafeText,
        begun: (@Sendable ([Track]) -> Void)?
    ) async throws -> ListContents {
        let expected = PlaylistFormat(extensionOf: location.path)
        let base = location.playlistBase
        switch location {
        case .file(let path):
            let limits = limits
            return try await thread.run {
                let beginning = Self.begin(begun, base, expected, subject, limits) {
                    LocalFile.head(of: path, limits: limits)
                }
                return try ListContents(
                    bytes: try LocalFile.read(path, limit: limits.bytes),
                    behind: beginning,
                    base: base,
                    expected: expected,
                    subject: subject,
                    limits: limits,
                    fileExists: LocalFile.exists
                )
            }
        case .web:
            let reader = try await opener.open(location)
            do {
                let bytes = try await RemoteList.read(reader, subject: subject, limit: limits.bytes)
                let contents = try await parsed(
                    bytes,
                    base: base,
                    expected: expected,
                    subject: subject,
                    begun: begun
                )
                await reader.close()
                return contents
            } catch {
                // A web page in a list's place is nothing to keep.
                if (error as? MediaError)?.code == .badPlaylist { await reader.reject() }
                await reader.close()
                throw error
            }
        }
    }

    private func parsed(
        _ bytes: [UInt8],
        base: PlaylistBase,
        expected: PlaylistFormat?,
        subject: SafeText,
        begun: (@Sendable ([Track]) -> Void)?
    ) async throws -> ListContents {
        let limits = limits
        return try await thread.run {
            let beginning = Self.begin(begun, base, expected, subject, limits) {
                guard bytes.count > limits.longList else { return nil }
                let isShort = bytes.count / 2 < limits.entries
                let most = isShort ? 0 : 1 + bytes.withUnsafeBufferPointer(M3UParser.lineStarts)
                return most <= limits.entries ? Array(bytes.prefix(limits.beginning)) : nil
            }
            return try ListContents(
                bytes: bytes,
                behind: beginning,
                base: base,
                expected: expected,
                subject: subject,
                limits: limits,
                fileExists: LocalFile.exists
            )
        }
    }

    /// Tells `begun`, if anybody wants to know, what the list begins with whose start is `head`. That is nil for a list
    /// that is short, or could have too many entries.
    private static func begin(
        _ begun: (([Track]) -> Void)?,
        _ base: PlaylistBase,
        _ expected: PlaylistFormat?,
        _ subject: SafeText,
        _ limits: PlaylistLimits,
        head: () -> [UInt8]?
    ) -> ListBeginning? {
        guard let begun, let head = head(),
            let beginning = ListBeginning(
                head: head,
                base: base,
                expected: expected,
                subject: subject,
                limits: limits,
                fileExists: LocalFile.exists
            )
        else { return nil }
        begun(beginning.contents.tracks)
        return beginning
    }
}
