import Media
import Testing

@testable import Playlists

@Suite
struct XSPFParserTests {
    private func list(_ tracks: String, attributes: String = " xmlns=\"http://xspf.org/ns/0/\"") -> String {
        "<?xml version=\"1.0\"?>\n<playlist version=\"1\"\(attributes)><title>List</title>"
            + "<trackList>\(tracks)</trackList></playlist>"
    }

    @Test(arguments: [" xmlns=\"http://xspf.org/ns/0/\"", ""])
    func `a track has its location, tags and duration`(attributes: String) throws {
        let track = """
            <track><location> http://h/a%20b.mp3?x=1&amp;y=2 </location><location>second</location>
            <title>T &lt;1&gt;</title><creator>C</creator><album>A</album><trackNum>3</trackNum>
            <duration>61500</duration><extension application="x"><title>no</title></extension></track>
            <track><title>no location</title></track><track><location>2.mp3</location></track>
            """
        var first = PlaylistEntry(reference: "http://h/a%20b.mp3?x=1&y=2", isURI: true)
        first.tags = TrackTags(title: "T <1>", artist: "C", album: "A", number: "3")
        first.duration = .milliseconds(61_500)
        let second = PlaylistEntry(reference: "2.mp3", isURI: true)
        #expect(try entries(list(track, attributes: attributes)) == [first, second])
    }

    @Test func `prefixes are understood, and elements of other namespaces ignored`() throws {
        let text = """
            <x:playlist xmlns:x="http://xspf.org/ns/0/" xmlns:o="http://other/"><x:trackList><x:track>
            <o:location>other.mp3</o:location><x:location>own.mp3</x:location></x:track></x:trackList>
            </x:playlist>
            """
        #expect(try entries(text).map(\.reference) == ["own.mp3"])
    }

    @Test func `CP1252 is understood`() throws {
        let head = "<?xml version=\"1.0\" encoding=\"windows-1252\"?><playlist><trackList><track><location>"
        let bytes =
            Array(head.utf8) + [0x80, 0xE9] + Array("</location></track></trackList></playlist>".utf8)
        #expect(try entries(bytes, as: .xspf).map(\.reference) == ["€é"])
    }

    @Test(arguments: [
        "<!DOCTYPE playlist [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;&a;&a;\">]>",
        "<!DOCTYPE playlist [<!ENTITY a SYSTEM \"file:///etc/passwd\">]>",
        "<!DOCTYPE playlist [<!ENTITY % a SYSTEM \"http://h/x.dtd\"> %a;]>",
    ])
    func `a list that declares entities is refused`(declaration: String) {
        let body = "<playlist><trackList><track><location>&a;</location></track></trackList></playlist>"
        #expect {
            try entries(declaration + body)
        } throws: { error in
            (error as? MediaError)?.code == .badPlaylist && "\(error)".contains("declares entities")
        }
    }

    @Test(arguments: [
        "<playlist><trackList>", "<playlist></trackList>", "<x><playlist/></x>", "<playlist/>",
        "<playlist>&undefined;</playlist>", "<playlist>" + String(repeating: "<a>", count: 5_000),
    ])
    func `a broken list is refused with a reason`(text: String) {
        #expect { try entries(text) } throws: { ($0 as? MediaError)?.code == .badPlaylist }
    }
}
