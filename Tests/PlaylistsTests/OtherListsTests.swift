import Foundation
import Media
import TestSupport
import Testing

@testable import Playlists

/// The lists of Windows Media Player and RealPlayer, JSPF, and lists in UTF-16.
@Suite struct OtherListsTests {
    @Test func `an entry of ASX is its first reference, with its title and author`() throws {
        let found = try entries(
            """
            <ASX Version="3.0"><Title>Station</Title><Entry><REF HREF=" http://h/a.mp3?x=1&y=2 "/><ref href="http://h/b"/>
            <TITLE>A & B</title><Author>C</Author></ENTRY><entry><title>none</title></entry>
            <ref href="d.mp3"/><EntryRef href="more.asx"/></asx>
            """
        )
        #expect(
            found == [
                PlaylistEntry(
                    reference: "http://h/a.mp3?x=1&y=2",
                    tags: TrackTags(title: "A & B", artist: "C")
                ),
                PlaylistEntry(reference: "d.mp3"), PlaylistEntry(reference: "more.asx", isList: true),
            ]
        )
        #expect(
            try entries("[Reference]\r\nRef1=http://h/a\r\nRef2=http://h/b\r\n").map(\.reference) == [
                "http://h/a", "http://h/b",
            ]
        )
    }

    @Test func `the media of WPL and SMIL are entries`() throws {
        let found = try entries(
            """
            <?wpl version="1.0"?><smil><head><title>x</title></head><body><seq>
            <media src="..\\Music\\A & B.mp3" trackTitle="A" trackArtist="B"/><media src=""/><audio src="c.mp3"/>
            </seq></body></smil>
            """
        )
        let tags = TrackTags(title: "A", artist: "B")
        #expect(
            found == [
                PlaylistEntry(reference: "..\\Music\\A & B.mp3", tags: tags),
                PlaylistEntry(reference: "c.mp3"),
            ]
        )
    }

    @Test func `a track of JSPF has its location, tags and duration`() throws {
        let found = try entries(
            """
            {"playlist": {"title": "x", "track": [
            {"location": ["http://h/a%20b.mp3", "second"], "title": "T \\u00e9", "creator": "C", "album": "A", "trackNum": 3,
             "duration": 61500, "extension": {"x": [1, null]}},
            {"title": "no location"}, {"location": [], "title": 1}, {"location": "2.mp3", "title": 7, "duration": "x"}]}}
            """
        )
        var first = PlaylistEntry(reference: "http://h/a%20b.mp3", isURI: true)
        first.tags = TrackTags(title: "T é", artist: "C", album: "A", number: "3")
        first.duration = .milliseconds(61_500)
        #expect(found == [first, PlaylistEntry(reference: "2.mp3", isURI: true)])
        let latin =
            Array("{\"playlist\":{\"track\":[{\"location\":\"caf".utf8) + [0xE9] + Array("\"}]}}".utf8)
        #expect(try entries(latin).map(\.reference) == ["café"])
    }

    @Test(arguments: [
        "{\"playlist\":", "{\"playlist\":{}}", "{\"playlist\":{\"track\":[{\"location\":\"a\"}]}",
        "{\"playlist\":[]}",
        "{\"playlist\":{\"track\":[]}}", "{\"playlist\":{\"track\":" + String(repeating: "[", count: 200_000),
        "{\"playlist\":{\"track\":" + String(repeating: "{\"a\":", count: 100_000), "<asx>",
        "<smil><a></smil>",
        "<asx><entry><ref href=''/></entry></asx>", "[reference]\nRef=x",
        "<asx>" + String(repeating: "<a>", count: 9_999),
    ])
    func `a list that is broken, empty or nested deeply is refused`(text: String) {
        #expect { try entries(text) } throws: { ($0 as? MediaError)?.code == .badPlaylist }
    }

    @Test(arguments: [
        ("<asx>", "<ref href='a'/>", "</asx>"),
        ("{\"playlist\":{\"track\":[{}", ",{\"location\":\"a\"}", "]}}"),
    ])
    func `a list is read to one entry more than allowed`(head: String, entry: String, tail: String) throws {
        var limits = PlaylistLimits()
        limits.entries = 10
        let text = head + String(repeating: entry, count: 99) + tail
        #expect(try entries(Array(text.utf8), name: "", limits: limits).count == 11)
    }

    @Test(
        arguments: [
            ("a.m3u", "#EXTM3U\r\n#EXTINF:3,Üñï\r\nhttp://h/a.mp3\r\n", "http://h/a.mp3"),
            ("a.txt", "#EXTM3U\nSöng 😀.mp3\n", "Söng 😀.mp3"), ("a.m3u8", "a.mp3\n", "a.mp3"),
            ("a.pls", "[playlist]\nFile1=é.mp3\n", "é.mp3"),
            ("a", "<?xml version='1.0' encoding='UTF-16'?><asx><ref href='é'/></asx>", "é"),
            (
                "a.xspf", "<playlist><trackList><track><location>x</location></track></trackList></playlist>",
                "x"
            ),
        ],
        [true, false]
    )
    func `a list may be in UTF-16, in either order`(list: (String, String, String), isLittle: Bool) throws {
        let units = ("\u{FEFF}" + list.1).utf16
        let bytes = units.flatMap {
            isLittle ? [UInt8($0 & 0xFF), UInt8($0 >> 8)] : [UInt8($0 >> 8), UInt8($0 & 0xFF)]
        }
        #expect(try entries(bytes, name: list.0).map(\.reference) == [list.2])
    }

    @Test(arguments: [[0x41, 0xD8, 0x41, 0], [0x41, 0, 0, 0, 0x41, 0], []] as [[UInt8]])
    func `what begins with the mark of UTF-16 and is no text is no list`(bytes: [UInt8]) {
        // As a frame of MPEG layer I with a checksum does.
        let kind = ResourceKind.of(firstBytes: [0xFF, 0xFE] + bytes + bytes, name: "a.m3u")
        #expect(kind == (bytes.isEmpty ? .list(.m3u) : ResourceKind.binary))
    }

    @Test(arguments: [
        (
            "a.cue",
            "PERFORMER \"X\"\r\nFILE \"a.flac\" WAVE\r\n  TRACK 01 AUDIO\r\n    INDEX 01 00:00:00\r\n",
            "cue sheets"
        ),
        ("b.txt", "FILE \"a.bin\" BINARY\n TRACK 01 AUDIO\n INDEX 01 00:00:00\n", "cue sheets"),
        ("Library.xml", "<?xml version=\"1.0\"?><!DOCTYPE plist><plist version=\"1.0\"></plist>", "iTunes"),
    ])
    func `a list that is not read is named as such, from the disk and from the web`(
        name: String,
        text: String,
        word: String
    ) async throws {
        let folder = try TemporaryFolder()
        let web = FakeWeb(["http://h/\(name)": text])
        let resolver = SourceResolver(
            open: { try await web.open($0, revalidates: $1) },
            workingFolder: folder.path
        )
        for source in [try folder.write(name, text), "http://h/\(name)"] {
            await #expect {
                try await resolver.tracks(for: source)
            } throws: { error in
                (error as? MediaError)?.code == .badPlaylist && "\(error)".contains(word)
            }
        }
    }
}
