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
