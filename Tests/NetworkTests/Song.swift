import Glibc
import Media
import System
import TestSupport

/// Real music, with its samples from the reference decoder.
struct Song: Sendable {
    let bytes: [UInt8]
    let pcm: [Int16]

    var length: Int64 { Int64(bytes.count) }

    /// Half a minute at a constant 128 kbit/s: 480 kB.
    static func short(seed: UInt64 = 1) async throws -> Song {
        try await made(.init(seconds: 30, seed: seed))
    }

    /// Five minutes at a constant 128 kbit/s: 4.8 MB.
    static func long() async throws -> Song { try await made(.init(seconds: 300)) }

    /// Five minutes at a variable rate, with a Xing header and its table.
    static func longVariable() async throws -> Song {
        try await made(.init(seconds: 300, rate: .variable(quality: 4, hasXing: true)))
    }

    private static let known = Locked<[MP3Fixtures.Options: Song]>([:])

    private static func made(_ options: MP3Fixtures.Options) async throws -> Song {
        if let song = known.withLock({ $0[options] }) { return song }
        let pcm = try await MP3Fixtures.referencePCM(of: try await MP3Fixtures.file(options))
        let song = Song(bytes: try await MP3Fixtures.bytes(options), pcm: PCM.samples(pcm))
        known.withLock { $0[options] = song }
        return song
    }
}

/// `true` if two sequences of samples are identical, bit by bit; fast in debug builds too.
func isSame(_ left: [Int16], _ right: some Collection<Int16>) -> Bool {
    let right = Array(right)
    guard left.count == right.count else { return false }
    return left.withUnsafeBytes { left in
        right.withUnsafeBytes { right in
            guard let first = left.baseAddress, let second = right.baseAddress else { return true }
            return memcmp(first, second, left.count) == 0
        }
    }
}
