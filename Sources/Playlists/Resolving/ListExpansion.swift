import Media
import System

/// Reads a list and the lists within it, and passes their tracks on in the order of the entries.
///
/// A thin shell: `ExpansionState` decides, and this reads, several lists at a time and at low priority.
struct ListExpansion: Sendable {
    typealias Deliver = @Sendable (ResolvedTracks) async -> Void

    /// The first list of a source.
    enum Root: Sendable {
        case location(ResourceLocation)
        /// A resource that was opened to find out what it is.
        case opened(ResourceLocation, any ResourceReader)
        case standardInput([UInt8], workingFolder: String)
    }

    /// More would only share the same connection.
    private static let readsAtATime = 4

    let root: Root
    /// The identities of the lists that led to `root`, outermost first.
    var ancestors: [String] = []
    let open: SourceResolver.Open
    let thread: WorkThread
    let budget: SourceBudget

    /// Reads everything. Calls `deliver` as soon as further tracks are known in order, and at the end with
    /// all problems and the lists that were read.
    ///
    /// Throws the error of the first list if that cannot be used, and the first problem if there is no track.
    /// If the task is cancelled, delivers the tracks that are known then, and throws `CancellationError`.
    func run(_ deliver: Deliver) async throws {
        var state = ExpansionState(root: root.location, ancestors: ancestors)
        do {
            try await readAll(&state, deliver)
        } catch is CancellationError {
            let known = state.takeAll().tracks
            if !known.isEmpty { await deliver(ResolvedTracks(tracks: known)) }
            throw CancellationError()
        }
    }

    private func readAll(_ state: inout ExpansionState, _ deliver: Deliver) async throws {
        var last = ResolvedTracks(tracks: [])
        var problems = PlaylistProblems()
        var isEmpty = true
        var isWebFolder = false
        try await withThrowingTaskGroup(of: Reading.self) { group in
            var reading = 0
            while true {
                while reading < Self.readsAtATime, let request = next(of: &state) {
                    if case .web(let url) = request.location { last.lists.append(url) }
                    group.addTask { (request, try await read(request)) }
                    reading += 1
                }
                guard reading > 0, let (request, result) = try await group.next() else { break }
                reading -= 1
                if request.id == 0 { isWebFolder = (try? result.get())?.isWebFolder == true }
                try receive(result, of: request, &state)
                // The last tracks are delivered with the problems.
                if budget.isExceeded || state.isComplete { continue }
                let ready = state.takeReady()
                problems.add(ready.problems)
                guard !ready.tracks.isEmpty else { continue }
                isEmpty = false
                await deliver(ResolvedTracks(tracks: ready.tracks))
            }
        }
        let rest = state.takeAll()
        problems.add(rest.problems)
        last.tracks = rest.tracks
        last.problems = problems.all(of: root.subject)
        if let excess = budget.error(about: root.subject) { last.problems.append(excess) }
        guard !isEmpty || !last.tracks.isEmpty else {
            throw last.problems.first { $0.code != .leftOut }
                ?? (isWebFolder
                    ? problems.emptyFolder(root.subject)
                    : MediaError(.badPlaylist, root.subject, "the playlist is empty"))
        }
        await deliver(last)
    }

    /// The next list to read; `nil` if none waits or a limit was exceeded. Lists that are nested too deeply
    /// become problems.
    private func next(of state: inout ExpansionState) -> ExpansionState.Request? {
        while !budget.isExceeded, let request = state.next() {
            if request.ancestors.count < budget.limits.depth {
                return budget.spend(1, of: request.isWebFolder ? .webFolders : .lists) ? request : nil
            }
            let what = request.isWebFolder ? "folders" : "playlists"
            let cause = SafeText("\(what) are nested too deeply (more than \(budget.limits.depth) levels)")
            state.failed(request.id, MediaError(.badPlaylist, request.location.safeText, cause))
        }
        return nil
    }

    // MARK: Reading one list

    private typealias Reading = (ExpansionState.Request, Result<ListContents, MediaError>)

    /// Passes the result on to the state. Throws the error of the first list, unless a limit ended it.
    private func receive(
        _ result: Result<ListContents, MediaError>,
        of request: ExpansionState.Request,
        _ state: inout ExpansionState
    ) throws(MediaError) {
        switch result {
        case .success(var contents):
            contents.tracks = budget.limited(contents.tracks)
            for index in contents.nested.indices {
                contents.nested[index].tracksBehind = budget.limited(contents.nested[index].tracksBehind)
            }
            state.read(request.id, contents)
        case .failure(let error):
            guard !budget.isExceeded else { return }
            guard request.id > 0 else { throw error }
            state.failed(request.id, error)
        }
    }

