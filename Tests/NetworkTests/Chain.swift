import Cache
import Decoding
import HTTP
import Loading
import Media
import RepriseOrigin
import System
import TestSupport
import Testing

/// The whole path of a byte in one process: origin, transport, network watch, loaders with a cache folder,
/// decoder.
///
/// Only `TimeKeeper` moves the time, when everything waits for it. At the end of a test `end` checks that no
/// task is left asleep.
final class Chain: Sendable {
    let server: TestOrigin
    let folder: TemporaryFolder
    let clock = TestClock()
    let transport: CurlTransport
    let watch: NetworkWatch
    let loaders: Loaders
    private let received = Notices()
    private let opened = Locked<[WatchedReader]>([])

    /// Serves `files`, wrong in the ways of `faults`, and makes everything else ready.
    convenience init(
        _ files: [String: [UInt8]] = [:],
        faults: [Fault] = [],
        settings: LoadSettings = LoadSettings()
    ) throws {
        try self.init(server: TestOrigin(files, faults: faults), settings: settings)
    }

    /// Serves half a minute of music as `/song.mp3`.
    static func short(_ faults: [Fault] = []) async throws -> (song: Song, chain: Chain) {
        let song = try await Song.short()
        return (song, try Chain(["/song.mp3": song.bytes], faults: faults))
    }

    /// Serves five minutes of music as `/song.mp3`.
    static func long(_ faults: [Fault] = []) async throws -> (song: Song, chain: Chain) {
        let song = try await Song.long()
        return (song, try Chain(["/song.mp3": song.bytes], faults: faults))
    }

    /// Continues with `folder`, if one is given: another process, a day later.
    init(
        server: TestOrigin,
        folder: TemporaryFolder? = nil,
        settings: LoadSettings = LoadSettings(),
        configure: (inout HTTPConfiguration) -> Void = { _ in }
    ) throws {
        self.server = server
        self.folder = try folder ?? TemporaryFolder()
        var configuration = HTTPConfiguration()
        configuration.clock = clock
        // A machine that runs the tests may have no route.
        configuration.localNetwork.hasRoute = { true }
        configure(&configuration)
        transport = CurlTransport(configuration: configuration)
        let received = received
        // Its clock stands for good: commits go by size, and at the close.
        let stores = CacheFolder(path: self.folder.path("cache"), clock: TestClock())
        let watch = NetworkWatch(over: transport, clock: clock)
        self.watch = watch
        let loaders = Loaders(
            transport: watch,
            stores: stores,
            clock: clock,
            settings: settings,
            connectivity: watch,
            onNotice: { received.append($0) }
        )
        self.loaders = loaders
        // Weak: the loaders own the watch. With a cycle, each chain would keep its cache's threads and files.
        watch.observe { [weak loaders] in if !$0.isOffline { loaders?.networkIsBack() } }
    }

    /// The notices of the loaders so far.
    var notices: [MediaError] { received.all }

    /// The readers that were opened and not closed.
    var readers: [WatchedReader] { opened.withLock { $0 } }

    // MARK: Reading

    /// Opens `path` of the server, or the URL that it is.
    func open(_ path: String = "/song.mp3") async throws -> WatchedReader {
        let url = try #require(WebURL(path.hasPrefix("http") ? path : server.url(path)))
        let reader = WatchedReader(try await loaders.open(.web(url)))
        opened.withLock { $0.append(reader) }
        return reader
    }

    /// Opens `/song.mp3`, reads its start, and waits until its first window is stored.
    func openWithFirstWindow() async throws -> WatchedReader {
        let reader = try await open()
        _ = try await reader.read(at: 0, count: 1_000)
        try await wait(for: "the first window") { reader.reader.report.inFlight.isEmpty }
        return reader
    }

    func close(_ reader: WatchedReader) async {
        await reader.reader.close()
        opened.withLock { readers in readers.removeAll { $0 === reader } }
    }

    /// The error of reading all bytes from `offset` on.
    func failure(_ reader: WatchedReader, from offset: Int64 = 0) async -> MediaError.Code? {
        let error = await #expect(throws: MediaError.self) { _ = try await bytes(reader, from: offset) }
        return error?.code
    }

    /// All bytes from `offset` on.
    func bytes(_ reader: WatchedReader, from offset: Int64 = 0) async throws -> [UInt8] {
        try await keepingTime {
            var bytes: [UInt8] = []
            while true {
                let more = try await reader.read(at: offset + Int64(bytes.count), count: 40_000)
                if more.isEmpty { return bytes }
                bytes += more
            }
        }
    }

