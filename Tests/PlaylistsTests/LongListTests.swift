import Foundation
import Media
import System
import TestSupport
import Testing

@testable import Playlists

/// Lists of which the first tracks are known before the others.
@Suite struct LongListTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// For which anything longer than `bytes` is long, and begins with `first` entries.
    private func resolver(
        _ web: any ResourceOpener = FakeWeb(),
        input: [UInt8] = [],
        longerThan bytes: Int = 0,
        head: Int = 64 * 1024,
        first: Int,
        entries: Int = 1_000
    ) -> SourceResolver {
        var limits = PlaylistLimits()
        limits.longList = bytes
        limits.beginning = head
        limits.firstEntries = first
        limits.entries = entries
        return SourceResolver(
            open: web,
            workingFolder: folder.path,
            standardInput: { input },
            limits: limits
        )
    }

    /// What came first, if anything did, and all.
    private func read(_ source: String, _ resolver: SourceResolver) async throws -> (
        first: [Track]?, all: ResolvedTracks
    ) {
        let first = Locked<[[Track]]>([])
        let all = try await resolver.tracks(for: source) { tracks in first.withLock { $0.append(tracks) } }
        #expect(first.withLock { $0.count } <= 1, "nobody hears of the first tracks twice")
        return (first.withLock { $0.first }, all)
    }

    // MARK: Any list

    private static let lines = [
        "a.mp3", "  sub/b.mp3\t", "http://h/c.mp3", "https://me:secret@h/d.mp3?x", "ftp://h/e.mp3", "http://",
        "file:///f.mp3", "C:\\g.mp3", "#EXTINF:5,A - B", "#EXTINF:-1,C", "#EXTINF:7 x=\"1,2\",D - E",
        "#EXTM3U",
        "# words", "", " \t ", "caf\u{E9}.mp3", "\u{FEFF}h.mp3",
    ]

    /// Lines and their ends in any order, some in UTF-8 and some in CP1252; now and then one that names a list.
    private static func list(_ random: inout SeededGenerator) -> [UInt8] {
        var bytes: [UInt8] = Bool.random(using: &random) ? [0xEF, 0xBB, 0xBF] : []
        let ends = ["\n", "\r\n", "\r", "\n\n"]
        let names = Int.random(in: 0..<3, using: &random) == 0 ? lines + ["nested.m3u"] : lines
        for _ in 0..<Int.random(in: 0...40, using: &random) {
            let line = names.randomElement(using: &random) ?? ""
            bytes += Int.random(in: 0..<4, using: &random) == 0 ? Array(line.latin1) : Array(line.utf8)
            bytes += Array((ends.randomElement(using: &random) ?? "").utf8)
        }
        return bytes
    }

    @Test(arguments: TestCount.seeds(300, full: 10_000))
    func `a list read in pieces is the list read as a whole`(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let bytes = Self.list(&random)
        let first = Int.random(in: 1...8, using: &random)
        try folder.write("list.m3u", bytes: bytes)
        try folder.write("nested.m3u", "n.mp3\nftp://h/m.mp3")
        let web = FakeWeb(bytes: ["http://w/list.m3u": bytes, "http://w/nested.m3u": Array("n.mp3".utf8)])
        let head = Int.random(in: 1...300, using: &random)
        // Of some lists the number of entries is known to be within bounds only when their lines are counted.
        let most = Bool.random(using: &random) ? 1_000 : 60
        let resolver = resolver(web, input: bytes, head: head, first: first, entries: most)
        for source in ["list.m3u", "-", "http://w/list.m3u"] {
            let whole = await Result.of { try await resolver.tracks(for: source) }
            let pieces = await Result.of { try await read(source, resolver) }
            switch (whole, pieces) {
            case (.success(let whole), .success(let pieces)):
                let all = pieces.all
                #expect(all.tracks.map(\.withoutID) == whole.tracks.map(\.withoutID))
                #expect(all.problems == whole.problems)
                #expect(all.tracks.ranks == whole.tracks.ranks)
                if let first = pieces.first { #expect(first == Array(all.tracks.prefix(first.count))) }
                let cut = bytes.prefix(head).lastIndex { $0 == 0x0A || $0 == 0x0D } ?? -1
                let entries = try? Playlist.entries(of: Array(bytes[...cut]), expected: .m3u, subject: "list")
                let begins = Self.begins((entries ?? []).prefix(first).map(\.reference), source)
                #expect((pieces.first != nil) == begins, "\(entries ?? [])")
            case (.failure(let whole), .failure(let pieces)):
                #expect(whole as? MediaError == pieces as? MediaError)
            default: Issue.record("one was read and the other was not: \(whole), \(pieces)")
            }
        }
    }

    /// Whether a list that begins with these entries can be begun with: with a track, and without a list.
    private static func begins(_ entries: [String], _ source: String) -> Bool {
        let isLocal = !source.hasPrefix("http")
        let refused = ["ftp://h/e.mp3", "http://"] + (isLocal ? [] : ["file:///f.mp3", "C:\\g.mp3"])
        return !entries.contains("nested.m3u") && !entries.allSatisfy { refused.contains($0) }
    }

    // MARK: Which lists

    @Test func `the first tracks come while a list behind them is still awaited`() async throws {
        let gate = GatedWeb(FakeWeb(["http://h/last.m3u": "9.mp3"]))
        try folder.write("long.m3u", "#EXTINF:3,A - T\n1.mp3\n2.mp3\n3.mp3\nhttp://h/last.m3u\n")
        let first = Locked<[Track]>([])
        let resolver = resolver(gate, first: 2)
        let reading = Task {
            try await resolver.tracks(for: "long.m3u") { tracks in first.withLock { $0 = tracks } }
        }
        try await gate.reached()
        let begun = first.withLock { $0 }
        #expect(begun.map(\.location.name) == ["1.mp3", "2.mp3"])
        #expect(begun.first?.tags == TrackTags(title: "T", artist: "A"))
        gate.open()
        let all = try await reading.value.tracks
        #expect(all.map(\.location.name) == ["1.mp3", "2.mp3", "3.mp3", "9.mp3"])
        #expect(Array(all.prefix(2)) == begun)
    }

    @Test func `only a long list of lines comes in pieces`() async throws {
        let lines = (1...100).map { "\($0).mp3" }.joined(separator: "\n")
        try folder.write("list.m3u", lines)
        for index in 1...100 { try folder.write("folder/\(index).mp3") }
        try folder.write(
            "list.pls",
            "[playlist]\n" + (1...100).map { "File\($0)=\($0).mp3\n" }.joined()
        )
        let tracks = (1...100).map { "<track><location>\($0).mp3</location></track>" }.joined()
        try folder.write("list.xspf", "<playlist><trackList>\(tracks)</trackList></playlist>")
        for (source, isBegun) in [
            ("list.m3u", true), ("list.pls", false), ("list.xspf", false), ("folder", false),
        ] {
            let found = try await read(source, resolver(first: 10))
            #expect((found.first?.count == 10) == isBegun && found.all.tracks.count == 100, "\(source)")
            #expect(isBegun || found.first == nil)
        }
        #expect(try await read("list.m3u", resolver(longerThan: lines.utf8.count, first: 10)).first == nil)
        #expect(
            try await read("list.m3u", resolver(longerThan: lines.utf8.count - 1, first: 10)).first != nil
        )
        // Without the end of its line an entry is not known.
        #expect(try await read("list.m3u", resolver(head: 5, first: 10)).first == nil)
        #expect(try await read("list.m3u", resolver(head: 6, first: 10)).first?.count == 1)
        #expect(try await read("list.m3u", resolver(first: 101)).first?.count == 99)
    }

    @Test(arguments: [(150_000, 100_000, false), (150_000, 150_001, true)])
    func `the lines of a long file are counted over all of it`(count: Int, most: Int, isTaken: Bool) throws {
        let path = try folder.write("list.m3u", String(repeating: "#a\nbc\n", count: count))
        var limits = PlaylistLimits()
        limits.entries = most
        #expect((LocalFile.head(of: path, limits: limits)?.count == limits.beginning) == isTaken)
        limits.entries = count - 1
        #expect(LocalFile.head(of: path, limits: limits) == nil)
    }

    @Test func `a list with too many entries is refused before anything of it is begun with`() async throws {
        let head = "#EXTM3U\r\n"
        for (count, isTaken) in [(49, true), (51, false)] {
            let lines = (1...count).map { "#EXTINF:1,T\r\n\($0).mp3\r\n" }.joined()
            try folder.write("\(count).m3u", head + lines)
            let resolver = resolver(first: 10, entries: 50)
            let first = Locked<[Track]>([])
            let all = await Result.of {
                try await resolver.tracks(for: "\(count).m3u") { tracks in first.withLock { $0 = tracks } }
            }
            #expect((first.withLock { $0.count } == 10) == isTaken)
            #expect(((try? all.get())?.tracks.count == count) == isTaken)
        }
    }

    @Test(arguments: TestCount.seeds(200, full: 5_000))
    func `the number that entries do not exceed holds for any bytes`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let letters: [UInt8] = [0x0A, 0x0D, 0x23, 0x20, 0x61, 0xEF, 0xBB, 0xBF]
        let count = Int.random(in: 0...1_200, using: &random)
        let bytes = (0..<count).map { _ in letters.randomElement(using: &random) ?? 0 }
        bytes.withUnsafeBufferPointer { bytes in
            var parser = M3UParser(bytes)
            #expect(parser.next(.max).count <= 1 + M3UParser.lineStarts(in: bytes))
        }
        let plain = Array(String(repeating: "a\n", count: count).utf8)
        #expect(plain.withUnsafeBufferPointer(M3UParser.lineStarts) == max(0, count - 1))
    }

    // MARK: Files

    @Test(arguments: [0, 1, 511, 262_143, 262_144, 262_145, 700_000])
    func `a file is read to its end, whatever its length`(count: Int) throws {
        let bytes = ByteFixtures.bytes(count: count, seed: 1)
        let path = try folder.write("file", bytes: bytes)
        #expect(try LocalFile.read(path, limit: 512, isWhole: false) == Array(bytes.prefix(512)))
        guard count > 0 else { return }
        #expect(try LocalFile.read(path, limit: 1 << 20) == bytes)
        #expect(try LocalFile.read(path, limit: count) == bytes)
        #expect(throws: MediaError.self) { try LocalFile.read(path, limit: count - 1) }
        // One that does not say how long it is.
        #expect(try LocalFile.read("/proc/self/status", limit: 1 << 20).count > 100)
    }
}

/// Opens what is in it once the gate is open.
private final class GatedWeb: ResourceOpener {
    private let web: FakeWeb
    private let clock = TestClock()

    init(_ web: FakeWeb) { self.web = web }

    func reached() async throws { try await wait(for: "the gate") { clock.sleeperCount == 1 } }

    func open() { clock.advance(by: .seconds(1)) }

    func open(_ location: ResourceLocation) async throws -> any ResourceReader {
        try await clock.sleep(until: .seconds(1))
        return try await web.open(location)
    }
}

extension Track {
    fileprivate var withoutID: Track { Track(id: ID(0), location: location, tags: tags, duration: duration) }
}

extension [Track] {
    /// The places of the tracks in the order of their IDs, which all differ.
    fileprivate var ranks: [Int] {
        #expect(Set(map(\.id)).count == count)
        return indices.sorted { self[$0].id < self[$1].id }
    }
}

extension String {
    /// A byte for each scalar; what has none is left out.
    fileprivate var latin1: [UInt8] { unicodeScalars.compactMap { UInt8(exactly: $0.value) } }
}

extension Result where Failure == any Error {
    fileprivate static func of(_ body: () async throws -> Success) async -> Self {
        do { return .success(try await body()) } catch { return .failure(error) }
    }
}
