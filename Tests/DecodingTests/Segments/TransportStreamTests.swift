import Media
import TestSupport
import Testing

@testable import Decoding

/// Transport streams as encoders and lines make them, well and badly.
@Suite struct TransportStreamTests {
    private static let frames = MadeAAC("aac", seconds: 3).frameBytes
    private static let payloads = frames.map { Array($0.dropFirst(ADTSHeader.byteCount)) }

    @Test(arguments: [0, 1, 100, 65_535])
    func `the lengths that PES packets state are not believed`(length: Int) {
        let played = PlayedSegments([MadeTransport(Self.frames, length: length).bytes])
        #expect(played.packets == Self.payloads)
        #expect(played.times.count == (Self.frames.count + 4) / 5)
    }

    @Test func `a PES head may be spread over packets, and frames over PES packets`() throws {
        let content = Array(Self.frames.joined())
        var made = MadeTransport()
        made.tables([.init(type: 0x0F, pid: MadeTransport.sound)])
        // Each PES packet but the first begins within a frame.
        for start in stride(from: 0, to: content.count, by: 1_700) {
            let end = min(start + 1_700, content.count)
            let next = Self.frames.indices.first { Self.frames[..<$0].joined().count >= start }
            made.pes(
                Array(content[start..<end]),
                at: MadeTransport.ticks(of: next ?? Self.frames.count),
                extra: 240
            )
        }
        let played = PlayedSegments([made.bytes])
        #expect(played.packets == Self.payloads)
        for (packet, time) in played.times {
            #expect(time == MediaTime(time: Duration(MadeTransport.ticks(of: packet), per: 90_000)))
        }
        #expect(played.times.count > 10)
    }

    @Test func `times go on after 26 and a half hours`() throws {
        let first = (1 << 33) - MadeTransport.ticks(of: 50)
        var made = MadeTransport()
        made.tables([.init(type: 0x0F, pid: MadeTransport.sound)])
        for (number, frame) in Self.frames.enumerated() {
            made.pes(frame, at: (first + MadeTransport.ticks(of: number)) & ((1 << 33) - 1))
        }
        let played = PlayedSegments([made.bytes])
        #expect(played.times.count == Self.frames.count)
        for (packet, time) in played.times {
            #expect(time.time == Duration(first + MadeTransport.ticks(of: packet), per: 90_000))
        }
        // A player that seeks there knows about when it is.
        let later = PlayedSegments([made.bytes], near: .seconds(2 * 95_443 + 95_000))
        let begin = try #require(later.times.first).time.time
        #expect(begin == Duration(first + 2 << 33, per: 90_000))
    }

    @Test func `the first stream that is played is chosen, and others are ignored`() {
        var made = MadeTransport()
        made.tables([
            .init(type: 0x1B, pid: 0x100), .init(type: 0x81, pid: 0x103),
            .init(type: 0x0F, pid: MadeTransport.sound), .init(type: 0x03, pid: 0x104),
        ])
        for frame in Self.frames {
            made.packets(0x100, MadeTransport.pes([UInt8](repeating: 0xFF, count: 900), id: 0xE0))
            made.pes(frame)
            made.packets(0x104, MadeTransport.pes([UInt8](repeating: 0xFF, count: 400)))
        }
        #expect(PlayedSegments([made.bytes]).packets == Self.payloads)
    }

    typealias Listed = (streams: [MadeTransport.Stream], reason: String)

    private static func stream(_ type: UInt8, _ descriptors: [UInt8] = []) -> MadeTransport.Stream {
        .init(type: type, pid: 0x100 + Int(type), descriptors: descriptors)
    }

    static let refused: [Listed] = [
        ([stream(0x11)], "AAC in LATM"), ([stream(0x81)], "AC-3"), ([stream(0x06, [0x6A, 1, 0])], "AC-3"),
        ([stream(0x06, [0x0A, 4, 0, 0, 0, 0, 0x7A, 0])], "E-AC-3"), ([stream(0x87)], "E-AC-3"),
        ([stream(0x06, [5, 4] + Array("Opus".utf8))], "Opus"), ([stream(0x82), stream(0x82)], "DTS"),
        ([stream(0x1B), stream(0x81)], "H.264 and AC-3"), ([stream(0xCF)], "encrypted AAC (SAMPLE-AES)"),
        ([stream(0x15)], "no sound"), ([], "no sound"),
    ]

