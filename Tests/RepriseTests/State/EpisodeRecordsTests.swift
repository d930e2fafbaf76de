import Foundation
import Media
import TestSupport
import Testing

@testable import Reprise

@Suite struct EpisodeRecordsTests {
    private static func episode(_ guid: String, of feed: String = "http://h/feed") -> Episode {
        Episode(feed: feed, guid: guid, date: nil, place: 0)
    }

    /// The lines that a file gets from these changes.
    private func lines(_ records: inout EpisodeRecords, _ changes: (inout EpisodeRecords) -> [String?])
        -> String
    {
        changes(&records).compactMap { $0 }.map { $0 + "\n" }.joined()
    }

    @Test func `the lines of each change lead to the same records, and so does the short form`() {
        let odd = Self.episode("a\tb%\nc")
        let local = Self.episode("", of: "/a feed.xml")
        var records = EpisodeRecords()
        let text = lines(&records) {
            [
                $0.setPlayed(true, odd), $0.isCached(local, at: "http://h/1"), $0.setPlayed(true, local),
                $0.isCached(local, at: "http://h/2"), $0.setPlayed(false, odd),
                $0.isCached(odd, at: "http://h/o"),
                $0.isCached(local, at: "http://h/1"),
            ]
        }
        for read in [EpisodeRecords(parsing: text), EpisodeRecords(parsing: records.text)] {
            #expect(!read.isPlayed(odd) && read.isPlayed(local))
            #expect(read.urls(of: odd) == ["http://h/o"])
            #expect(read.urls(of: local) == ["http://h/1", "http://h/2"])
        }
    }

    @Test func `a session that is not saved reads what was remembered, and changes nothing`() throws {
        let home = try TemporaryFolder()
        let folder = StateFolder(path: home.path("state"))
        #expect(!SavedEpisodes(in: folder).isPlayed(Self.episode("1")))
        #expect(!FileManager.default.fileExists(atPath: folder.path))
        try home.write("played\thttp://h/feed\t1\n", to: "state/episodes")
        let saved = SavedEpisodes(in: folder)
        saved.setPlayed(true, [Self.episode("2")])
        #expect(saved.isPlayed(Self.episode("1")) && !saved.isPlayed(Self.episode("2")))
        try home.write([0xFF] as [UInt8], to: "state/episodes")
        #expect(!SavedEpisodes(in: folder).isPlayed(Self.episode("1")))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["episodes"])
    }

    @Test func `what is known already adds no line`() {
        var records = EpisodeRecords()
        let episode = Self.episode("1")
        #expect(records.setPlayed(false, episode) == nil)
        #expect(records.setPlayed(true, episode) != nil && records.setPlayed(true, episode) == nil)
        #expect(records.isCached(episode, at: "http://h/1") != nil)
        #expect(records.isCached(episode, at: "http://h/1") == nil)
    }

    @Test func `lines that are cut or unknown are ignored`() {
        let text =
            "played\thttp://h/feed\t1\nplayed\tx\n\nseen\ta\tb\nplayed\ta%z\tb\nurl\thttp://h/feed\t1\thttp://h/a\npla"
        let records = EpisodeRecords(parsing: text)
        #expect(records.isPlayed(Self.episode("1")))
        #expect(records.urls(of: Self.episode("1")) == ["http://h/a"])
        #expect(records.text.split(separator: "\n").count == 2)
    }

    @Test func `the latest URLs stay, and a file that repeats itself is written anew`() {
        var records = EpisodeRecords()
        let text = lines(&records) { records in
            (0..<EpisodeRecords.wordyLineCount).map {
                records.isCached(Self.episode("1"), at: "http://h/\($0)")
            }
        }
        let read = EpisodeRecords(parsing: text)
        #expect(read.isWordy && !EpisodeRecords(parsing: read.text).isWordy)
        #expect(read.urls(of: Self.episode("1")) == (1_996..<2_000).map { "http://h/\($0)" })
        // A long file that has no line too many stays.
        let all = lines(&records) { records in
            (0..<3_000).map { records.setPlayed(true, Self.episode("\($0)")) }
        }
        #expect(!EpisodeRecords(parsing: all).isWordy)
    }

    @Test func `of too many episodes those that changed last stay`() {
        var records = EpisodeRecords()
        for number in 0..<EpisodeRecords.most + 10 { _ = records.setPlayed(true, Self.episode("\(number)")) }
        _ = records.isCached(Self.episode("0"), at: "http://h/0")
        let read = EpisodeRecords(parsing: records.text)
        #expect(read.isPlayed(Self.episode("0")) && !read.isPlayed(Self.episode("10")))
        #expect(
            read.isPlayed(Self.episode("11")) && read.isPlayed(Self.episode("\(EpisodeRecords.most + 9)"))
        )
    }
}
