import Media
import Testing

@testable import Segments

@Suite
struct MasterPlaylistTests {
    private static let location = web("http://h/a/master.m3u8")

    private func master(_ lines: String) throws(MediaError) -> MasterPlaylist {
        try MasterPlaylist(Array("#EXTM3U\n\(lines)\n".utf8), location: Self.location)
    }

    /// The name of the list that is chosen from `lines`, and if it has pictures.
    private func choice(_ lines: String, _ quality: StreamQuality = .high) throws(MediaError) -> String {
        let choice = try master(lines).choice(quality: quality, playing: [.aac, .mpeg])
        return (choice.location.url?.path.dropFirst(3) ?? "") + (choice.hasPictures ? " with pictures" : "")
    }

    @Test func `a list states its variants and renditions`() throws {
        let playlist = try master(
            """
            #EXT-X-START:TIME-OFFSET=-12.5
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="g",NAME="Main, stereo",LANGUAGE="de",DEFAULT=YES,URI="audio/de.m3u8"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="g",NAME="Other"
            #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="Words",URI="s.m3u8"
            #EXT-X-NEW:1
            #EXT-X-STREAM-INF:BANDWIDTH=2000000,AVERAGE-BANDWIDTH=1500000,CODECS="avc1.4d401f, mp4a.40.2",RESOLUTION=640x360,AUDIO="g"
            # a comment
            video.m3u8
            #EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=1,URI="i.m3u8"
            stray.m3u8
            """
        )
        let variant = VariantStream(
            location: web("http://h/a/video.m3u8"),
            bandwidth: 2_000_000,
            averageBandwidth: 1_500_000,
            codecs: ["avc1.4d401f", "mp4a.40.2"],
            resolution: "640x360",
            audioGroup: "g"
        )
        #expect(playlist.variants == [variant] && playlist.startOffset == .milliseconds(-12_500))
        #expect(playlist.renditions.map(\.name) == ["Main, stereo", "Other"])
        #expect(playlist.renditions.map(\.location) == [web("http://h/a/audio/de.m3u8"), nil])
    }

    @Test(
        arguments: [
            ("mp4a.40.2", .aac), ("mp4a.40.02", .aac), ("MP4A.40.5", .aac), ("mp4a.40.29", .aac),
            ("mp4a.40.1", .aac),
            ("mp4a", .aac), ("mp4a.67", .aac), ("mp4a.40.34", .mpeg), ("mp4a.69", .mpeg), ("mp4a.6B", .mpeg),
            ("mp3", .mpeg), ("fLaC", .flac), ("flac", .flac), ("Opus", .opus), ("alac", .alac),
            ("mp4a.40.42", .other("mp4a.40.42")), ("mp4a.a5", .other("mp4a.a5")), ("ec-3", .other("ec-3")),
            ("avc1.64001f", nil), ("hvc1.1.6.L93", nil), ("wvtt", nil), ("", nil), ("mp4a.", .aac),
        ] as [(String, StreamCodec?)]
    )
    func `codecs by their names`(name: String, codec: StreamCodec?) {
        #expect(StreamCodec(name) == codec)
    }

    private static let radio = """
        #EXT-X-STREAM-INF:BANDWIDTH=56000,CODECS="mp4a.40.5"
        low.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=339000,CODECS="mp4a.40.2"
        high.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=339000,CODECS="mp4a.40.2"
        spare.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=900000,CODECS="fLaC"
        flac.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=128000,CODECS="avc1.42c00b,mp4a.40.2",RESOLUTION=16x9
        video.m3u8
        """

    @Test func `of variants with sound only, the highest or the lowest that is played`() throws {
        #expect(try choice(Self.radio) == "high.m3u8" && choice(Self.radio, .low) == "low.m3u8")
        let flac = try master(Self.radio).choice(quality: .high, playing: [.aac, .flac])
        #expect(flac.location == web("http://h/a/flac.m3u8"))
    }

