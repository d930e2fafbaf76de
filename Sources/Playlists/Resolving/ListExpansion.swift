import Media
import System

/// Reads a list and the lists within it, and passes their tracks on in the order of the entries.
///
/// A thin shell: `ExpansionState` decides, and this class reads, several lists at a time and at low priority.
/// Use an instance once, for one source.
final class ListExpansion: Sendable {
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

    private let root: Root
    private let open: SourceResolver.Open
    private let thread: WorkThread
    private let limits: PlaylistLimits
    private let state: Locked<ExpansionState>

    /// `ancestors` are the identities of the lists that led to `root`, outermost first.
    init(
        of root: Root,
        ancestors: [String] = [],
        open: @escaping SourceResolver.Open,
        thread: WorkThread,
        budget: SourceBudget
    ) {
        self.root = root
        self.open = open
        self.thread = thread
        limits = budget.limits
        state = Locked(ExpansionState(root: root.location, ancestors: ancestors, budget: budget))
    }

    /// The counts of lists, tracks and bytes read so far.
    var budget: SourceBudget { state.withLock { $0.budget } }

    /// Reads everything. Calls `deliver` as soon as further tracks are known in order, and at the end with
    /// all problems and the lists that were read.
    ///
    /// Throws the error of the first list if that cannot be used, and the first problem if there is no track.
    /// If the task is cancelled, delivers the tracks that are known then, and throws `CancellationError`.
    func run(_ deliver: Deliver) async throws {
        do {
            try await readAll(deliver)
        } catch is CancellationError {
            let known = state.withLock { state in
                state.stop()
                return state.take()
            }
            if !known.tracks.isEmpty { await deliver(ResolvedTracks(tracks: known.tracks)) }
            throw CancellationError()
        }
    }

    private func readAll(_ deliver: Deliver) async throws {
        var found = ResolvedTracks(tracks: [])
        var problems = PlaylistProblems()
        var count = 0
        try await withThrowingTaskGroup(of: Reading.self) { group in
            var reading = 0
            while true {
                while reading < Self.readsAtATime, let request = state.withLock({ $0.next() }) {
                    if case .web(let url) = request.location { found.lists.append(url) }
                    group.addTask { try await self.read(request) }
                    reading += 1
                }
                guard reading > 0, let done = try await group.next() else { break }
                reading -= 1
                try take(done)
                let (isExceeded, isWaiting) = state.withLock { ($0.budget.isExceeded, $0.isWaiting) }
                // The last tracks are delivered with the problems.
                if isExceeded || (reading == 0 && !isWaiting) { continue }
                let ready = state.withLock { $0.take() }
                problems.add(ready.problems)
                count += ready.tracks.count
                if !ready.tracks.isEmpty { await deliver(ResolvedTracks(tracks: ready.tracks)) }
            }
        }
        let last = state.withLock { $0.take() }
        problems.add(last.problems)
        found.tracks = last.tracks
        count += last.tracks.count
        found.problems = problems.all(of: root.subject)
        if let excess = state.withLock({ $0.budget.error(about: root.subject) }) {
            found.problems.append(excess)
        }
        guard count > 0 else {
            throw found.problems.first { $0.code != .leftOut } ?? nothingFound(with: problems)
        }
        await deliver(found)
    }

    private func nothingFound(with problems: PlaylistProblems) -> MediaError {
        state.withLock { $0.isRootWebFolder }
            ? problems.emptyFolder(root.subject)
            : MediaError(.badPlaylist, root.subject, "the playlist is empty")
    }

    // MARK: Reading one list

    private struct Reading: Sendable {
        var request: ExpansionState.Request
        var result: Result<ListContents, MediaError>
        /// A text that is the same for all spellings of the list's location.
        var identity: String
    }

    /// Passes the result on to the state. Throws the error of the first list, unless a limit ended it.
    private func take(_ done: Reading) throws(MediaError) {
        switch done.result {
        case .success(let contents):
            state.withLock { $0.read(done.request.id, contents, identity: done.identity) }
        case .failure(let error):
            let isExceeded = state.withLock { state in
                if !state.budget.isExceeded { state.failed(done.request.id, error) }
                return state.budget.isExceeded
            }
            if done.request.id == 0, !isExceeded { throw error }
        }
    }

    /// Reads the list of `request`. Throws only `CancellationError`.
    private func read(_ request: ExpansionState.Request) async throws -> Reading {
        let identity = await thread.identity(of: request.location)
        var reading = Reading(request: request, result: .success(ListContents()), identity: identity)
        do {
            guard !request.ancestors.contains(identity) else {
                throw MediaError(.badPlaylist, request.location.safeText, "the playlist contains itself")
            }
            reading.result = .success(try await contents(of: request))
        } catch let error as MediaError {
            reading.result = .failure(error)
        }
        return reading
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
            let bytes = try await thread.run { [limits] in try LocalFile.read(path, limit: limits.bytes) }
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
            if let length = source.length, length > Int64(limits.bytes) {
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
        let isWithin = state.withLock { $0.received(bytes: bytes) }
        guard isWithin else { throw LocalFile.tooLarge(subject) }
    }

    private func parsed(
        _ bytes: [UInt8],
        of list: ListFile,
        contentType: String? = nil
    ) async throws -> ListContents {
        try await thread.run { [limits] in
            try ListContents(of: bytes, in: list, contentType: contentType, limits: limits)
        }
    }
}

extension WorkThread {
    /// A text that is the same for all spellings of `location`.
    func identity(of location: ResourceLocation) async -> String {
        switch location {
        case .web(let url): url.requestString
        case .file(let path): await run { LocalFile.realPath(of: path) }
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
