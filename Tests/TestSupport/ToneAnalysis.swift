import Glibc

/// The tone that tells the second of the music it is in, and how to find it in what is heard.
package enum ToneAnalysis {
    /// The frequency in hertz of second `second`; a minute later it comes again.
    package static func frequency(ofSecond second: Int) -> Double { 220 + 20 * Double(second % 60) }

    /// The second (0..<60) that the tone in `samples` stands for, one channel; nil when no tone of them
    /// stands out. 50 ms are enough; a window that spans two seconds tells one of the two.
    package static func second(of samples: ArraySlice<Int16>, sampleRate: Double) -> Int? {
        let powers = (0..<60).map { power(of: samples, at: frequency(ofSecond: $0), sampleRate: sampleRate) }
        guard let best = powers.indices.max(by: { powers[$0] < powers[$1] }) else { return nil }
        let energy = samples.reduce(0.0) { $0 + Double($1) * Double($1) }
        // A pure tone has all its energy here (ratio 1/2 of the count); noise has next to nothing.
        return powers[best] > 0.1 * energy * Double(samples.count) ? best : nil
    }

    /// How much of the tone of `frequency` hertz is in `samples`: the squared magnitude of that one
    /// term of the Fourier transform, by Goertzel's recurrence.
    package static func power(of samples: ArraySlice<Int16>, at frequency: Double, sampleRate: Double)
        -> Double
    {
        let coefficient = 2 * cos(2 * Double.pi * frequency / sampleRate)
        var (last, beforeLast) = (0.0, 0.0)
        for sample in samples {
            (last, beforeLast) = (Double(sample) + coefficient * last - beforeLast, last)
        }
        return last * last + beforeLast * beforeLast - coefficient * last * beforeLast
    }
}
