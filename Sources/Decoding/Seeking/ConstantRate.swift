/// Whether frames lie as a constant bit rate lays them, and the arithmetic that follows from it.
///
/// At a constant rate frame *n* begins within one byte (in Layer I one slot of four) of *n* times the
/// mean frame length, which is a fraction: padding makes up for it. The *residual*, how far behind
/// that product a frame begins, therefore keeps within a window of one byte's width. Counted
/// in whole numbers, so that nothing is rounded over hours of music.
package struct ConstantRate: Sendable, Equatable {
    /// Fewer frames prove nothing.
    private static let fewestFrames: Int64 = 12
    /// Beyond any file; keeps the products far from overflow.
    private static let largestOffset: Int64 = 1 << 40

    /// The mean frame length is `numerator / denominator` bytes.
    private let numerator: Int64
    private let denominator: Int64
    /// The residuals' allowed width, in units of 1/denominator bytes.
    private let window: Int64
    private var low: Int64 = .max
    private var high: Int64 = .min
    private var observedCount: Int64 = 0

    /// Nil in free format, where no rate is stated.
    package init?(_ header: FrameHeader) {
        guard header.bitRate > 0 else { return nil }
        numerator = Int64(header.bitRate) * Int64(header.samplesPerFrame)
        denominator = 8 * Int64(header.sampleRate)
        window = denominator * (header.layer == 1 ? 4 : 1)
    }

    /// Whether all frames seen so far fit, and they were enough.
    package var isConstant: Bool { observedCount >= Self.fewestFrames && high - low < window }

    /// Takes note that frame `number` begins `offset` bytes after frame 0.
    package mutating func observe(frame number: Int64, at offset: Int64) {
        guard let residual = residual(of: number, at: offset) else { return }
        low = min(low, residual)
        high = max(high, residual)
        observedCount += 1
    }

    /// Where frame `number` begins, counted from frame 0, to within a byte.
    package func offset(ofFrame number: Int64) -> Int64 {
        guard number < Self.largestOffset / 4096 else { return Self.largestOffset }
        return number * numerator / denominator
    }

    /// The number of the frame that begins at `offset`; nil where no frame of this rate and padding can begin.
    package func frame(at offset: Int64) -> Int64? {
        guard isConstant, (0..<Self.largestOffset).contains(offset) else { return nil }
        let number = (offset * denominator - (low + high) / 2 + numerator / 2) / numerator
        guard let residual = residual(of: number, at: offset),
            max(high, residual) - min(low, residual) < window
        else { return nil }
        return number
    }

    private func residual(of number: Int64, at offset: Int64) -> Int64? {
        guard (0..<Self.largestOffset).contains(offset), (0..<Self.largestOffset / 24).contains(number)
        else { return nil }
        return offset * denominator - number * numerator
    }
}
