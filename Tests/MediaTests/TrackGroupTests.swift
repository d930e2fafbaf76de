import Media
import Testing

struct TrackGroupTests {
    @Test(
        arguments: [
            ("01%20River.mp3", "River"), ("1-03%20River.flac", "River"), ("07_River.ogg", "River"),
            ("12.%20River%20.mp3", "River "), ("03-River.mp3", "River"), ("River.mp3", "River"),
            // A name of numbers only stays, and what is no ending of music.
            ("1999.mp3", "1999"), ("01.mp3", "01"), ("2001-2.mp3", "2001-2"), ("River.txt", "River.txt"),
            ("1984%20Song.mp3", "1984 Song"), ("caf%C3%A9.mp3", "café"), ("3.14.mp3", "14"), (".mp3", ".mp3"),
        ]
    )
    func `the short name of a file has no ending and no number of a track`(file: String, name: String) throws
    {
        let url = try #require(WebURL("https://h/a/" + file))
        #expect(ResourceLocation.web(url).shortName.string == name)
    }

    @Test func `the group of a track is named like its list, or else its folder`() throws {
        var track = Track(
            id: Track.ID(1),
            location: .web(try #require(WebURL("https://h/Blue%20Hour/1.mp3")))
        )
        #expect(track.groupName == "Blue Hour")
        track.list = "https://h/lists/My%20Radio.m3u?token=1"
        #expect(track.groupName == "My Radio")
        track.list = "/home/a/Radio 2.5.pls"
        #expect(track.groupName == "Radio 2.5")
        track.list = "https://radio.example/?list=1"
        #expect(track.groupName == "radio.example")
        track.list = "/home/a/.m3u"
        #expect(track.groupName == ".m3u")
    }

    @Test func `neighbours that one list names from elsewhere are one group, also in other folders`() throws {
        func group(_ address: String, list: String?) throws -> TrackGroup {
            var track = Track(id: Track.ID(1), location: .web(try #require(WebURL(address))))
            track.list = list
            return TrackGroup(of: track, facts: nil)
        }
        var first = try group("https://a/1", list: "/radio.m3u")
        #expect(try first.accept(group("https://b/1", list: "/radio.m3u")))
        #expect(try !first.accept(group("https://b/1", list: "/other.m3u")))
        #expect(try !first.accept(group("https://b/1", list: nil)))
    }

    @Test func `the name of a folder is unescaped, and that of no folder is the host`() throws {
        let names = try ["https://h/Blue%20Hour/1.mp3", "https://h/1.mp3"].map { address in
            ResourceLocation.web(try #require(WebURL(address))).folderName.string
        }
        #expect(names == ["Blue Hour", "h"])
        #expect(ResourceLocation.file("/music/Blue Hour/1.mp3").folderName == "Blue Hour")
        #expect(ResourceLocation.file("/music/Blue Hour//1.mp3").folderName == "Blue Hour")
        #expect(ResourceLocation.file("/1.mp3").folderName == "/")
    }
}
