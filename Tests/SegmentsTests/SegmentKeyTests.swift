import Media
import Testing

@testable import Segments

/// What holds for a segment because of tags before it: ranges, initialization sections and keys.
@Suite
struct SegmentKeyTests {
    private func stored(_ lines: String) throws(MediaError) -> StoredPlaylist {
        try StoredPlaylist("#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-MEDIA-SEQUENCE:258\n" + lines)
    }

    @Test func `an implicit BYTERANGE continues the one before of the same URI`() throws {
        let stored = try stored(
            """
            #EXT-X-BYTERANGE:100@50
            a.ts
            #EXT-X-BYTERANGE:20
            a.ts
            #EXT-X-BYTERANGE:7
            b.ts
            #EXT-X-BYTERANGE:3
            b.ts
            whole.ts
            #EXT-X-BYTERANGE:9
            a.ts
            """
        )
        #expect(try stored.segments.map(\.range) == [50..<150, 150..<170, 0..<7, 7..<10, nil, 0..<9])
    }

    @Test(arguments: ["0@0", "x", "5@-1", "4398046511105@0", "9@4398046511104"])
    func `a BYTERANGE that is no range is refused`(range: String) {
        let error = failure { () throws(MediaError) in
            _ = try stored("#EXT-X-BYTERANGE:\(range)\na\n#EXT-X-BYTERANGE:9\na\n")
        }
        #expect(error?.code == .badPlaylist)
    }

    @Test func `MAP holds until the next MAP, also behind a discontinuity`() throws {
        let stored = try stored(
            """
            zero.ts
            #EXT-X-MAP:URI="init.mp4",BYTERANGE="720@16"
            1.m4s
            #EXT-X-DISCONTINUITY
            2.m4s
            #EXT-X-MAP:URI="other.mp4"
            3.m4s
            """
        )
        let first = InitializationSectionShape(url: "http://h/a/init.mp4", range: 16..<736)
        let other = InitializationSectionShape(url: "http://h/a/other.mp4", range: nil)
        #expect(
            try stored.segments.map { $0.section.map(InitializationSectionShape.init) } == [
                nil, first, first, other,
            ]
        )
    }

    private struct InitializationSectionShape: Equatable {
        var location: ResourceLocation
        var range: ByteRange?

        init(url: String, range: ByteRange?) {
            location = web(url)
            self.range = range
        }

        init(_ section: InitializationSection) {
            location = section.location
            range = section.range
        }
    }

    @Test func `a key without IV uses the media sequence number`() throws {
        let stored = try stored("#EXT-X-KEY:METHOD=AES-128,URI=\"k\"\n1.ts\n2.ts\n")
        let keys = try stored.segments.map(\.key)
        #expect(keys.map { $0?.location } == [web("http://h/a/k"), web("http://h/a/k")])
        #expect(keys.map { $0?.initializationVector.suffix(3) } == [[0, 1, 2], [0, 1, 3]])
        #expect(keys.allSatisfy { $0?.initializationVector.count == 16 })
    }

    @Test func `keys change, and NONE ends them`() throws {
        let stored = try stored(
            """
            clear.ts
            #EXT-X-KEY:METHOD=AES-128,URI="k1?a,b",IV=0x000000000000000000000000000000aB
            1.ts
            #EXT-X-KEY:METHOD=AES-128,URI="https://keys/k2",IV=0x01,KEYFORMAT="identity"
            #EXT-X-MAP:URI="init.mp4"
            2.ts
            #EXT-X-KEY:METHOD=NONE
            3.ts
            """
        )
        let segments = try stored.segments
        #expect(
            segments.map { $0.key?.location } == [nil, web("http://h/a/k1?a,b"), web("https://keys/k2"), nil]
        )
        #expect(segments.map { $0.key?.initializationVector.last } == [nil, 0xAB, 1, nil])
        // The section has the key of its own place.
        #expect(segments[3].section?.key?.location == web("https://keys/k2"))
    }

    @Test func `a key in a format of DRM beside one that is none does not matter`() throws {
        let drm =
            "#EXT-X-KEY:METHOD=AES-128,URI=\"https://drm/\",KEYFORMAT=\"com.apple.streamingkeydelivery\"\n"
        let own = "#EXT-X-KEY:METHOD=AES-128,URI=\"k\"\n"
        for keys in [drm + own, own + drm] {
            #expect(try stored(keys + "1.ts").segment(0).key?.location == web("http://h/a/k"))
        }
        // Nor does a key that holds for no segment.
        #expect(try stored(drm + "#EXT-X-KEY:METHOD=NONE\n1.ts").segment(0).key == nil)
    }

    @Test(
        arguments: [
            ("METHOD=SAMPLE-AES,URI=\"k\"", "SAMPLE-AES"),
            ("METHOD=SAMPLE-AES-CTR,URI=\"k\"", "SAMPLE-AES-CTR"),
            ("METHOD=ROT13,URI=\"k\"", "ROT13"), ("URI=\"k\"", "an unnamed method"),
            (
                "METHOD=SAMPLE-AES,URI=\"skd://k\",KEYFORMAT=\"com.apple.streamingkeydelivery\"",
                "FairPlay (DRM)"
            ),
            (
                "METHOD=SAMPLE-AES-CTR,URI=\"data:x\",KEYFORMAT=\"urn:uuid:edef8ba9-79d6-4ace-a3c8-27dcd51d21ed\"",
                "Widevine (DRM)"
            ), ("METHOD=AES-128,URI=\"k\",KEYFORMAT=\"com.microsoft.playready\"", "PlayReady (DRM)"),
            ("METHOD=AES-128,URI=\"k\",KEYFORMAT=\"new\"", "new (DRM)"),
        ]
    )
    func `SAMPLE-AES, DRM and unknown methods are refused by name`(key: String, name: String) {
        let error = failure { () throws(MediaError) in _ = try stored("#EXT-X-KEY:\(key)\n1.ts") }
        #expect(error?.code == .notAudio)
        #expect(error?.reason.string == "encrypted with \(name)")
        #expect((error?.cause.string.count ?? 99) <= 80)
    }

    @Test(arguments: [
        "METHOD=AES-128", "METHOD=AES-128,URI=\"\"", "METHOD=AES-128,URI=\"k\",IV=12",
        "METHOD=AES-128,URI=\"k\",IV=0xQ",
    ])
    func `a key without URI, or with a wrong IV, is refused`(key: String) {
        let error = failure { () throws(MediaError) in _ = try stored("#EXT-X-KEY:\(key)\n1.ts") }
        #expect(error?.code == .badPlaylist)
    }
}
