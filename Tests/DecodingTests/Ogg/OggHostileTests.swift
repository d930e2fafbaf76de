import Media
import TestSupport
import Testing

@testable import Decoding

/// Ogg files that state impossible or expensive things.
@Suite struct OggHostileTests {
    /// A page of short packets.
    static func page(
        _ serial: Int,
        _ sequence: Int,
        flags: UInt8 = 0,
        granule: Int = 0,
        _ packets: [[UInt8]]
    )
        -> [UInt8]
    {
        var page =
            Array("OggS".utf8) + [0, flags] + little(UInt64(granule), 8) + little(UInt64(serial), 4)
            + little(UInt64(sequence), 4) + little(0, 4) + [UInt8(packets.count)]
        page += packets.map { UInt8($0.count) } + packets.flatMap { $0 }
        let sum = page.withUnsafeBytes { OggPage.checksum(of: $0) }
        page.replaceSubrange(22..<26, with: little(UInt64(sum), 4))
        return page
    }

    /// A stream of Opus with `packets` of 20 ms.
    static func stream(_ serial: Int, packets: [[UInt8]], isFirst: Bool = false) -> [UInt8] {
        let head = OpusHead.mark + [1, 1] + little(0, 2) + little(48_000, 4) + [0, 0, 0]
        let tags = Array("OpusTags".utf8) + little(0, 8)
        let music = packets.isEmpty ? [] : page(serial, 2, flags: 4, granule: 960 * packets.count, packets)
        return page(serial, 0, flags: 2, [head]) + page(serial, 1, [tags]) + music
    }

    /// A packet of 20 ms of silence.
    private let silent: [UInt8] = [0xF8, 0xFF, 0xFE]

    private func decoder(_ source: MemorySource) -> OggDecoder {
        OggDecoder(ProbedStream(source: source, subject: "song"))
    }