    @Test func `variants that state no codecs count as sound if they are small`() throws {
        let bare = "#EXT-X-STREAM-INF:BANDWIDTH=48000\n48\n#EXT-X-STREAM-INF:BANDWIDTH=320000\n320\n"
        #expect(try choice(bare) == "320" && choice(bare, .low) == "48")
        // As in RFC 8216 §8.4, where the other variants have pictures.
        let mixed = "#EXT-X-STREAM-INF:BANDWIDTH=1280000\nlow\n#EXT-X-STREAM-INF:BANDWIDTH=7680000\nhigh\n"
        #expect(
            try choice(mixed + "#EXT-X-STREAM-INF:BANDWIDTH=65000,CODECS=\"mp4a.40.5\"\nsound") == "sound"
        )
        #expect(try choice(mixed) == "low with pictures")
        let small = "#EXT-X-STREAM-INF:BANDWIDTH=200000\nunknown\n"
        #expect(
            try choice(small + "#EXT-X-STREAM-INF:BANDWIDTH=65000,CODECS=\"mp4a.40.5\"\nsound") == "sound"
        )
        // A variant without bandwidth, against the RFC.
        #expect(try choice("#EXT-X-STREAM-INF:PROGRAM-ID=1\nonly") == "only")
    }

    private static let video = """
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="low",NAME="A",URI="a.low"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="low",NAME="B",DEFAULT=YES,URI="b.low"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="high",NAME="A",URI="a.high"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="high",NAME="B",DEFAULT=YES
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="surround",NAME="A",URI="a.surround"
        #EXT-X-STREAM-INF:BANDWIDTH=1000000,CODECS="avc1.42c00b,mp4a.40.2",AUDIO="low"
        1.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=2000000,CODECS="avc1.42c00b,mp4a.40.2",AUDIO="high"
        2.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=9000000,CODECS="avc1.42c00b,ec-3",AUDIO="surround"
        3.m3u8
        """

    @Test func `the AUDIO group of a video is played, not the video`() throws {
        // DEFAULT goes first, then the first; one without a URI cannot be played alone.
        #expect(try choice(Self.video) == "a.high" && choice(Self.video, .low) == "b.low")
    }

    @Test func `without sound alone, the smallest variant with sound is played`() throws {
        let lines = """
            #EXT-X-STREAM-INF:BANDWIDTH=100000,CODECS="avc1.42c00b"
            silent
            #EXT-X-STREAM-INF:BANDWIDTH=2000000,CODECS="avc1.42c00b,mp4a.40.2"
            2
            #EXT-X-STREAM-INF:BANDWIDTH=1000000,CODECS="avc1.42c00b,mp4a.40.2"
            1
            """
        #expect(try choice(lines) == "1 with pictures" && choice(lines, .low) == "1 with pictures")
    }

    @Test func `an audio rendition with the URI of its variant is chosen as the variant`() throws {
        let lines = """
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="g",NAME="A",DEFAULT=YES,URI="audio.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=100000,CODECS="mp4a.40.2",AUDIO="g"
            audio.m3u8
            """
        #expect(try choice(lines) == "audio.m3u8")
    }

    @Test func `codecs that are not played are named`() {
        let error = failure { () throws(MediaError) in
            _ = try choice(
                "#EXT-X-STREAM-INF:BANDWIDTH=1,CODECS=\"ec-3\"\na\n#EXT-X-STREAM-INF:BANDWIDTH=2,CODECS=\"avc1,fLaC\"\nb"
            )
        }
        #expect(error?.code == .notAudio && error?.reason == "the HLS playlist offers FLAC, ec-3 only")
        #expect(
            failure { () throws(MediaError) in _ = try choice("#EXT-X-STREAM-INF:BANDWIDTH=1") }?.code
                == .badPlaylist
        )
    }

    @Test func `a rendition is found again under other URLs`() throws {
        for quality in [StreamQuality.high, .low] {
            for lines in [Self.radio, Self.video] {
                let first = try master(lines).choice(quality: quality, playing: [.aac])
                let later = try MasterPlaylist(
                    Array(("#EXTM3U\n" + lines).replacing("\n", with: "\r\n").utf8),
                    location: web("https://cdn/token/master.m3u8")
                ).choice(like: first.identity)
                #expect(later?.identity == first.identity)
                #expect(later?.location.url?.fileName == first.location.url?.fileName)
            }
        }
        let gone = try master(Self.radio).choice(quality: .low, playing: [.aac])
        #expect(try master(Self.video).choice(like: gone.identity) == nil)
    }

    @Test func `the identity is made of group, name, language, codecs and rank`() throws {
        let identity = try master(Self.video).choice(quality: .low, playing: [.aac]).identity
        let expected = RenditionChoice.Identity(
            groupID: "low",
            name: "B",
            language: "",
            codecs: "avc1.42c00b,mp4a.40.2",
            rank: 2
        )
        #expect(identity == expected)
        #expect(try master(Self.radio).choice(quality: .low, playing: [.aac]).identity.rank == 3)
    }

    @Test(
        arguments: [
            ("#EXT-X-STREAM-INF:BANDWIDTH=1\nfile:///a", .refusedLocalFile),
            ("#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",URI=\"file:/a\"", .refusedLocalFile),
            ("#EXT-X-STREAM-INF:BANDWIDTH=1\nrtmp://h/a", .unsupportedScheme),
        ] as [(String, MediaError.Code)]
    )
    func `other schemes are refused`(lines: String, code: MediaError.Code) {
        #expect(failure { () throws(MediaError) in _ = try master(lines) }?.code == code)
    }

    @Test func `a huge list is refused, and of many variants the first are taken`() throws {
        let many = String(repeating: "#EXT-X-STREAM-INF:BANDWIDTH=1\na\n", count: 10_000)
        #expect(try master(many).variants.count == MasterPlaylist.mostEntries)
        let error = failure { () throws(MediaError) in _ = try master(String(repeating: many, count: 4)) }
        #expect(error?.code == .listTooLarge)
    }
}
