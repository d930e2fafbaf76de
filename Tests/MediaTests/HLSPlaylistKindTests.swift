import Media
import Testing

@Suite
struct HLSPlaylistKindTests {
    @Test(
        arguments: [
            ("#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\n1.ts", .media),
            ("\u{FEFF}#EXTM3U\r\n\r\n#EXT-X-VERSION:3\r\n#EXT-X-TARGETDURATION:9", .media),
            ("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\na.m3u8", .master),
            ("#EXTM3U\n#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\"", .master),
            // Ordinary M3U lists have private tags, and names that look like tags.
            ("#EXTM3U\n#EXT-X-APP:TV\n#EXT-X-LOGO:a.png\n#EXTINF:1,A\na.mp3", nil),
            ("#EXTM3U\n#EXT-X-MEDIA-SEQUENCE:1\n#EXTINF:1,A\na.mp3", nil),
            ("#EXTM3U\n#EXTINF:1,#EXT-X-TARGETDURATION\na#EXT-X-STREAM-INF.mp3", nil),
            ("#EXT-X-TARGETDURATION:9\n1.ts", nil), ("#EXTM3U", nil), ("", nil),
            ("ID3\n#EXTM3U\n#EXT-X-TARGETDURATION:9", nil),
        ] as [(String, HLSPlaylistKind?)]
    )
    func `HLS is recognized by three tags behind EXTM3U, and by nothing else`(
        text: String,
        kind: HLSPlaylistKind?
    ) {
        #expect(Array(text.utf8).withUnsafeBufferPointer { HLSPlaylistKind.of($0) } == kind)
    }
}
