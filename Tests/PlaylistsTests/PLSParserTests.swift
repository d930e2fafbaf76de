import Media
import Testing

@testable import Playlists

@Suite
struct PLSParserTests {
    @Test func `keys come in any order and case, entries in the order of their numbers`() throws {
        let text = """
            [Playlist]
            NumberOfEntries=99
            length2=61
            File10=ten.mp3
            TITLE2 = Artist - Title
            file2=two.mp3?a=b
            Length10=-1
            Title7=no file
            File=none.mp3
            File1x=none.mp3
            File99999999999999999999=none.mp3
            Version=2
            """
        let tags = TrackTags(title: "Title", artist: "Artist")
        let second = PlaylistEntry(reference: "two.mp3?a=b", tags: tags, duration: .seconds(61))
        #expect(try entries(text) == [second, PlaylistEntry(reference: "ten.mp3")])
    }

    @Test func `a list without files is refused`() {
        #expect(throws: MediaError(.badPlaylist, "list", "the playlist is empty")) {
            try entries("[playlist]\nNumberOfEntries=0")
        }
    }
}
