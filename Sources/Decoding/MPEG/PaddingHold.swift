/// Holds back the last samples of a stream whose numbering is only an estimate: they are padding if the
/// stream ends behind them, and music if it goes on.
struct PaddingHold {
    private var sampleCount: Int
    private var held: [Int16] = []

    /// Holds `sampleCount` samples of all channels back.
    init(sampleCount: Int) { self.sampleCount = max(0, sampleCount) }

    /// How many samples are held.
    var heldCount: Int { held.count }

    /// Whether samples are there that need not be held any more: they go before all others.
    var isDraining: Bool { sampleCount == 0 && !held.isEmpty }

    /// Takes `samples` in, and writes as many into `pcm` as have `sampleCount` behind them; returns how many.
    mutating func pass(_ samples: UnsafeBufferPointer<Int16>, into pcm: UnsafeMutableBufferPointer<Int16>)
        -> Int
    {
        guard sampleCount > 0 || !held.isEmpty else { return pcm.update(fromContentsOf: samples) }
        held.append(contentsOf: samples)
        return write(into: pcm)
    }

    /// Holds nothing back any more. Of what is held, what `keeps` says of its place is music.
    mutating func release(keeping keeps: (Int) -> Bool = { _ in true }) {
        sampleCount = 0
        held = held.indices.filter(keeps).map { held[$0] }
    }

    /// Writes into `pcm` what is held and need not be; returns how many samples.
    mutating func drain(into pcm: UnsafeMutableBufferPointer<Int16>) -> Int {
        isDraining ? write(into: pcm) : 0
    }

    private mutating func write(into pcm: UnsafeMutableBufferPointer<Int16>) -> Int {
        let count = min(max(0, held.count - sampleCount), pcm.count)
        _ = held.withUnsafeBufferPointer { pcm.update(fromContentsOf: $0.prefix(count)) }
        held.removeFirst(count)
        return count
    }
}
