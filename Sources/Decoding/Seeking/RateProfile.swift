import Media

/// The lengths of frames at some places of a stream with a variable rate whose frames do not tell their number: MP3 without
/// a header, and ADTS. With them, the number of its frames, if something states it. Positions between the places are
/// estimates. Pure.
///
/// Measured on three thirds of different rates in any order: with the rate at the start only, landings are up to 44 % of the
/// music off (simulated), with two samples 20 %, with a stated length 17 % (simulated), and with both 8 %.
struct RateProfile {
    /// The bytes of one sample. Some frames of any rate fit.
    static let sampleByteCount = 4 * 1_024
    /// The least rest of a stream for which samples pay.
    private static let leastRest: Int64 = 512 << 10
    /// The frames of the longest music that is believed.
    private static let mostFrames = 1e9
    /// By how much a stated length may change all rates. More contradicts them.
    private static let changes = 0.2...5.0

    /// A mean length of frames around an offset.
    private struct Sample {
        var offset: Int64
        var length: Double
    }

    private var samples: [Sample] = []
    /// The number of frames of the stream; `nil` if nothing states it.
    let statedFrames: Double?

    /// A profile of music of `statedFrames` frames.
    init(statedFrames: Double?) {
        self.statedFrames = statedFrames.flatMap { $0 > 0 && $0 < Self.mostFrames ? $0 : nil }
    }

    /// Records that the frames around `offset` have the mean length `length`; 0 if none were found there.
    mutating func sample(_ length: Double, around offset: Int64) {
        samples.append(Sample(offset: offset, length: length))
        samples.sort { $0.offset < $1.offset }
    }

    /// The offsets at which to sample before a seek behind `known`, in `length` bytes of music; empty if that was done.
    func unsampled(behind known: Int64, in length: Int64) -> [Int64] {
        guard samples.isEmpty, length - known > Self.leastRest else { return [] }
        let shares = statedFrames == nil ? [0.3, 0.7] : [0.5, 5.0 / 6]
        return shares.map { Int64($0 * Double(length)) }.filter { $0 > known }
    }

    /// The offset of frame `number` in `length` bytes of music, of which the frames up to `known`, of the mean length
    /// `mean`, were counted; `nil` if nothing more is known of it than these.
    func offset(
        ofFrame number: Int64,
        behind known: (number: Int64, offset: Int64),
        mean: Double,
        in length: Int64
    )
        -> Int64?
    {
        guard number > known.number, let pieces = pieces(behind: known, mean: mean, in: length) else {
            return nil
        }
        var rest = Double(number - known.number)
        for piece in pieces {
            let count = piece.byteCount / piece.length
            if rest <= count { return Int64(piece.start + rest * piece.length) }
            rest -= count
        }
        return length
    }

    /// The number of frames: as stated, or by the samples; `nil` if neither is known.
    func frameCount(behind known: (number: Int64, offset: Int64), mean: Double, in length: Int64) -> Double? {
        pieces(behind: known, mean: mean, in: length).map { Double(known.number) + Self.count($0) }
    }

    /// A part of the stream with one length of frames.
    private struct Piece {
        var start: Double
        var byteCount: Double
        var length: Double
    }

    private static func count(_ pieces: [Piece]) -> Double {
        pieces.reduce(0) { $0 + $1.byteCount / $1.length }
    }

    private func pieces(behind known: (number: Int64, offset: Int64), mean: Double, in length: Int64)
        -> [Piece]?
    {
        let samples = samples.filter { $0.offset > known.offset && $0.offset < length && $0.length > 0 }
        guard known.offset < length, mean > 0, statedFrames != nil || !samples.isEmpty else { return nil }
        let all = [Sample(offset: known.offset, length: mean)] + samples
        // Where in each gap between two places the rate changes.
        var shares = [Double](repeating: 0.5, count: samples.count)
        func pieces() -> [Piece] {
            var start = Double(known.offset)
            return all.enumerated().map { index, sample in
                var end = Double(length)
                if index < samples.count {
                    end =
                        Double(sample.offset) + shares[index] * Double(all[index + 1].offset - sample.offset)
                }
                defer { start = end }
                return Piece(start: start, byteCount: end - start, length: sample.length)
            }
        }
        guard let stated = statedFrames.map({ $0 - Double(known.number) }), stated > 0 else {
            return pieces()
        }
        // The smallest changes of the shares that lead to the stated number.
        let effects = samples.indices.map { index in
            Double(all[index + 1].offset - all[index].offset)
                * (1 / all[index].length - 1 / all[index + 1].length)
        }
        let weight = effects.reduce(0) { $0 + $1 * $1 }
        if weight > 0 {
            for _ in 0..<3 {
                let missing = stated - Self.count(pieces())
                for index in shares.indices {
                    shares[index] = min(max(shares[index] + missing * effects[index] / weight, 0), 1)
                }
            }
        }
        let result = pieces()
        let change = Self.count(result) / stated
        guard Self.changes.contains(change) else { return samples.isEmpty ? nil : result }
        return result.map { Piece(start: $0.start, byteCount: $0.byteCount, length: $0.length * change) }
    }
}
