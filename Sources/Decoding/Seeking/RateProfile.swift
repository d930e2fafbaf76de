import Media

/// Estimates the places of frames in a stream of variable bit rate whose frames do not state their number:
/// MP3 without a Xing or VBRI header, and ADTS. It knows the mean length of frames at some sampled places
/// and, if something states it, the number of all frames. Pure.
///
/// Measured on music whose thirds have three or two of the rates V9, V5 and V0, in any order: after four to
/// six samples, far seeks land at most 6 % of the music off, and 4 % if its length is stated. If the rate
/// stays about the same, two samples are taken. A part of another rate between two sampled places of equal
/// rate is missed: of the seeks in music whose thirds have any rates from 48 to 320 kbit/s, 2 % land more
/// than 10 % off (simulated).
struct RateProfile {
    /// The bytes of one sample. Some frames of any rate fit.
    static let sampleByteCount = 4 * 1_024
    /// The places at which a stream is sampled.
    struct Places {
        /// The first places, as shares of the bytes.
        let first: [Double]
        /// The most places in all.
        let most: Int

        /// For accuracy: the middle detects rate B in music whose thirds have the rates A, B and A.
        static let accurate = Places(first: [0.5, 0.9], most: 6)
        /// For the fewest requests.
        static let few = Places(first: [0.3, 0.7], most: 2)
    }

    /// A gap between two places is sampled if the uncertainty of its number of frames exceeds this share of
    /// all frames.
    private static let leastUncertainty = 0.08
    /// The least number of bytes after the known frames for which samples are worth their requests.
    private static let leastRest: Int64 = 512 << 10
    /// The largest stated number of frames that is believed.
    private static let mostFrames = 1e9
    /// The factors by which a stated length may change all sampled lengths. A factor outside this range
    /// contradicts the samples, and is not applied.
    private static let changes = 0.2...5.0

    /// What is known of the stream besides its samples.
    struct Known {
        /// The number of frames that were counted.
        let number: Int64
        /// The offset at their end, from the first frame.
        let offset: Int64
        /// Their mean length.
        let mean: Double
        /// The bytes of all music.
        let length: Int64
    }

    /// A mean length of frames around an offset.
    private struct Sample {
        var offset: Int64
        var length: Double
    }

    private let places: Places
    private var samples: [Sample] = []
    /// The number of frames of the stream; `nil` if nothing states it.
    let statedFrames: Double?

    init(statedFrames: Double?, places: Places) {
        self.places = places
        self.statedFrames = statedFrames.flatMap { $0 > 0 && $0 < Self.mostFrames ? $0 : nil }
    }

    /// Records that the frames around `offset` have the mean length `length`; 0 if none were found there.
    mutating func sample(_ length: Double, around offset: Int64) {
        samples.append(Sample(offset: offset, length: length))
        samples.sort { $0.offset < $1.offset }
    }

    /// The offset at which to sample next before a seek beyond `known`; `nil` if no further sample is worth
    /// its request.
    ///
    /// Two fixed places come first. Then the middle of a gap follows, to narrow down the place where its rate
    /// changes: of the gaps with different rates at their ends, the one whose number of frames is the most
    /// uncertain.
    func nextSample(behind known: Known) -> Int64? {
        guard samples.count < places.most, known.length - known.offset > Self.leastRest else { return nil }
        let last = max(known.offset, samples.last?.offset ?? 0)
        let first = places.first.map { Int64($0 * Double(known.length)) }
        if samples.count < first.count, let place = first.first(where: { $0 > last }) { return place }
        guard let count = frameCount(behind: known) else { return nil }
        let all = rates(behind: known)
        let gaps = zip(all, all.dropFirst()).map { low, high in
            (middle: (low.offset + high.offset) / 2, uncertainty: abs(Self.effect(low, high)))
        }
        guard let gap = gaps.max(by: { $0.uncertainty < $1.uncertainty }),
            gap.uncertainty > Self.leastUncertainty * count
        else { return nil }
        // Samples no middle twice, even if no frames were found there.
        return samples.contains { $0.offset == gap.middle } ? nil : gap.middle
    }

    /// The offset of frame `number`; `nil` if there are neither samples nor a stated number beyond `known`.
    func offset(ofFrame number: Int64, behind known: Known) -> Int64? {
        guard number > known.number, let pieces = pieces(behind: known) else { return nil }
        var rest = Double(number - known.number)
        for piece in pieces {
            let count = piece.byteCount / piece.length
            if rest <= count { return Int64(piece.start + rest * piece.length) }
            rest -= count
        }
        return known.length
    }

    /// The number of frames as stated, or else as estimated from the samples; `nil` if neither is known.
    func frameCount(behind known: Known) -> Double? {
        pieces(behind: known).map { Double(known.number) + Self.count($0) }
    }

    /// A part of the stream in which all frames are taken to have one length.
    private struct Piece {
        var start: Double
        var byteCount: Double
        var length: Double
    }

    private static func count(_ pieces: [Piece]) -> Double {
        pieces.reduce(0) { $0 + $1.byteCount / $1.length }
    }

    /// The mean length up to the end of the known frames, and the samples after it that found frames.
    private func rates(behind known: Known) -> [Sample] {
        [Sample(offset: known.offset, length: known.mean)]
            + samples.filter { $0.offset > known.offset && $0.offset < known.length && $0.length > 0 }
    }

    /// How many more frames the gap has if the rate changes at `high` instead of at `low`.
    private static func effect(_ low: Sample, _ high: Sample) -> Double {
        Double(high.offset - low.offset) * (1 / low.length - 1 / high.length)
    }

    private func pieces(behind known: Known) -> [Piece]? {
        let all = rates(behind: known)
        let gapCount = all.count - 1
        guard known.offset < known.length, known.mean > 0, statedFrames != nil || gapCount > 0 else {
            return nil
        }
        // The share of each gap between two places that precedes the change of its rate.
        var shares = [Double](repeating: 0.5, count: gapCount)
        func pieces() -> [Piece] {
            var start = Double(known.offset)
            return all.enumerated().map { index, sample in
                var end = Double(known.length)
                if index < gapCount {
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
        // Makes the smallest changes of the shares that lead to the stated number.
        let effects = zip(all, all.dropFirst()).map(Self.effect)
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
        guard Self.changes.contains(change) else { return gapCount == 0 ? nil : result }
        return result.map { Piece(start: $0.start, byteCount: $0.byteCount, length: $0.length * change) }
    }
}

extension ByteSource {
    /// Reads the bytes of a sample at `offset`; no others are fetched for it.
    func sample(at offset: Int64) async throws -> [UInt8] {
        let range = offset..<offset + Int64(RateProfile.sampleByteCount)
        willRead(range)
        return try await window(of: range).bytes
    }
}
