import TestSupport
import Testing

/// When one session is killed; equal seeds give equal points.
struct KillPoint: Sendable, CustomTestStringConvertible {
    enum Moment: Sendable {
        /// As soon as the origin has sent so many bytes.
        case sent(Int64)
        /// As soon as the origin has sent so many bytes, and a first commit was seen before that.
        case sentAfterCommit(Int64)
        /// When, with the origin holding at so many bytes, all that was sent is claimed.
        case claimed(Int64)
        /// When the music has been played to its end, while the session tidies up.
        case ended
    }

    /// Of the piece of music: 4 MB, so that commits of 512 KiB fall into its middle.
    static let length: Int64 = 4_000_000
    /// A commit is due when so much has come since the last one.
    private static let commitSize: Int64 = 512 << 10

    let seed: UInt64
    let moment: Moment
    /// Where the session begins, in seconds, so that the claims are not always one contiguous range.
    let start: Int

    init(seed: UInt64) {
        self.seed = seed
        var random = SeededGenerator(seed: seed)
        // From a later place on less is left to be sent.
        start = seed % 3 == 2 ? Int.random(in: 1..<30, using: &random) : 0
        let most = Self.length - Int64(start) * 40_000 - 80_000
        switch seed % 12 {
        case 0: moment = .sent(Int64.random(in: 1..<Self.commitSize + 200_000, using: &random))
        case 1: moment = .claimed(Int64.random(in: 1_000..<most, using: &random))
        // Around the places where a commit is due, so that some are killed in the middle of one.
        case 2..<6:
            let due = Self.commitSize * Int64.random(in: 2...6, using: &random)
            let place = min(most, due + Int64.random(in: -20_000..<150_000, using: &random))
            moment = .sentAfterCommit(max(place, Self.afterFirstCommit))
        default: moment = .sentAfterCommit(Int64.random(in: Self.afterFirstCommit..<most, using: &random))
        }
    }

    /// A point at the very end.
    init(atEnd seed: UInt64) {
        self.seed = seed
        moment = .ended
        start = 0
    }

    /// So many bytes let the first commit happen, with some that are on their way or do not count yet.
    static let afterFirstCommit = commitSize + 160_000

    var testDescription: String { "point \(seed): \(moment) from \(start) s" }
}