    @Test(arguments: refused.indices)
    func `a stream without sound that is played is refused by name`(index: Int) {
        let (streams, reason) = Self.refused[index]
        var made = MadeTransport()
        made.tables(streams)
        for stream in streams {
            made.packets(stream.pid, MadeTransport.pes([UInt8](repeating: 1, count: 900)))
        }
        let played = PlayedSegments([made.bytes])
        let expected = Refusal("MPEG-TS with " + SafeText(reason), played: "MPEG-TS with AAC or MP3")
        #expect(played.refusals == [expected])
    }

    @Test func `scrambled packets are not played, and a stream of them is refused`() {
        var made = MadeTransport()
        made.tables([.init(type: 0x0F, pid: MadeTransport.sound)])
        let pes = MadeTransport.pes(Array(Self.frames.joined()))
        made.packets(MadeTransport.sound, pes, flags: 0x80)
        let played = PlayedSegments([made.bytes])
        #expect(played.packets.isEmpty && played.refusals.first == Refusal("Scrambled MPEG-TS (DRM)"))

        var mixed = MadeTransport(Array(Self.frames.prefix(20)))
        mixed.packets(MadeTransport.sound, Array(pes.prefix(184 * 80)), flags: 0xC0)
        for frame in Self.frames.dropFirst(20) { mixed.pes(frame) }
        let heard = PlayedSegments([mixed.bytes])
        #expect(heard.refusals.isEmpty && heard.packets == Self.payloads)
    }

    @Test func `bytes between packets are skipped, and a lost packet costs only its frames`() {
        let made = MadeTransport(Self.frames).bytes
        var junk = made
        junk.insert(contentsOf: ByteFixtures.bytes(count: 300, seed: 4), at: 188 * 40)
        junk.insert(contentsOf: [0x47, 1, 2, 3], at: 188 * 20)
        junk.insert(contentsOf: [1, 2, 3], at: 0)
        let between = PlayedSegments([junk])
        #expect(Self.payloads.count - between.packets.count <= 4)
        #expect(between.packets.suffix(80) == Self.payloads.suffix(80))

        var lost = made
        lost.removeSubrange(188 * 40..<188 * 41)
        let played = PlayedSegments([lost])
        #expect((1...2).contains(Self.payloads.count - played.packets.count) && played.missing > 0)
        for (packet, time) in played.times where packet > 50 {
            let number = packet + Self.payloads.count - played.packets.count
            #expect(time == MediaTime(time: Duration(MadeTransport.ticks(of: number), per: 90_000)))
        }
    }

    @Test func `a lost packet within a head or a table costs no wrong time and no wrong stream`() throws {
        var made = MadeTransport(Array(Self.frames.prefix(10)))
        let start = made.bytes.count
        made.pes(Self.frames[10], at: 77, extra: 240)
        made.bytes.removeSubrange(start + 188..<start + 376)
        made.lose(1, of: MadeTransport.program)
        for frame in Self.frames.dropFirst(11) { made.pes(frame) }
        let played = PlayedSegments([made.bytes])
        var expected = Self.payloads
        expected.remove(at: 10)
        #expect(played.packets == expected)
        #expect(played.times.count == 2)
    }

    @Test func `damaged tables, and those that are not valid yet, are ignored`() {
        var made = MadeTransport(Array(Self.frames.prefix(50)))
        let other = [UInt8](
            MadeTransport.section(2, [0xE1, 1, 0xF0, 0, 0x03, 0xE1, 9, 0xF0, 0], isValid: false)
        )
        made.packets(MadeTransport.program, other)
        var damaged = MadeTransport.section(2, [0xE1, 1, 0xF0, 0, 0x11, 0xE1, 9, 0xF0, 0])
        damaged[14] ^= 1
        made.packets(MadeTransport.program, damaged)
        for frame in Self.frames.dropFirst(50) { made.pes(frame) }
        let played = PlayedSegments([made.bytes])
        #expect(played.refusals.isEmpty && played.packets == Self.payloads)
    }

