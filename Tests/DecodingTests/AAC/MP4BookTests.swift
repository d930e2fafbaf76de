import Foundation
import Media
import TestSupport
import Testing

@testable import Decoding

/// A book of eleven hours, whose tables have megabytes.
@Suite struct MP4BookTests {
    private static let seconds = 11 * 3_600

    /// A minute of noise, again and again, with the tables in front or behind.
    private static func book(_ arguments: [String]) async throws -> [UInt8] {
        let folder = try TemporaryFolder()
        let minute = MadeAAC("m4a", seconds: 60, rate: 24_000, channels: 1, bitRate: 12)
        let input = try folder.write(minute.bytes, to: "in.m4a")
        let output = folder.path("book.m4b")
        let loop = [
            "-v", "error", "-nostdin", "-stream_loop", "\(seconds / 60 - 1)", "-i", input, "-c", "copy",
        ]
        _ = try await RunningProcess.run("ffmpeg", loop + arguments + [output])
        return [UInt8](try Data(contentsOf: URL(fileURLWithPath: output)))
    }

    @Test(arguments: [(["-movflags", "+faststart"], 5), ([], 5)] as [([String], Int)])
    func `only the parts of the tables that are needed are requested, and none at the next start`(
        arguments: [String],
        most: Int
    ) async throws {
        let bytes = try await Self.book(arguments)
        let source = MemorySource(bytes)
        for start in 0..<2 {
            let before = source.requests.count
            let decoder = MP4Decoder(ProbedStream(source: source, subject: "book.m4b"))
            _ = try await decodeBytes(decoder, atMost: 40_000)
            let duration = try #require(decoder.info.duration)
            #expect(abs((duration - .seconds(Self.seconds)).seconds) < 60)
            let sound = source.requests.count
            if start == 0 { #expect(sound <= most, "\(source.requests)") }
            // Of tables of more than 3 MB.
            let landing = try await decoder.seek(to: .seconds(7 * 3_600))
            _ = try await decodeBytes(decoder, atMost: 40_000)
            #expect(landing.isExact && landing.frame == FrameCount(7 * 3_600 * 24_000))
            #expect(source.requests.count - sound <= 3, "\(source.requests)")
            if start == 1 { #expect(source.requests.count == before) }
            // None of the long tables was to be fetched as a whole.
            _ = try await decoder.scanStored()
            #expect(source.prefetched.allSatisfy { $0.count < 1 << 20 })
        }
    }

    @Test(arguments: [["-movflags", "+faststart"], []])
    func `a stored digest of the head replaces its boxes, and one that was changed does not`(
        arguments: [String]
    ) async throws {
        var bytes = try await Self.book(arguments)
        let first = MP4Decoder(ProbedStream(source: MemorySource(bytes), subject: "book.m4b"))
        let straight = try await decodeBytes(first, atMost: 40_000)
        let digest = first.seekTable()
        #expect((1...16_384).contains(digest.count), "\(digest.count)")
        // With such boxes, the file can be played by its digest only.
        for box in [
            "mvhd", "trak", "tkhd", "mdia", "mdhd", "minf", "stbl", "stsd", "stts", "stsc", "stsz", "stco",
            "udta",
        ] {
            let name = try #require(Data(bytes).range(of: Data(box.utf8)))
            bytes.replaceSubrange(name, with: "free".utf8)
        }
        func heard(_ table: [UInt8], cut: Int = 0) async throws -> [UInt8] {
            let source = MemorySource(Array(bytes[..<(bytes.count - cut)]), isStored: true)
            let decoder = MP4Decoder(ProbedStream(source: source, subject: "book.m4b", seekTable: table))
            #expect(decoder.seekTable().isEmpty)
            let heard = try await decodeBytes(decoder, atMost: 40_000)
            #expect(decoder.seekTable() == digest && decoder.info == first.info)
            return heard
        }
        #expect(try await heard(digest) == straight)
        var flipped = digest
        flipped[digest.count / 2] ^= 1
        await #expect(throws: MediaError.self) { try await heard(flipped) }
        await #expect(throws: MediaError.self) { try await heard(digest, cut: 1) }
    }

    @Test func `a digest states a length and only bytes before it, and none is made of a long head`() {
        var digest = HeadDigest()
        for offset in [0, 8, 1_000] as [Int64] { digest.record([1, 2, 3], in: offset..<offset + 3) }
        // Cut by the end of the file, and empty.
        digest.record([4], in: 2_000..<2_003)
        digest.record([], in: 3_000..<3_000)
        let stored = digest.stored(length: 1_003)
        #expect(HeadDigest(stored: stored, length: 1_003) == digest)
        #expect(digest.bytes(in: 8..<11) == [1, 2, 3] && digest.bytes(in: 8..<10) == nil)
        for length in [nil, 1_002, 1_004] as [Int64?] {
            #expect(HeadDigest(stored: stored, length: length) == nil)
        }
        #expect(digest.stored(length: nil).isEmpty)
        // The last part would end after the length that the bytes state, or its offset overflow.
        #expect(HeadDigest(stored: digest.stored(length: 1_002), length: 1_002) == nil)
        var hostile = HeadDigest()
        hostile.record([1, 2], in: Int64.max - 2..<Int64.max)
        #expect(HeadDigest(stored: hostile.stored(length: .max - 1), length: .max - 1) == nil)

        digest.record([UInt8](repeating: 5, count: HeadDigest.mostByteCount), in: 4_000..<4_000 + (256 << 10))
        #expect(digest.stored(length: 1 << 20).isEmpty && digest.bytes(in: 0..<3) == nil)
    }
}