    /// One whole playing, as the player does it: opens, decodes with read-ahead to the end, closes.
    func play(_ path: String = "/song.mp3", readsAhead: Bool = true) async throws -> Playing {
        let reader = try await open(path)
        let playing = try await keepingTime {
            let decoding = Decoding(reader)
            return await decoding.play(readsAhead: readsAhead)
        }
        // As the player does: a resource that is not music is removed from the cache.
        if playing.error?.code == .notAudio { await reader.reader.reject() }
        await close(reader)
        return playing
    }

    // MARK: Time

    /// Runs `body` while time moves on by itself, and gives up after a minute of real time.
    func keepingTime<Result: Sendable>(
        _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        let keeper = TimeKeeper(self)
        let time = Task { await keeper.run() }
        defer { time.cancel() }
        return try await watched(body)
    }

    /// Runs `body`, and gives up after more than a minute: then a task waits that nothing will resume.
    ///
    /// If `body` itself waits in vain, its own error comes first.
    func watched<Result: Sendable>(
        _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        let task = Task { try await body() }
        let isOver = Flag()
        let end = Task {
            _ = await task.result
            isOver.set()
        }
        defer { end.cancel() }
        do {
            try await wait(for: "the end", deadline: .seconds(75)) {
                isOver.isSet
            } seeing: {
                picture
            }
        } catch {
            task.cancel()
            throw error
        }
        return try await task.value
    }

    /// The state of all parts, for the message of a test that waits in vain.
    private var picture: String {
        let requests = server.log.requests.map(\.description).joined(separator: "\n")
        let reports = readers.map { "\($0.reader.report)" }.joined(separator: "\n")
        return "at \(clock.now) \(readers.map(\.waitingReads)) reads wait:\n\(requests)\n\(reports)"
    }

    /// Closes all that is open, and checks that no task is left waiting.
    func end() async throws {
        for reader in readers {
            await close(reader)
            #expect(reader.waitingReads == 0, "every read has ended")
        }
        await transport.shutdown()
        let clock = clock
        try await wait(for: "all sleepers to wake") { clock.sleeperCount == 0 }
    }

    /// Ends as `end` does, and expects all of `song` in the cache, with its length; nothing if it is `nil`.
    func end(storing song: Song?, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        try await end()
        let kept = try await claims(of: song?.bytes ?? [], sourceLocation: sourceLocation)
        let all = ByteRangeSet(0..<(song?.length ?? 0))
        #expect(kept.stored == all, sourceLocation: sourceLocation)
        if let song { #expect(kept.description.length == song.length, sourceLocation: sourceLocation) }
    }

    // MARK: The store

    /// The cache's store of `/song.mp3`, opened anew.
    var store: any ByteStore {
        get async throws {
            let cache = CacheFolder(path: folder.path("cache"), clock: TestClock())
            return try await cache.open(try #require(WebURL(server.url("/song.mp3"))))
        }
    }

    /// What the cache folder has of `/song.mp3` after the end; its bytes are compared with `bytes`.
    func claims(
        of bytes: [UInt8],
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> (stored: ByteRangeSet, description: EntryDescription) {
        let store = try await store
        let stored = store.stored
        let description = store.description
        for range in stored.ranges {
            var offset = Int(range.lowerBound)
            while offset < range.upperBound {
                let piece = try await store.read(at: Int64(offset), count: Int(range.upperBound) - offset)
                guard !piece.isEmpty, piece.elementsEqual(bytes.dropFirst(offset).prefix(piece.count)) else {
                    Issue.record("wrong cached bytes from \(offset) on", sourceLocation: sourceLocation)
                    break
                }
                offset += piece.count
            }
        }
        await store.close()
        return (stored, description)
    }
}

/// The notices of the loaders, from any thread.
final class Notices: Sendable {
    private let errors = Locked<[MediaError]>([])

    var all: [MediaError] { errors.withLock { $0 } }
    func append(_ error: MediaError) { errors.withLock { $0.append(error) } }
}

/// Something that happens once.
final class Flag: Sendable {
    private let value = Locked(false)

    var isSet: Bool { value.withLock { $0 } }
    func set() { value.withLock { $0 = true } }
}

extension RequestLog {
    /// The number of bytes of `path` that were sent more than once.
    ///
    /// Both sums are taken of the same requests, since a server may still be sending.
    func bytesSentAgain(for path: String = "/song.mp3") -> Int64 {
        let ranges = requests(for: path).map(\.sent).filter { !$0.isEmpty }
        return ranges.reduce(0) { $0 + Int64($1.count) } - RangeSet(ranges).byteCount
    }

    /// The bytes of answers that were not sent to their end: some of them may not have arrived.
    func bytesCutOff(for path: String = "/song.mp3") -> Int64 {
        requests(for: path).filter { $0.outcome != .finished }.reduce(0) { $0 + Int64($1.sent.count) }
    }

    /// The `Range` fields of all requests for `path`, in their order.
    func askedRanges(for path: String = "/song.mp3") -> [String?] { requests(for: path).map(\.range) }
}