    /// Reads the list of `request`. Throws only `CancellationError`.
    private func read(_ request: ExpansionState.Request) async throws -> Result<ListContents, MediaError> {
        let identity = await thread.identity(of: request.location)
        do {
            guard !request.ancestors.contains(identity) else {
                throw MediaError(.badPlaylist, request.location.safeText, "the playlist contains itself")
            }
            var contents = try await contents(of: request)
            contents.identity = identity
            return .success(contents)
        } catch let error as MediaError {
            return .failure(error)
        }
    }

    private func contents(of request: ExpansionState.Request) async throws -> ListContents {
        if request.id == 0, case .standardInput(let bytes, let folder) = root {
            try count(bytes.count, of: root.subject)
            let list = ListFile(subject: root.subject, name: "", base: .folder(folder))
            return try await parsed(bytes, of: list)
        }
        switch request.location {
        case .file(let path):
            let list = ListFile(at: request.location)
            let bytes = try await thread.run { [budget] in
                try LocalFile.read(path, limit: budget.limits.bytes)
            }
            try count(bytes.count, of: list.subject)
            return try await parsed(bytes, of: list)
        case .web(let url):
            if request.id == 0, case .opened(_, let reader) = root {
                return try await contents(of: reader, at: url)
            }
            return try await contents(of: try await open(request.location, true), at: url)
        }
    }

    /// Reads the list at `url` to its end, and closes `reader`.
    private func contents(of reader: any ResourceReader, at url: WebURL) async throws -> ListContents {
        // A track that plays at the same time comes first.
        reader.setPriority(isLow: true)
        do {
            let bytes = try await download(reader, subject: url.safeText)
            let report = reader.report
            // Relative entries count from the URL that answered, with the user's password for its server.
            let base = report.redirectedTo.flatMap { url.resolving($0.requestString) } ?? url
            let list = ListFile(at: url, answering: base)
            let contents = try await parsed(bytes, of: list, contentType: report.contentType)
            await reader.close()
            return contents
        } catch {
            // A body that is not a playlist, such as a login page, must not stay in the cache.
            if (error as? MediaError)?.code == .badPlaylist { await reader.reject() }
            await reader.close()
            throw error
        }
    }

    /// Reads all bytes of `source`. Throws `.listTooLarge` if there are too many, `.emptyResource` if there
    /// are none, and the errors of the source.
    private func download(_ source: any ByteSource, subject: SafeText) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        while true {
            // Checked before each read, since only the first response states the length.
            if let length = source.length, length > Int64(budget.limits.bytes) {
                try count(Int(length), of: subject)
            }
            let chunk = try await source.read(at: Int64(bytes.count), count: 256 * 1024)
            if chunk.isEmpty { break }
            try count(chunk.count, of: subject)
            bytes += chunk
            if source.length == Int64(bytes.count) { break }
        }
        guard !bytes.isEmpty else { throw LocalFile.empty(subject) }
        return bytes
    }

    /// Counts bytes of the list `subject`. Throws `.listTooLarge` if those of the source are too many.
    private func count(_ bytes: Int, of subject: SafeText) throws(MediaError) {
        guard budget.spend(bytes, of: .bytes) else { throw LocalFile.tooLarge(subject) }
    }

    private func parsed(
        _ bytes: [UInt8],
        of list: ListFile,
        contentType: String? = nil
    ) async throws -> ListContents {
        try await thread.run { [budget] in
            try ListContents(of: bytes, in: list, contentType: contentType, limits: budget.limits)
        }
    }
}

extension WorkThread {
    /// A text that is the same for all spellings of `location`.
    func identity(of location: ResourceLocation) async -> String {
        switch location {
        case .web(let url): url.requestString
        case .file(let path): await run { FileName.realPath(of: path) }
        }
    }
}

extension ListExpansion.Root {
    var location: ResourceLocation {
        switch self {
        case .location(let location), .opened(let location, _): location
        case .standardInput: .file("-")
        }
    }

    /// The name of the source in errors.
    var subject: SafeText {
        switch self {
        case .location(let location), .opened(let location, _): location.safeText
        case .standardInput: "standard input"
        }
    }
}
