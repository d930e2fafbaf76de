import Media
import TestSupport
import Testing

@testable import Decoding

@Suite struct VorbisCommentTests {
    @Test func `every known comment becomes a tag, whatever the case of its name`() {
        let comments = VorbisComments(
            vorbisComments([
                "TITLE=Été", "Artist=Someone", "artist=Somebody", "ALBUM=Shore", "ALBUMARTIST=Various",
                "date=1999-03-01", "TRACKNUMBER=3", "DISCNUMBER=1/2", "GENRE=Folk", "genre=Jazz",
                "COMPILATION=1", "COMMENT=nothing", "title=Another", "no value", "=no name", "",
            ])
        )
        var expected = TrackTags(
            title: "Été",
            artist: "Someone, Somebody",
            album: "Shore",
            year: "1999-03-01",
            number: "3"
        )
        expected.albumArtist = "Various"
        expected.disc = "1/2"
        expected.genre = "Folk, Jazz"
        expected.compilation = "1"
        #expect(comments.tags == expected)
        #expect(comments.loudness.isEmpty)
    }

    @Test func `ReplayGain takes precedence over R128, which is relative to another level`() {
        let r128 = ["R128_TRACK_GAIN=-512", "R128_ALBUM_GAIN=256"]
        #expect(VorbisComments(vorbisComments(r128)).loudness.track.gain == 3)
        let both = VorbisComments(
            vorbisComments(r128 + ["REPLAYGAIN_TRACK_GAIN=-6.50 dB", "replaygain_track_peak=0.98"])
        )
        #expect(both.loudness.track == Loudness.Level(gain: -6.5, peak: 0.98))
        #expect(both.loudness.album.gain == 6)
        let odd = ["R128_TRACK_GAIN=99999", "R128_TRACK_GAIN=loud", "REPLAYGAIN_TRACK_PEAK=-1"]
        #expect(VorbisComments(vorbisComments(odd)).loudness.isEmpty)
    }

    @Test func `a picture between the texts is skipped, and a comment that is cut ends them`() {
        let picture = "METADATA_BLOCK_PICTURE=" + String(repeating: "A", count: 200_000)
        let bytes = vorbisComments(["TITLE=One", picture, "ALBUM=Two"])
        #expect(VorbisComments(bytes).tags == TrackTags(title: "One", album: "Two"))
        for end in [bytes.count - 1, 100_000, 60] {
            #expect(VorbisComments(Array(bytes.prefix(end))).tags == TrackTags(title: "One"))
        }
    }

    @Test func `text that is not UTF-8 is read as that of Windows`() {
        let bytes = vorbisComments([Array("TITLE=Caf".utf8) + [0xE9]])
        #expect(VorbisComments(bytes).tags.title == "Café")
    }

    @Test(arguments: [[], [1], [255, 255, 255, 255], [0, 0, 0, 0, 255, 255, 255, 127, 1, 0]] as [[UInt8]])
    func `lengths and counts that are too large yield nothing`(bytes: [UInt8]) {
        #expect(VorbisComments(bytes).tags == TrackTags())
    }
}
