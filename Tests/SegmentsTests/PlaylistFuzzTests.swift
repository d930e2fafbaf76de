import Media
import TestSupport
import Testing

@testable import Segments

/// Damaged lists: nothing crashes, and the tables are not larger than the text allows.
@Suite
struct PlaylistFuzzTests {
    private static let samples = [
        """
        #EXTM3U
        #EXT-X-VERSION:7
        #EXT-X-TARGETDURATION:10
        #EXT-X-MEDIA-SEQUENCE:7
        #EXT-X-DISCONTINUITY-SEQUENCE:3
        #EXT-X-START:TIME-OFFSET=-5.5,PRECISE=YES
        #EXT-X-KEY:METHOD=AES-128,URI="https://k/1?a,b",IV=0x000102030405060708090a0b0c0d0e0f
        #EXT-X-MAP:URI="init.mp4",BYTERANGE="720@0"
        #EXT-X-DATERANGE:ID="1",START-DATE="2026-11-27T08:00:12.5Z",X-TITLE="One",X-ARTIST="A"
        #EXT-X-PROGRAM-DATE-TIME:2026-11-27T09:00:00.000+01:00
        #EXTINF:9.5,Artist - One
        #EXT-X-BYTERANGE:1000@720
        one.m4s
        #EXTINF:10.25,title="a \\"b\\"",artist="c"
        #EXT-X-BYTERANGE:500
        one.m4s
        #EXT-X-DISCONTINUITY
        #EXT-X-GAP
        #EXTINF:4,
        http://other:80/three.m4s?x=1#f
        #EXT-X-KEY:METHOD=NONE
        #EXTINF:4.000001,
        four.m4s
        """,
        """
        #EXTM3U
        #EXT-X-TARGETDURATION:6
        #EXT-X-MEDIA-SEQUENCE:163374040
        #EXTINF:6,
        http://h/163374040.aac
        #EXTINF:6,
        http://h/163374041.aac
        #EXTINF:6,
        http://h/163374042.aac
        #EXTINF:6,
        http://h/163374043.aac
        #EXTINF:6,
        http://h/163374044.aac
        """,
        """
        #EXTM3U
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="g",NAME="A, B",LANGUAGE="de",DEFAULT=YES,URI="a.m3u8"
        #EXT-X-STREAM-INF:BANDWIDTH=2000000,CODECS="avc1.4d401f,mp4a.40.2",RESOLUTION=640x360,AUDIO="g"
        video.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=128000,CODECS="mp4a.40.5"
        sound.m3u8
        """,
    ].map { Array($0.utf8) }

    private static let numbers = [
        "-1", "0", "nan", "inf", "1e9", "0.0000001", "999999.999999", "4611686018427387904",
        "9223372036854775807", "18446744073709551616", "99999999999999999999999999", "0x", "@", "\"", ",", "",
        "\u{0}", "é",
    ].map { Array($0.utf8) }

    @Test(arguments: TestCount.seeds(20, full: 2_000))
    func `damaged lists crash nothing`(block: UInt64) {
        for seed in block * 100..<(block + 1) * 100 {
            var random = SeededGenerator(seed: seed)
            var window: LiveWindow?
            for _ in 0..<3 {
                let bytes = Self.damaged(&random)
                read(master: bytes, seed)
                guard let stored = read(bytes, piece: Int.random(in: 1...64, using: &random), seed) else {
                    continue
                }
                follow(stored, &window, &random, seed)
            }
        }
    }

    private static func damaged(_ random: inout SeededGenerator) -> [UInt8] {
        var bytes = samples.randomElement(using: &random) ?? []
        for _ in 0..<Int.random(in: 0...4, using: &random) where !bytes.isEmpty {
            let place = Int.random(in: 0..<bytes.count, using: &random)
            let span = place..<min(bytes.count, place + Int.random(in: 1...40, using: &random))
            switch Int.random(in: 0...6, using: &random) {
            case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
            case 1: bytes.removeSubrange(span)
            case 2: bytes.insert(contentsOf: bytes[span], at: Int.random(in: 0...bytes.count, using: &random))
            case 3: bytes.removeSubrange(place...)
            case 4: moveLines(&bytes, &random)
            default: stateNumber(&bytes, from: place, &random)
            }
        }
        return bytes
    }