    @Test func `heads of damaged pages within each other cost a bounded number of checksums`() {
        // Each head states 255 segments, the lengths of which are the heads that follow.
        let head = Array("OggS".utf8) + [0, 0] + [UInt8](repeating: 0xFF, count: 21)
        let bytes = (0..<15_000).flatMap { _ in head }
        var walk = OggPageWalk(at: 0, holding: bytes)
        repeat { while walk.next() != nil {} } while walk.ended()
        #expect(
            walk.vainByteCount > 0 && walk.vainByteCount < 20 * Int64(bytes.count),
            "\(walk.vainByteCount)"
        )
    }

    @Test func `music whose last page states that it ends at its start is empty, and no crash`() async throws
    {
        let bytes =
            Self.stream(1, packets: []) + Self.page(1, 2, granule: 960, [silent])
            + Self.page(1, 3, flags: 4, granule: 0, [silent])
        let decoder = decoder(MemorySource(bytes, isStored: true))
        try await decoder.open()
        #expect(decoder.info.duration == .zero && decoder.info.timeMap == nil)
        #expect(try await decodeBytes(decoder).count <= 2 * 960 * 4)
        #expect(try await decoder.seek(to: .seconds(1)).frame == 0)
    }

    @Test func `streams without sound are not walked through for ever`() async throws {
        let empty = (1...10_000).flatMap { Self.stream($0, packets: []) }
        let source = MemorySource(Self.stream(0, packets: [silent, silent]) + empty)
        let decoder = decoder(source)
        #expect(try await decodeBytes(decoder, atMost: 2 * 960 * 4).count == 2 * 960 * 4)
        let error = await #expect(throws: MediaError.self) { try await decodeBytes(decoder) }
        #expect(error?.code == .decodingFailed)
        #expect(source.requests.count <= 2, "\(source.requests.count)")
    }

    @Test func `a station of very many streams keeps few heads, and plays on`() async throws {
        let count = 5_000
        let bytes = (0..<count).flatMap { Self.stream($0, packets: [silent]) }
        let decoder = decoder(MemorySource(bytes, isStored: true))
        #expect(try await decodeBytes(decoder).count == count * 960 * 4)
        #expect(decoder.chain.streams.count < 4_096, "\(decoder.chain.streams.count)")
        _ = try await decoder.seek(to: .zero)
        #expect(try await decodeBytes(decoder).count == count * 960 * 4)
    }

    /// libvorbis would allocate gigabytes for the last one, of 256 books with four million entries each.
    @Test(arguments: [(1 << 8, true), (1 << 17, true), (1 << 22, false)])
    func `a setup header of Vorbis may state no books of millions of entries`(entries: Int, isBounded: Bool) {
        func setup(books: Int) -> [UInt8] {
            var bits: [UInt8] = []
            func add(_ value: Int, _ count: Int) { bits += (0..<count).map { UInt8(value >> $0 & 1) } }
            add(books - 1, 8)
            let width = Int.bitWidth - entries.leadingZeroBitCount
            for _ in 0..<books {
                // Entries in the order of their codes, all of one length, without vectors.
                for (value, count) in [(0x564342, 24), (1, 16), (entries, 24), (1, 1), (width - 2, 5)] {
                    add(value, count)
                }
                add(entries, width)
                add(0, 4)
            }
            let bytes = stride(from: 0, to: bits.count, by: 8).map { start in
                (0..<8).reduce(UInt8(0)) {
                    $0 | (start + $1 < bits.count ? bits[start + $1] << UInt8($1) : 0)
                }
            }
            return [5] + Array("vorbis".utf8) + bytes
        }
        #expect(VorbisSetup.isBounded(setup(books: 2)) == isBounded)
        #expect(!VorbisSetup.isBounded(Array(setup(books: 2).dropLast(4))))
        #expect(!VorbisSetup.isBounded(setup(books: 256)) || entries == 1 << 8)
    }

    @Test func `a stream that is never played does not hide why the music is refused`() {
        let refusal = Refusal("Opus with 9 channels")
        let kate = [0x80] + Array("kate\0\0\0".utf8)
        #expect(throws: refusal) { _ = try OggCodecs.codec(of: kate, after: refusal) }
        #expect(throws: Refusal.self) { _ = try OggCodecs.codec(of: kate) }
    }

    @Test func `an empty packet of Opus brings no sound`() async throws {
        let head = OpusHead.mark + [1, 1] + little(0, 2) + little(48_000, 4) + [0, 0, 0]
        let codec = try OggCodecs.codec(of: head)
        let handle = try await codec.handle(headers: [], subject: "song")
        #expect(handle.decode(silent[...]) == 960)
        #expect(handle.decode([]) == 0)
    }

    /// The first packet of FLAC in Ogg: blocks of 4,096 frames of one channel of 16 bits, and `frames` in
    /// all.
    private func flacHead(frames: UInt8 = 0) -> [UInt8] {
        let stream: [UInt8] = [16, 0, 16, 0] + little(0, 6) + [0x0A, 0xC4, 0x40, 0xF0, 0, 0, 0, frames]
        return FLACMapping.mark + [1, 0, 0, 0] + Array("fLaC".utf8) + [0, 0, 0, 34] + stream + little(0, 16)
    }

    /// A frame of FLAC: `count` frames of silence with these codes of channels and bits.
    private func flacFrame(count: UInt8 = 16, channelsAndBits: UInt8 = 0x08) -> [UInt8] {
        let head: [UInt8] = [0xFF, 0xF8, 0x69, channelsAndBits, 0, count - 1]
        let frame = head + [FLACFrameHeader.check(head), 0, 0, 0]
        return frame + MadeFLAC.frameCheck(frame)
    }

    private let noComments: [UInt8] = [0x84, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0]

    @Test func `packets of FLAC that are none, or contradict the head, are silent for their granules`()
        async throws
    {
        let packets = [
            flacFrame(), [], [0x55], flacFrame(channelsAndBits: 0x18), flacFrame(channelsAndBits: 0x0C),
            Array(flacFrame().prefix(9)), flacFrame() + flacFrame(),
        ]
        for packet in packets {
            let head = Self.page(1, 0, flags: 2, [flacHead()]) + Self.page(1, 1, [noComments])
            let music =
                Self.page(1, 2, granule: 16, [flacFrame()])
                + Self.page(1, 3, granule: 48, [packet, flacFrame()])
                + Self.page(1, 4, flags: 4, granule: 64, [flacFrame()])
            let heard = try await decodeBytes(decoder(MemorySource(head + music)))
            #expect(heard.allSatisfy { $0 == 0 })
            // A packet of no bytes is no damage.
            #expect(heard.count == (packet.isEmpty ? 48 : 64) * 2, "\(packet)")
        }
    }

    @Test func `blocks of FLAC in Ogg that never end cost no memory, and the file is refused`() async throws {
        let blocks = (1...20_000).map { Self.page(1, $0, Array(repeating: [0x04], count: 200)) }
        let source = MemorySource(Self.page(1, 0, flags: 2, [flacHead()]) + blocks.flatMap { $0 })
        let memory = ResidentMemory.Bound()
        let error = await #expect(throws: MediaError.self) { try await decoder(source).open() }
        #expect(error?.code == .notAudio)
        memory.check("endless blocks")
    }

    @Test func `a packet of FLAC is kept up to the longest frame that its head allows`() throws {
        #expect(try FLACMapping(flacHead()).longestPacket == OggPackets.longestPacket)
        var wide = flacHead()
        // Blocks of 65,535 frames of 8 channels of 32 bits.
        wide.replaceSubrange(19..<21, with: [0xFF, 0xFF])
        wide.replaceSubrange(29..<31, with: [0x4F, 0xF0])
        let most = try FLACMapping(wide).longestPacket
        #expect((65_535 * 8 * 4...4 << 20).contains(most), "\(most)")
        var packets = OggPackets(upTo: most)
        var packet: [UInt8] = []
        // 13 MB in all; the last page ends the packet.
        for number in 0...200 {
            let lacing: [UInt8] = number < 200 ? Array(repeating: 255, count: 255) : [0]
            var bytes = Array("OggS".utf8) + [0, number > 0 ? 1 : 0] + little(0, 12)
            bytes += little(UInt64(number), 4) + little(0, 4) + [UInt8(lacing.count)] + lacing
            bytes += [UInt8](repeating: 7, count: lacing.reduce(0) { $0 + Int($1) })
            MadeOgg.mend(&bytes)
            var walk = OggPageWalk(at: 0, holding: bytes)
            guard let found = walk.next() else { continue }
            packet += packets.receive(found).packets.flatMap { $0 }
        }
        #expect((most..<most + 255).contains(packet.count), "\(packet.count) of \(most)")
    }

    @Test func `heads of FLAC in Ogg that state nonsense are refused`() throws {
        for (place, value) in [(5, 2), (9, 0), (13, 1), (27, 0), (17, 0)] as [(Int, UInt8)] {
            var head = flacHead()
            head[place] = value
            if place == 27 { (head[28], head[29]) = (0, head[29] & 0x0F) }
            if place == 17 { (head[19], head[20]) = (0, 0) }
            #expect(throws: Refusal.self, "at \(place)") { try FLACMapping(head) }
        }
        #expect(throws: Refusal.self) { try FLACMapping(Array(flacHead().prefix(40))) }
    }

    @Test func `a resource that becomes shorter than its head is survived`() async throws {
        let source = MemorySource(Self.stream(0, packets: [silent, silent]))
        let decoder = decoder(source)
        try await decoder.open()
        source.setLength(20)
        #expect(try await !decoder.scanStored())
        _ = decoder.isStored(at: .seconds(1))
    }
}
