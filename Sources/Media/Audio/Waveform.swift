/// The peaks of a track in equal parts of its time. Pure.
///
/// A track of more than a second has 1,000 to 2,000 columns: if it turns out longer, each two of them become
/// one.
package struct Waveform: Sendable, Equatable {
    package static let mostColumns = 2_000
    /// The time of a column of the shortest tracks, in nanoseconds.
    private static let shortestStep: Int64 = 1_000_000
    /// More doublings than any track needs: 2,000 columns are then 2.4 million hours, and their nanoseconds
    /// still fit 64 bits.
    private static let mostDoublings = 32
    /// Frames behind this time, which no track has and a hostile one states, are left out; in seconds.
    private static let latest: Int64 = 1 << 32

    /// How many times the shortest step was doubled.
    private var doublings = 0
    /// One byte each: 0 if nothing of its time is known, else 1...255 for the largest sample, 255 for full
    /// scale. Columns behind the last known one may be missing.
    package private(set) var columns: [UInt8] = []

    /// Has room for `duration`, or for two seconds if that is unknown.
    package init(duration: Duration? = nil) {
        if let duration { fit(Self.nanoseconds(duration)) }
    }

    /// The form in which it is stored: the doublings, then the columns.
    package var bytes: [UInt8] { [UInt8(doublings)] + columns }

    /// `nil` for bytes of another form.
    package init?(bytes: [UInt8]) {
        guard let first = bytes.first, first <= Self.mostDoublings, bytes.count <= 1 + Self.mostColumns else {
            return nil
        }
        doublings = Int(first)
        columns = Array(bytes.dropFirst())
    }

    /// Nanoseconds of a column.
    private var step: Int64 { Self.shortestStep << Int64(doublings) }

    /// Takes over the peaks of `other`, a waveform of the same track. Where both know a column, the higher
    /// peak stays.
    package mutating func merge(_ other: Waveform) {
        var other = other
        while other.doublings < doublings { other.halve() }
        while doublings < other.doublings { halve() }
        reserve(other.columns.count)
        for (index, byte) in other.columns.enumerated() { columns[index] = max(columns[index], byte) }
    }

    /// Adds whole frames of `format`, of which the first is number `frame` of the track.
    package mutating func add(_ pcm: UnsafeRawBufferPointer, of format: AudioFormat, at frame: FrameCount) {
        let rate = Int64(format.sampleRate)
        guard frame >= 0, frame / rate < Self.latest else { return }
        let end = frame + FrameCount(pcm.count / format.bytesPerFrame)
        guard frame < end else { return }
        fit(Self.time(of: end, rate))
        var first = frame
        while first < end {
            let column = Int(Self.time(of: first, rate) / step)
            let next = min(end, max(first + 1, Self.frame(at: Int64(column + 1) * step, rate)))
            let slice = Int(first - frame) * format.bytesPerFrame..<Int(next - frame) * format.bytesPerFrame
            let peak = Self.peak(UnsafeRawBufferPointer(rebasing: pcm[slice]), format.sample)
            reserve(column + 1)
            columns[column] = max(columns[column], 1 + UInt8((min(1, peak) * 254).rounded()))
            first = next
        }
    }

    /// The heights of `count` bars of equal time that show `duration`, 0...1: the mean of the known peaks.
    /// `nil` for a bar of which nothing is known.
    ///
    /// The highest peak instead would be the same in all bars of most music of today.
    package func heights(_ count: Int, of duration: Duration) -> [Float?] {
        let whole = Double(Self.nanoseconds(duration)) / Double(step)
        guard count > 0, whole > 0 else { return [] }
        return (0..<count).map { bar in
            let first = Int(whole * Double(bar) / Double(count))
            let end = Int((whole * Double(bar + 1) / Double(count)).rounded(.up))
            let known = columns[min(first, columns.count)..<min(max(end, first + 1), columns.count)]
                .filter { $0 > 0 }
            guard !known.isEmpty else { return nil }
            return known.reduce(0) { $0 + Float($1 - 1) / 254 } / Float(known.count)
        }
    }

    /// The first time from `time` on and before `end` of which nothing is known; `nil` if all is known.
    package func firstGap(from time: Duration, before end: Duration) -> Duration? {
        let start = Self.nanoseconds(time)
        var column = Int(start / step)
        while column < columns.count, columns[column] > 0 { column += 1 }
        let gap = max(start, Int64(column) * step)
        return gap < Self.nanoseconds(end) ? .nanoseconds(gap) : nil
    }

    /// `true` if the peak of the column at `time` is known.
    package func isKnown(at time: Duration) -> Bool {
        let column = Int(Self.nanoseconds(time) / step)
        return column < columns.count && columns[column] > 0
    }

    private mutating func reserve(_ count: Int) {
        if columns.count < count { columns += Array(repeating: 0, count: count - columns.count) }
    }

    /// Makes room for `time`, in nanoseconds.
    private mutating func fit(_ time: Int64) {
        while time > step * Int64(Self.mostColumns), doublings < Self.mostDoublings { halve() }
    }

    private mutating func halve() {
        doublings += 1
        columns = stride(from: 0, to: columns.count, by: 2).map {
            columns[$0..<min($0 + 2, columns.count)].max() ?? 0
        }
    }

    /// The largest sample, 0...1 and beyond for floating point.
    private static func peak(_ pcm: UnsafeRawBufferPointer, _ sample: SampleFormat) -> Float {
        switch sample {
        case .s16:
            let samples = pcm.bindMemory(to: Int16.self)
            return max(-Float(samples.min() ?? 0), Float(samples.max() ?? 0)) / 32_768
        case .s32:
            let samples = pcm.bindMemory(to: Int32.self)
            return max(-Float(samples.min() ?? 0), Float(samples.max() ?? 0)) / 2_147_483_648
        case .f32:
            // A comparison with NaN is false, which leaves it out.
            return pcm.bindMemory(to: Float.self).reduce(0) { abs($1) > $0 ? abs($1) : $0 }
        }
    }

    /// The time of a frame, in nanoseconds, rounded down.
    private static func time(of frame: FrameCount, _ rate: Int64) -> Int64 {
        frame / rate * 1_000_000_000 + frame % rate * 1_000_000_000 / rate
    }

    /// The first frame that begins at `time`, in nanoseconds, or later.
    private static func frame(at time: Int64, _ rate: Int64) -> FrameCount {
        time / 1_000_000_000 * rate + (time % 1_000_000_000 * rate + 999_999_999) / 1_000_000_000
    }

    private static func nanoseconds(_ time: Duration) -> Int64 {
        let (seconds, attoseconds) = time.components
        return max(0, min(seconds, latest)) * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}