    /// Puts a number of `numbers` in the place of the next one.
    private static func stateNumber(_ bytes: inout [UInt8], from place: Int, _ random: inout SeededGenerator)
    {
        let isDigit = { (byte: UInt8) in (0x30...0x39).contains(byte) }
        guard let start = bytes[place...].firstIndex(where: isDigit) else { return }
        let end = bytes[start...].firstIndex { !isDigit($0) } ?? bytes.count
        bytes.replaceSubrange(start..<end, with: numbers.randomElement(using: &random) ?? [])
    }

    private static func moveLines(_ bytes: inout [UInt8], _ random: inout SeededGenerator) {
        var lines = bytes.split(separator: 0x0A)
        lines.swapAt(
            Int.random(in: lines.indices, using: &random),
            Int.random(in: lines.indices, using: &random)
        )
        bytes = Array(lines.joined(separator: [0x0A]))
    }

    private func read(_ bytes: [UInt8], piece: Int, _ seed: UInt64) -> StoredPlaylist? {
        guard let stored = try? StoredPlaylist(bytes, piece: piece) else { return nil }
        #expect((try? StoredPlaylist(bytes))?.playlist == stored.playlist, "seed \(seed)")
        let playlist = stored.playlist
        #expect(
            playlist.times == playlist.times.sorted() && playlist.count <= bytes.count / 2 + 1,
            "seed \(seed)"
        )
        for index in 0..<playlist.count {
            guard let segment = try? stored.segment(index) else { continue }
            #expect(segment.duration >= .zero && segment.start >= .zero, "seed \(seed)")
            #expect(segment.key.map { $0.initializationVector.count == 16 } != false, "seed \(seed)")
            #expect(segment.range.map { $0.lowerBound >= 0 && !$0.isEmpty } != false, "seed \(seed)")
            #expect(playlist.index(at: segment.start).map { $0 >= index } == true, "seed \(seed)")
            if case .file = segment.location { Issue.record("a local file in a web list: seed \(seed)") }
        }
        #expect(playlist.titles.allSatisfy { $0.time >= .zero }, "seed \(seed)")
        // The stored text may be damaged, too.
        for index in 0..<playlist.count {
            _ = try? playlist.segment(index) { range in bytes.reversed() + stored.read(range).dropFirst(2) }
        }
        return stored
    }

    private func read(master bytes: [UInt8], _ seed: UInt64) {
        guard let master = try? MasterPlaylist(bytes, location: listLocation) else { return }
        for quality in [StreamQuality.high, .low] {
            guard let choice = try? master.choice(quality: quality, playing: [.aac, .mpeg]) else { continue }
            #expect(master.choice(like: choice.identity)?.identity == choice.identity, "seed \(seed)")
        }
    }

    private func follow(
        _ stored: StoredPlaylist,
        _ window: inout LiveWindow?,
        _ random: inout SeededGenerator,
        _ seed: UInt64
    ) {
        guard var live = window else {
            window = LiveWindow(stored.playlist, requestedAt: .zero)
            return
        }
        _ = live.receive(stored.playlist, requestedAt: .seconds(Int.random(in: 0...100, using: &random)))
        let place = live.place(at: .seconds(Int.random(in: -100...1_000_000, using: &random)))
        #expect(place.time >= .zero, "seed \(seed)")
        live.move(to: place.number)
        for _ in 0..<100 {
            let before = live.position
            let step = live.next()
            #expect(live.position >= before && live.time(of: live.position) >= .zero, "seed \(seed)")
            guard case .load(let number) = step else { break }
            #expect(live.numbers.contains(number), "seed \(seed)")
            live.advance()
        }
        window = live
    }
}
