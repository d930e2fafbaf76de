/// Holds back the last samples of a stream whose numbering is only an estimate: they are padding if the
/// stream ends behind them, and music if it goes on.
struct PaddingHold {
    private let sampleCount: Int
    private var held: [Int16] = []

    /// Holds `sampleCount` samples of all channels back.
    init(sampleCount: Int) { self.sampleCount = max(0, sampleCount) }

    /// Takes `samples` in, and writes as many into `pcm` as have `sampleCount` behind them; returns how many.
    mutating func pass(_ samples: UnsafeBufferPointer<Int16>, into pcm: UnsafeMutableBufferPointer<Int16>)
        -> Int
    {
        guard sampleCount > 0 else { return pcm.update(fromContentsOf: samples) }
        held.append(contentsOf: samples)
        let count = min(max(0, held.count - sampleCount), pcm.count)
        _ = held.withUnsafeBufferPointer { pcm.update(fromContentsOf: $0.prefix(count)) }
        held.removeFirst(count)
        return count
    }
}
