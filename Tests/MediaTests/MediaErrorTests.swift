import Media
import Testing

@Suite
struct MediaErrorTests {
    @Test(arguments: [
        ("not cached (offline); play it once without --offline", "not cached (offline)"),
        ("server error 503", "server error 503"), ("a;b; c; d", "a;b"),
    ])
    func `the reason is the cause without the advice`(cause: String, reason: SafeText) {
        #expect(MediaError(.offline, "a", SafeText(cause)).reason == reason)
    }

    @Test func `the text is the thing and the cause in one sentence`() {
        let error = MediaError(.notFound, SafeText("/a\nb"), "there is no such file")
        #expect(error.description == "/a b: there is no such file")
        #expect(error.safeText.string == error.description)
    }

    @Test(arguments: [
        ("/music/Song 1.mp3", "Song 1.mp3", "/music/Song 1.mp3"), ("/", "/", "/"),
        ("http://me:pw@h.example/a/%C3%A9.mp3?key=1", "é.mp3", "http://h.example/a/%C3%A9.mp3?…"),
        ("http://h.example/", "h.example", "http://h.example/"),
        ("http://h.example/%1B%5D0;x.mp3", "\u{FFFD}]0;x.mp3", "http://h.example/%1B%5D0;x.mp3"),
    ])
    func `the last part of its path names a track, or its host, without secrets`(
        address: String,
        name: String,
        text: String
    ) {
        let location = WebURL(address).map(ResourceLocation.web) ?? .file(address)
        #expect(location.name.string == name && location.safeText.string == text)
    }

    @Test func `missing tags are taken from the other tags`() {
        let own = TrackTags(title: "Own", year: "1999")
        let other = TrackTags(title: "Other", artist: "Artist", album: "Album", number: "3")
        let filled = TrackTags(title: "Own", artist: "Artist", album: "Album", year: "1999", number: "3")
        #expect(own.filled(from: other) == filled)
    }
}
