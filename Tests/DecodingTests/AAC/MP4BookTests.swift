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
        // Without its movie's header, the file can be played by its digest only.
        let name = try #require(Data(bytes).range(of: Data("mdhd".utf8)))
        bytes.replaceSubrange(name, with: "free".utf8)
        func heard(_ table: [UInt8], cut: Int = 0) async throws -> [UInt8] {
            let source = MemorySource(Array(bytes[..<(bytes.count - cut)]), isStored: true)
            let decoder = MP4Decoder(ProbedStream(source: source, subject: "book.m4b", seekTable: table))
            let heard = try await decodeBytes(decoder, atMost: 40_000)
            #expect(decoder.seekTable() == digest)
            return heard
        }
        #expect(try await heard(digest) == straight)
        var flipped = digest
        flipped[digest.count / 2] ^= 1
        await #expect(throws: MediaError.self) { try await heard(flipped) }
        await #expect(throws: MediaError.self) { try await heard(digest, cut: 1) }
    }
}
