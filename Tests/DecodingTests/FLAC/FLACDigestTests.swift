import Media
import TestSupport
import Testing

@testable import Decoding

/// The MD5 that a FLAC file states of its samples.
@Suite struct FLACDigestTests {
    private static let sound: [MadeFLAC] = [
        .plain, .bare,
        .byFlac(
            ["--blocksize=1000", "--channel-map=none"],
            MadeWave(samples: .s24, channels: 6, frames: 20_000, loudness: 0.1)
        ),
        .byFlac([], MadeWave(samples: .u8, channels: 1, frames: 20_000)), .byFFmpeg([]), .bySox(),
        MadeFLAC.byFlac(["--blocksize=1024", "--no-seektable"]).withVariableBlocks(),
    ]
    /// The offset of the MD5 in a file that begins with its mark.
    private static let digest = 26..<42

    private func isDamaged(_ bytes: [UInt8]) async throws -> Bool {
        try await FLACDigest.isDamaged(MemorySource(bytes, isStored: true, shortReads: 5))
    }

    @Test(arguments: sound)
    func `a sound file has its MD5, also between tags`(made: MadeFLAC) async throws {
        #expect(made.bytes[Self.digest].contains { $0 != 0 })
        #expect(try await !isDamaged(made.bytes))
        #expect(try await !isDamaged(tag(of: 3_000) + made.bytes + id3v1))
    }

    @Test(arguments: sound)
    func `a changed sample, a missing end and a damaged or missing frame are found`(made: MadeFLAC)
        async throws
    {
        let places = made.frames.places
        let middle = places[places.count / 2]
        var wrong = made.bytes
        wrong[Self.digest.lowerBound] ^= 1
        #expect(try await isDamaged(wrong))
        #expect(try await isDamaged(Array(made.bytes[..<middle.lowerBound])))
        #expect(
            try await isDamaged(Array(made.bytes[..<middle.lowerBound] + made.bytes[middle.upperBound...]))
        )
        var damaged = made.bytes
        damaged[middle.upperBound - 5] ^= 16
        #expect(try await isDamaged(damaged))
        let head = made.bytes[..<places[0].lowerBound]
        #expect(try await isDamaged(Array(head) + [UInt8](repeating: 0, count: 50_000)))
        // Without a sum nothing is known.
        damaged.replaceSubrange(Self.digest, with: [UInt8](repeating: 0, count: 16))
        #expect(try await !isDamaged(damaged))
    }

    private static let inOgg = [
        MadeFLAC.byFlac(["--ogg", "--serial-number=7"]),
        .byFlac(["--ogg", "--serial-number=7"], MadeWave(samples: .s24, frames: 60_000, loudness: 0.5)),
    ]

    @Test(arguments: inOgg)
    func `in Ogg a changed sum, a missing end and a damaged or missing page are found`(made: MadeFLAC)
        async throws
    {
        let pages = MadeOgg("", .flac, made.bytes).pages
        let middle = pages[pages.count / 2]
        #expect(try await !isDamaged(made.bytes))
        #expect(try await !isDamaged(tag(of: 3_000) + made.bytes))
        // Another stream that follows is not part of it.
        #expect(try await !isDamaged(made.bytes + MadeFLAC.byFlac(["--ogg", "--serial-number=8"]).bytes))
        let start = Int(middle.offset)
        let end = Int(middle.end)
        #expect(try await isDamaged(Array(made.bytes[..<start])))
        #expect(try await isDamaged(Array(made.bytes[..<start] + made.bytes[end...])))
        var damaged = made.bytes
        damaged[end - 5] ^= 16
        #expect(try await isDamaged(damaged))
        // The page has the checksum of the damage.
        MadeOgg.mend(&damaged)
        #expect(try await isDamaged(damaged))
        // After the head of the page: 13 bytes of the mapping, and 4 of the block.
        let digest = pages[0].page.headByteCount + 17 + 18
        var wrong = made.bytes
        wrong[digest] ^= 1
        MadeOgg.mend(&wrong)
        #expect(try await isDamaged(wrong))
        damaged.replaceSubrange(digest..<digest + 16, with: [UInt8](repeating: 0, count: 16))
        MadeOgg.mend(&damaged)
        #expect(try await !isDamaged(damaged))
        for other in [MadeOgg.vorbis, .opus] { #expect(try await !isDamaged(other.bytes)) }
    }

    @Test func `other files are not checked`() async throws {
        for bytes in [MadeWave(frames: 1_000).bytes, [], [1, 2, 3], Array("fLaC".utf8)] as [[UInt8]] {
            #expect(try await !isDamaged(bytes))
        }
    }
}