    @Test func `a table may be spread over packets, behind the end of another`() {
        let text = [5, 200] + [UInt8](repeating: 0x20, count: 200)
        var made = MadeTransport()
        made.tables([
            .init(type: 0x1B, pid: 0x100, descriptors: text),
            .init(type: 0x0F, pid: MadeTransport.sound, descriptors: text),
        ])
        for frame in Self.frames { made.pes(frame) }
        #expect(PlayedSegments([made.bytes]).packets == Self.payloads)
    }

    @Test func `another stream of the program begins the sound anew`() throws {
        let mp3 = OddStreams.stereo.bytes
        let starts = OddStreams.frameStarts(mp3)
        var made = MadeTransport(Self.frames)
        made.tables([.init(type: 0x03, pid: 0x104)])
        for index in 0..<60 {
            made.packets(0x104, MadeTransport.pes(Array(mp3[starts[index]..<starts[index + 1]])))
        }
        let played = PlayedSegments([made.bytes])
        #expect(played.codecs.count == 2 && played.missing == 0)
        #expect(played.packets.prefix(Self.payloads.count) == Self.payloads[...])
        #expect(played.packets.count == Self.payloads.count + 60)
        // Without such a change, tables that come again change nothing.
        var same = MadeTransport(Array(Self.frames.prefix(50)))
        same.tables([.init(type: 0x0F, pid: 0x104), .init(type: 0x0F, pid: MadeTransport.sound)])
        for frame in Self.frames.dropFirst(50) { same.pes(frame) }
        let heard = PlayedSegments([same.bytes])
        #expect(heard.codecs.count == 1 && heard.packets == Self.payloads)
    }

    @Test func `of several programs the first with sound that is played counts`() {
        var made = MadeTransport()
        made.packets(0, MadeTransport.section(0, [0, 0, 0xE0, 0x10, 0, 1, 0xF0, 0, 0, 2, 0xF0, 1]))
        made.packets(0x1000, MadeTransport.section(2, [0xE1, 1, 0xF0, 0, 0x81, 0xE1, 9, 0xF0, 0]))
        made.packets(0x1001, MadeTransport.section(2, [0xE1, 1, 0xF0, 0, 0x0F, 0xE1, 1, 0xF0, 0]))
        for frame in Self.frames { made.pes(frame) }
        let played = PlayedSegments([made.bytes])
        #expect(played.refusals.isEmpty && played.packets == Self.payloads)
    }

    @Test func `ID3 tags in a stream of their own are titles`() {
        var made = MadeTransport()
        made.tables([
            .init(type: 0x0F, pid: MadeTransport.sound), .init(type: 0x15, pid: MadeTransport.titles),
        ])
        func title(_ text: String) -> [UInt8] {
            let filler = id3Frame("TXXX", [3] + Array(repeating: 0x41, count: 400))
            let frames = id3Frame("TPE1", [3] + Array("Band".utf8)) + id3Frame("TIT2", [3] + Array(text.utf8))
            return MadeTransport.pes(id3Tag(version: 4, filler + frames), at: 0, id: 0xBD)
        }
        made.packets(MadeTransport.titles, title("One"))
        for frame in Self.frames { made.pes(frame) }
        made.packets(MadeTransport.titles, title("Two"))
        made.packets(MadeTransport.titles, MadeTransport.pes(ByteFixtures.bytes(count: 70_000, seed: 1)))
        for frame in Self.frames { made.pes(frame) }
        let played = PlayedSegments([made.bytes])
        #expect(played.titles == ["Band - One", "Band - Two"])
        #expect(played.packets == Self.payloads + Self.payloads)
    }
}
