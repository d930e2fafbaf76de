import Media
import TestSupport
import Testing

@testable import Decoding

/// MP4 files that state impossible or expensive things.
@Suite struct MP4HostileTests {
    /// The most requests of 64 KiB for opening, and for a seek: 8 MiB.
    private static let mostRequests = 160

    private func decoder(_ source: MemorySource) -> MP4Decoder {
        MP4Decoder(ProbedStream(source: source, subject: "song.m4a"))
    }

    private func frames(of made: MadeMP4, atMost: Int = 1_000_000) async throws -> Int {
        try await decodeBytes(decoder(MemorySource(made.bytes)), atMost: atMost * 8).count / 8
    }

    @Test func `a file of one packet, made by hand, plays`() async throws {
        #expect(try await frames(of: MadeMP4()) == 0)
        var made = MadeMP4()
        made.fragments = MadeMP4.fragment(MadeMP4.packets[..<10], at: 0)
        #expect(try await frames(of: made) == 9 * 1_024)
    }

    @Test func `runs of chunks whose packets overflow end the table`() {
        var table = SampleTable()
        table.parseRuns(MadeMP4.numbers([0, 3, 1, .max, 1, .max, .max, 1, .max, 1, 1]))
        #expect(table.runs.count == 1)
    }

    @Test func `a packet in a chunk that no table lists is not stored, and never the end of the music`()
        async throws
    {
        var made = MadeMP4()
        made.packetCount = 100_000
        made.times = [1, 100_000, 1_024]
        let decoder = decoder(MemorySource(made.bytes, isStored: true))
        try await decoder.open()
        _ = decoder.isStored(at: .seconds(1_000))
        let landing = try await decoder.seek(to: .seconds(1_000))
        #expect(landing.frame == 44_100_000)
        let error = await #expect(throws: MediaError.self) { try await decodeBytes(decoder) }
        #expect(error?.code == .decodingFailed)
    }

    @Test func `boxes of 100 KB in front of the music are not walked for ever`() async throws {
        let free = MadeMP4.box("free", [UInt8](repeating: 0, count: 100_000))
        for (count, plays) in [(20, true), (400, false)] {
            var made = MadeMP4()
            made.before = (0..<count).flatMap { _ in free }
            made.fragments = MadeMP4.fragment(MadeMP4.packets[..<10], at: 0)
            let source = MemorySource(made.bytes)
            let heard = try? await decodeBytes(decoder(source))
            #expect((heard != nil) == plays)
            #expect(source.requests.count < Self.mostRequests, "\(source.requests.count)")
        }
    }

    @Test func `fragments that never reach the wanted packet are not all read for a seek`() async throws {
        var made = MadeMP4()
        let free = MadeMP4.box("free", [UInt8](repeating: 0, count: 100_000))
        made.fragments = (0..<400).flatMap { _ in MadeMP4.fragment(MadeMP4.packets[..<2], at: 0) + free }
        let source = MemorySource(made.bytes)
        let decoder = decoder(source)
        try await decoder.open()
        let before = source.requests.count
        #expect(before < Self.mostRequests, "\(before)")
        _ = try await decoder.seek(to: .seconds(60))
        #expect(source.requests.count - before < Self.mostRequests, "\(source.requests.count)")
    }

    @Test func `fragments that state packets of gigabytes cost a seek neither memory nor many reads`()
        async throws
    {
        var made = MadeMP4()
        made.fragments = MadeMP4.fragment(MadeMP4.packets[..<10], at: 0, size: 20 << 20)
        let source = MemorySource(made.bytes, length: 3 << 30, mostReads: 2_000)
        let decoder = decoder(source)
        try await decoder.open()
        let before = source.requests.count
        _ = try await decoder.seek(to: .seconds(0.6))
        #expect(source.requests.count - before < Self.mostRequests, "\(source.requests.count)")
    }

    @Test func `a fragment that states a time of years follows at once, and one of seconds after silence`()
        async throws
    {
        let packets = MadeMP4.packets
        for (time, frames) in [(1 << 55, 20), (120 * 1_024, 130)] as [(UInt64, Int)] {
            var made = MadeMP4()
            made.fragments =
                MadeMP4.fragment(packets[..<10], at: 0) + MadeMP4.fragment(packets[10..<20], at: time)
            let source = MemorySource(made.bytes)
            let heard = try await decodeBytes(decoder(source), atMost: 1_000 * 1_024 * 8)
            #expect(heard.count == (frames - 1) * 1_024 * 8)
            // Silence needs no reads.
            #expect(source.reads.count < 20, "\(source.reads.count)")
        }
    }

    @Test func `times and scales of any size trap nowhere`() async throws {
        for scale in [1, 2, 43, 44, 44_100, .max >> 1, .max] as [UInt32] {
            for time in [0, 1, 0x7FFF_FFFF, 0xFFFF_FFFF, 1 << 56 - 1, .max] as [UInt64] {
                var made = MadeMP4(timescale: scale)
                made.fragments = MadeMP4.fragment(MadeMP4.packets[..<3], at: time)
                let source = MemorySource(made.bytes, length: 3 << 30, mostReads: 2_000)
                let decoder = decoder(source)
                guard (try? await decoder.open()) != nil else { continue }
                _ = try await decoder.seek(to: .seconds(1 << 40))
                _ = decoder.isStored(at: .seconds(1 << 40))
                _ = try await decodeBytes(decoder, atMost: 8_192)
                _ = try await decoder.seek(to: .seconds(1))
                source.setLength(100)
                _ = decoder.isStored(at: .seconds(1))
            }
        }
    }
}
