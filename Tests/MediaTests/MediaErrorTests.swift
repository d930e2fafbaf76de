import Media
import Testing

@Suite
struct MediaErrorTests {
    @Test func `the text is the thing and the cause in one sentence`() {
        let error = MediaError(.notFound, SafeText("/a\nb"), "there is no such file")
        #expect(error.description == "/a b: there is no such file")
        #expect(error.safeText.string == error.description)
    }

    @Test(
        arguments: [
            (ResourceLocation.file("/music/Song 1.mp3"), "Song 1.mp3", "/music/Song 1.mp3"),
            (.file("/"), "/", "/"),
        ]
    )
    func `a file is called by the last part of its path`(
        location: ResourceLocation,
        name: String,
        text: String
    ) {
        #expect(location.name.string == name)
        #expect(location.safeText.string == text)
    }

    @Test(
        arguments: [
            ("http://me:pw@h.example/a/%C3%A9.mp3?key=1", "é.mp3", "http://h.example/a/%C3%A9.mp3?…"),
            ("http://h.example/", "h.example", "http://h.example/"),
            ("http://h.example/%1B%5D0;x.mp3", "\u{FFFD}]0;x.mp3", "http://h.example/%1B%5D0;x.mp3"),
        ]
    )
    func `a URL is called by its file or its host, without secrets`(url: String, name: String, text: String)
        throws
    {
        let location = ResourceLocation.web(try #require(WebURL(url)))
        #expect(location.name.string == name)
        #expect(location.safeText.string == text)
    }

    @Test func `tags are filled where they say nothing`() {
        let own = TrackTags(title: "Own", year: "1999")
        let filled = own.filled(
            from: TrackTags(title: "Other", artist: "Artist", album: "Album", number: "3")
        )
        #expect(
            filled == TrackTags(title: "Own", artist: "Artist", album: "Album", year: "1999", number: "3")
        )
    }
}
