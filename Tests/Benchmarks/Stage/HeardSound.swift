import System
import TestSupport

/// Analyzes recorded samples: the beginning of sound and the length of silences. Pure.
enum HeardSound {
    /// Above dither and rounding, and below a thousandth of a tone.
    static let audible: Int16 = 64
    /// The samples needed to detect the pitch: 50 ms.
    static let window = 2_205
    /// Shorter silences are zero crossings of a tone.
    static let shortestSilence = 220

    /// The first audible sample at or after `start`.
    static func onset(in samples: ArraySlice<Int16>, from start: Int) -> Int? {
        guard start < samples.endIndex else { return nil }
        return samples[max(start, samples.startIndex)...].firstIndex { $0.magnitude > audible.magnitude }
    }

    /// The beginning of the tone of one of these seconds (0..<60), at or after `start`.
    ///
    /// Exact after silence; after another tone, accurate to half a window.
    static func onset(of seconds: Set<Int>, in samples: ArraySlice<Int16>, from start: Int) -> Int? {
        var place = max(start, samples.startIndex)
        while place + window <= samples.endIndex {
            let part = samples[place..<place + window]
            if let second = ToneAnalysis.second(of: part, sampleRate: Ear.sampleRate),
                seconds.contains(second)
            {
                if let quiet = silences(in: part).last { return quiet.upperBound }
                return isAudible(samples, before: place) ? place + window / 2 : place
            }
            place += window / 20
        }
        return nil
    }

    private static func isAudible(_ samples: ArraySlice<Int16>, before place: Int) -> Bool {
        samples[max(samples.startIndex, place - window)..<place].contains { $0.magnitude > audible.magnitude }
    }

    /// The silences of at least about 5 ms, in order.
    static func silences(in samples: ArraySlice<Int16>) -> [Range<Int>] {
        var found: [Range<Int>] = []
        var begun: Int?
        for index in samples.indices {
            if samples[index].magnitude > audible.magnitude {
                if let start = begun, index - start >= shortestSilence { found.append(start..<index) }
                begun = nil
            } else if begun == nil {
                begun = index
            }
        }
        if let begun, samples.endIndex - begun >= shortestSilence { found.append(begun..<samples.endIndex) }
        return found
    }
}

extension Ear {
    /// The time of the first sound at or after `instant`; `nil` if `limit` passes without one.
    func firstSound(
        of seconds: Set<Int>? = nil,
        after instant: ContinuousClock.Instant,
        within limit: Duration = .seconds(20)
    ) async throws -> ContinuousClock.Instant? {
        var looked = sample(at: instant)
        while ContinuousClock.now < instant + limit {
            // Includes the samples just before, since a tone that follows another may begin within a window.
            let start = max(0, looked - HeardSound.window)
            let samples = samples(from: start)
            let found =
                if let seconds {
                    HeardSound.onset(of: seconds, in: samples[...], from: looked - start)
                } else {
                    HeardSound.onset(in: samples[...], from: looked - start)
                }
            if let found { return time(of: found + start) }
            // A tone that has begun may need more samples to be recognized.
            looked = max(looked, start + samples.count - 2 * HeardSound.window)
            try await Task.sleep(for: .milliseconds(10))
        }
        return nil
    }
}
