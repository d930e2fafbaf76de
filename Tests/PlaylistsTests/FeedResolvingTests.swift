import Media
import TestSupport
import Testing

@testable import Playlists

/// Feeds as sources: what becomes of their episodes.
@Suite struct FeedResolvingTests {
    private static func feed(_ enclosures: String...) -> String {
        let items = enclosures.enumerated().map { index, url in
            "<item><guid>\(index)</guid><enclosure url=\"\(url)\" type=\"audio/mpeg\"/></item>"
        }
        return "<rss><channel><title>Sea</title>\(items.joined())</channel></rss>"
    }

    private func resolve(_ source: String, _ web: FakeWeb = FakeWeb(), input: String = "") async throws
        -> ResolvedTracks
    {
        let resolver = SourceResolver(
            open: { try await web.open($0, revalidates: $1) },
            workingFolder: "/nowhere",
            standardInput: { Array(input.utf8) }
        )
        return try await resolver.tracks(for: source)
    }

    @Test func `an episode is known by its feed's URL and its guid, and has its place`() async throws {
        let web = FakeWeb(["http://h/feed.rss?key=1": Self.feed("a.mp3", "http://cdn/b.m3u?x")])
        let resolved = try await resolve("http://me:secret@h/feed.rss?key=1", web)
        #expect(resolved.places == ["http://h/a.mp3", "http://cdn/b.m3u?x"])
        let expected = ["0", "1"].enumerated().map { place, guid in
            Episode(feed: "http://h/feed.rss?key=1", guid: guid, date: nil, place: place)
        }
        #expect(resolved.tracks.map(\.episode) == expected)
        #expect(web.opened.count == 1, "an enclosure is an episode, whatever its name")
    }

    @Test func `a local feed is known by its path, and one on standard input is not known again`()
        async throws
    {
        let folder = try TemporaryFolder()
        let path = try folder.write("my feed.rss", Self.feed("a%20b.mp3"))
        let local = try await resolve(path)
        #expect(local.places == [folder.path + "/a b.mp3"])
        #expect(local.tracks.first?.episode?.feed == path)
        let piped = try await resolve("-", input: Self.feed("http://h/a.mp3"))
        #expect(piped.places == ["http://h/a.mp3"] && piped.tracks.allSatisfy { $0.episode == nil })
    }

    @Test func `a feed from the web opens no local file`() async throws {
        let web = FakeWeb(["http://h/feed.rss": Self.feed("file:///etc/passwd", "a.mp3")])
        let resolved = try await resolve("http://h/feed.rss", web)
        #expect(resolved.places == ["http://h/a.mp3"])
        #expect(resolved.problems.map(\.code) == [.refusedLocalFile])
    }

    @Test func `the feeds of OPML are opened in their order, and a broken one is a problem`() async throws {
        let names = ["a", "gone", "b"].map { "<outline xmlUrl=\"http://h/\($0)\"/>" }
        let web = FakeWeb([
            "http://h/all.opml": "<opml><body>\(names.joined())</body></opml>",
            "http://h/a": Self.feed("1.mp3", "2.mp3"), "http://h/b": Self.feed("3.mp3"),
        ])
        let resolved = try await resolve("http://h/all.opml", web)
        #expect(resolved.places == ["http://h/1.mp3", "http://h/2.mp3", "http://h/3.mp3"])
        #expect(resolved.tracks.map(\.episode?.feed) == ["http://h/a", "http://h/a", "http://h/b"])
        #expect(resolved.problems.map(\.code) == [.httpStatus])
    }
}
