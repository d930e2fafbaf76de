import Media

/// Applies the gain that the listener wants to what is written, moving from one to the next without a click. Pure.
struct GainRamp {
    /// 46 ms at 44.1 kHz: too slow for a click, too fast for a fade.
    static let frames = 2_048

    private var current: GainStage

    init(_ stage: GainStage) { current = stage }

    /// Scales `samples` as `wanted` says, the first frames on the way to it.
    mutating func apply(
        _ wanted: GainStage,
        to samples: UnsafeMutableBufferPointer<Int16>,
        channelCount: Int
    ) {
        guard wanted != current else { return wanted.apply(to: samples) }
        let count = min(samples.count, Self.frames * channelCount)
        let start = UnsafeMutableBufferPointer(rebasing: samples[..<count])
        wanted.apply(to: start, channelCount: channelCount, from: current)
        wanted.apply(to: UnsafeMutableBufferPointer(rebasing: samples[count...]))
        current = wanted
    }
}
