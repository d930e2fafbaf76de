import Foundation
import Media
import System
import TestSupport
import Testing

@testable import Playlists

@Suite
struct SourceResolverTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func resolver(
        _ web: FakeWeb = FakeWeb(),
        input: String = "",
        limits: PlaylistLimits = PlaylistLimits()
    ) -> SourceResolver {
        SourceResolver(
            open: { try await web.open($0, revalidates: $1) },
            workingFolder: folder.path,
            standardInput: { Array(input.utf8) },
            limits: limits
        )
    }

    private func expectFailure(_ code: MediaError.Code, of source: String, _ resolver: SourceResolver) async {
        await #expect { try await resolver.tracks(for: source) } throws: { ($0 as? MediaError)?.code == code }
    }

    @Test(arguments: ["http://h/a.mp3", "HTTP://h/a/b.MP2?x=list.m3u"])
    func `a URL that is named as music is a track without any request`(source: String) async throws {
        let web = FakeWeb()
        let found = try await resolver(web).tracks(for: source)
        #expect(found.tracks.map(\.location) == [.web(try #require(WebURL(source)))])
        #expect(web.opened.isEmpty)
    }

    @Test(arguments: [
        ("radio.example/a.mp3", "https"), ("radio.example/", "https"), ("radio.example", "https"),
        ("radio.example:8000", "https"), ("10.0.0.1/a", "https"),
        ("10.0.0.1:8000/a", "http"), ("127.0.0.1:8000", "http"), ("localhost:8000/a.mp3", "http"),
        ("localhost:8000", "http"),
        ("./radio.example/a", nil), ("/radio.example/a", nil), ("~/radio.example/a", nil),
        (".radio/a.mp3", nil), ("music./a", nil), ("music/a.mp3", nil), ("song.mp3", nil), ("a.mp3", nil),
        ("my.music list/a.mp3", nil), ("localhost", nil), ("localhost:a", nil), ("12:34", nil),
    ])
    func `a source that may be a URL without its scheme gets a hint`(source: String, scheme: String?)
        async throws
    {
        let hint = scheme.map { " – did you mean \($0)://\(source)\(source.contains("/") ? "" : "/")?" }
        do {
            _ = try await resolver().tracks(for: source)
            Issue.record("there is no such file")
        } catch let error as MediaError {
            #expect(error.code == .notFound)
            #expect(error.cause == SafeText("no such file or folder" + (hint ?? "")))
        }
        guard source == "radio.example" else { return }
        try folder.write("ID3", to: source)
        #expect(try await resolver().tracks(for: source).tracks.count == 1)
    }

    @Test(arguments: ["user:pw@radio.example/a.mp3?token=S", "user:pw@radio.example:99999/a.mp3?token=S"])
    func `the hint about a missing scheme shows no password and no query`(source: String) async {
        await #expect { try await resolver().tracks(for: source) } throws: { error in
            let text = "\(error)"
            return text.contains("radio.example") && !text.contains("pw") && !text.contains("token")
        }
    }

    /// Makes a file whose name, `caf?.mp3`, is not UTF-8; returns its path.
    private func odd() -> String {
        let path = folder.path + "/" + FileName.text(Array("caf".utf8) + [0xE9] + Array(".mp3".utf8))
        let descriptor = open(FileName.cString(path), O_CREAT | O_WRONLY, 0o600)
        #expect(descriptor >= 0)
        close(descriptor)
        return path
    }

    @Test func `files whose names are not UTF-8 are found, in folders and by themselves`() async throws {
        let location = ResourceLocation.file(odd())
        let name = location.path.dropFirst(folder.path.count + 1)
        let url = "file://" + folder.path + "/caf%E9.mp3"
        for source in [folder.path, String(name), url] {
            #expect(try await resolver().tracks(for: source).tracks.map(\.location) == [location])
        }
        let track = Track(id: Track.ID(1), location: location)
        let saved = folder.path("saved.m3u8")
        // The list may have such a name itself.
        for list in [saved, folder.path + "/" + FileName.text([0xFF] + Array(".m3u8".utf8))] {
            try await resolver().save([track], to: list)
            #expect(try await resolver().tracks(for: list).tracks.map(\.location) == [location])
        }
        #expect(try String(contentsOfFile: saved, encoding: .utf8) == "#EXTM3U\n\(url)\n")
    }

    @Test(arguments: ["", "[playlist]\nFile1="])
    func `a name in a list that is not UTF-8 is that of a file with these bytes, or else CP1252`(
        start: String
    )
        async throws
    {
        let list = folder.path(start.isEmpty ? "list.m3u" : "list.pls")
        try Data(Array(start.utf8) + Array("caf".utf8) + [0xE9] + Array(".mp3\n".utf8))
            .write(to: URL(fileURLWithPath: list))
        let before = try await resolver().tracks(for: list).tracks.map(\.location)
        #expect(before == [.file(folder.path("café.mp3"))])
        let path = odd()
        #expect(try await resolver().tracks(for: list).tracks.map(\.location) == [.file(path)])
    }

    @Test func `a file is a track under each of its names`() async throws {
        let path = try folder.write("My Song: 1.mp3")
        for source in [
            "My Song: 1.mp3", "./My Song: 1.mp3", path, "file://" + folder.path + "/My%20Song:%201.mp3",
        ] {
            #expect(try await resolver().tracks(for: source).places == [path])
        }
    }

    @Test func `a file without a known extension is a list only if its first bytes show it`() async throws {
        try folder.write("list", "#EXTM3U\na.mp3")
        try folder.write("words", "a.mp3")
        #expect(try await resolver().tracks(for: "list").places == [folder.path + "/a.mp3"])
        #expect(try await resolver().tracks(for: "words").places == [folder.path + "/words"])
    }

    @Test(
        arguments: [
            ("missing.mp3", .notFound), ("garbage.m3u8/x.mp3", .notFound), ("", .notFound),
            ("garbage.m3u8", .badPlaylist), ("empty.m3u8", .emptyResource), ("comments.m3u8", .badPlaylist),
            ("silence", .emptyFolder), ("ftp://h/a.mp3", .unsupportedScheme), ("http://", .badURL),
            ("/dev/null", .unreadable), ("http://h/missing.m3u", .httpStatus), ("-", .badPlaylist),
        ] as [(String, MediaError.Code)]
    )
    func `a source that cannot be played says why`(source: String, code: MediaError.Code) async throws {
        try folder.write([0x00, 0x8F, 0x1B] + Array("garbage".utf8), to: "garbage.m3u8")
        try folder.write("empty.m3u8")
        try folder.write("comments.m3u8", "#EXTM3U\n# nothing")
        try folder.makeFolder("silence")
        await expectFailure(code, of: source, resolver())
    }

    @Test func `a list of the web is read once and its entries count from its URL`() async throws {
        let long = String(repeating: "# a comment\n", count: 2_000)
        let web = FakeWeb([
            "http://h/l/list.m3u8": "#EXTM3U\n" + long + "#EXTINF:3,A - T\n1.mp3\n/2.mp3\nhttp://i/3.mp3\n"
        ])
        let found = try await resolver(web).tracks(for: "http://h/l/list.m3u8")
        #expect(found.places == ["http://h/l/1.mp3", "http://h/2.mp3", "http://i/3.mp3"])
        // The list describes what is in its folder or below it, and names the others from elsewhere.
        let list = "http://h/l/list.m3u8"
        #expect(found.tracks.map(\.list) == [nil, list, list])
        #expect(found.tracks[0].tags == TrackTags(title: "T", artist: "A"))
        #expect(found.tracks[0].duration == .seconds(3) && found.problems.isEmpty)
        #expect(web.opened == ["http://h/l/list.m3u8"] && web.closed == web.opened && web.rejected.isEmpty)
    }

    @Test func `a web page in the place of a list is refused and not cached`() async {
        let web = FakeWeb(["http://h/list.m3u": "<!doctype html><title>Sign in</title>"])
        await expectFailure(.badPlaylist, of: "http://h/list.m3u", resolver(web))
        #expect(web.rejected == ["http://h/list.m3u"] && web.closed == web.rejected)
    }

    @Test func `a list that is too large is refused, and its resource is closed`() async {
        var limits = PlaylistLimits()
        limits.bytes = 10_000
        let web = FakeWeb(["http://h/list.m3u": String(repeating: "a.mp3\n", count: 2_000)])
        await expectFailure(.listTooLarge, of: "http://h/list.m3u", resolver(web, limits: limits))
        #expect(web.closed == ["http://h/list.m3u"])
    }

    @Test func `local files in a list of the web are one problem, also through a nested list`() async throws {
        try folder.write("mine.m3u", "1.mp3\nhttp://h/list.m3u\n2.mp3")
        let web = FakeWeb(["http://h/list.m3u": "file:///etc/a.mp3\nfile:///b.m3u\nC:\\c.mp3\nok.mp3"])
        let found = try await resolver(web).tracks(for: "mine.m3u")
        #expect(found.places == [folder.path + "/1.mp3", "http://h/ok.mp3", folder.path + "/2.mp3"])
        #expect(found.problems.map(\.code) == [.refusedLocalFile])
        #expect(found.problems.first?.description.hasPrefix("http://h/list.m3u: 3 entries") == true)
        // A list of nothing else is refused.
        let local = FakeWeb(["http://h/list.m3u": "file:///etc/a.mp3"])
        await expectFailure(.refusedLocalFile, of: "http://h/list.m3u", resolver(local))
    }

    @Test func `nested lists stand in their entry's place, and bad ones are problems`() async throws {
        try folder.write("top.m3u", "1.mp3\nsub/a.pls\n3.mp3\nmissing.m3u\nsub/bad.xspf\nftp://h/x\n4.mp3")
        try folder.write("sub/a.pls", "[playlist]\nFile1=2.mp3\nFile2=../top.m3u")
        try folder.write("sub/bad.xspf", "<playlist>")
        let found = try await resolver().tracks(for: "top.m3u")
        let names = found.places.map { String($0.dropFirst(folder.path.count + 1)) }
        #expect(names == ["1.mp3", "sub/2.mp3", "3.mp3", "4.mp3"])
        // The scheme is found while the list itself is read, before the lists within it.
        #expect(found.problems.map(\.code) == [.unsupportedScheme, .badPlaylist, .notFound, .badPlaylist])
        #expect(found.problems[1].cause == "the playlist contains itself")
    }

    @Test func `a list that contains itself by way of a link or another spelling ends`() async throws {
        try folder.write("a.m3u", "1.mp3\nb.m3u")
        try folder.link("b.m3u", to: "a.m3u")
        #expect(try await resolver().tracks(for: "a.m3u").tracks.count == 1)
        let web = FakeWeb(["http://h/a.m3u": "1.mp3\nHTTP://H:80/x/../a.m3u#again"])
        #expect(try await resolver(web).tracks(for: "http://h/a.m3u").tracks.count == 1)
        #expect(web.opened.count == 1)
    }

    @Test func `lists are followed eight deep`() async throws {
        for level in 1...12 { try folder.write("\(level).m3u", "\(level).mp3\n\(level + 1).m3u") }
        let found = try await resolver().tracks(for: "1.m3u")
        #expect(found.tracks.count == 8)
        #expect(found.problems.map(\.code) == [.badPlaylist])
    }

    @Test func `a tree of too many lists ends at the limit and keeps the tracks found`() async throws {
        for level in 1...7 {
            let next = String(repeating: "\(level + 1).m3u\n", count: 5)
            try folder.write("\(level).m3u", next + "\(level).mp3")
        }
        try folder.write("8.m3u", "8.mp3")
        var limits = PlaylistLimits()
        limits.lists = 50
        let found = try await resolver(limits: limits).tracks(for: "1.m3u")
        #expect((1...50).contains(found.tracks.count))
        #expect(found.problems.count <= PlaylistProblems.most + 1)
    }

    @Test func `standard input is a list that counts from the working folder`() async throws {
        let found = try await resolver(input: "1.mp3\nhttp://h/2.mp3\n").tracks(for: "-")
        #expect(found.places == [folder.path + "/1.mp3", "http://h/2.mp3"])
    }

    @Test func `tracks of one location and of several sources have different IDs`() async throws {
        try folder.write("list.m3u", "a.mp3\na.mp3")
        try folder.write("a.mp3")
        let resolver = resolver()
        var ids = Set<Track.ID>()
        for source in ["list.m3u", "list.m3u", ".", "a.mp3", "http://h/a.mp3"] {
            for track in try await resolver.tracks(for: source).tracks {
                #expect(ids.insert(track.id).inserted)
            }
        }
        #expect(ids.count == 7)
    }

    @Test(arguments: [0, 1, 511, 262_143, 262_144, 262_145, 700_000])
    func `a file is read to its end, whatever its length`(count: Int) throws {
        let bytes = ByteFixtures.bytes(count: count, seed: 1)
        let path = try folder.write(bytes, to: "file")
        #expect(try LocalFile.read(path, limit: 512, isWhole: false) == Array(bytes.prefix(512)))
        guard count > 0 else { return }
        for limit in [1 << 20, count] { #expect(try LocalFile.read(path, limit: limit) == bytes) }
        #expect(throws: MediaError.self) { try LocalFile.read(path, limit: count - 1) }
        // One that does not say how long it is.
        #expect(try LocalFile.read("/proc/self/status", limit: 1 << 20).count > 100)
    }
}
