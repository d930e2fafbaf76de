import Glibc
import Media

/// Makes pictures of PCM, one for each step of `rate` a second: samples in, pictures out. Pure.
struct PictureMaker {
    /// Pictures of one second of music: as often as the screen draws them.
    static let rate = 20
    /// Bands of the spectrum: about three to the octave, and narrow enough for a small window.
    static let bandCount = 24
    /// From the lowest string of a bass to where most encoders end, in Hz.
    static let frequencies: ClosedRange<Double> = 40...16_000

    let format: AudioFormat
    /// Frames of one picture.
    let step: Int
    private var spectrum: RealSpectrum
    /// For each band the frequencies of the spectrum that are in it, at least one.
    private let bands: [Range<Int>]
    /// The mean of the channels, of the frames since the last picture.
    private var mean: [Float]
    private var count = 0
    private var peaks: [Float]
    private var squares: [Float]

    init(format: AudioFormat) {
        self.format = format
        step = max(4, format.sampleRate / Self.rate)
        var size = 4
        while size * 2 <= min(step, 2_048) { size *= 2 }
        spectrum = RealSpectrum(size: size)
        bands = Self.bands(size: size, sampleRate: format.sampleRate)
        mean = Array(repeating: 0, count: step)
        peaks = Array(repeating: 0, count: format.channelCount)
        squares = peaks
    }

    /// Forgets the frames of a picture that is not complete: what comes next does not follow on them.
    mutating func restart() {
        count = 0
        clearLevels()
    }

    /// Takes interleaved `samples`, of which the first is that of `frame`, and calls `made` with each picture that is
    /// complete and its first frame.
    mutating func take(
        _ samples: UnsafeBufferPointer<Int16>,
        at frame: FrameCount,
        made: (SoundPicture, FrameCount) -> Void
    ) {
        let channels = format.channelCount
        for offset in 0..<samples.count / channels {
            var sum: Float = 0
            for channel in 0..<channels {
                let value = Float(samples[offset * channels + channel]) / 32_768
                sum += value
                peaks[channel] = max(peaks[channel], abs(value))
                squares[channel] += value * value
            }
            mean[count] = sum / Float(channels)
            count += 1
            guard count == step else { continue }
            made(picture(), frame + FrameCount(offset + 1 - step))
            count = 0
            clearLevels()
        }
    }

    private mutating func picture() -> SoundPicture {
        // The last of the frames, where they are more than one transform takes.
        let powers = mean.withUnsafeBufferPointer { mean in
            spectrum.powers(of: UnsafeBufferPointer(rebasing: mean.suffix(spectrum.size)))
        }
        let levels = zip(peaks, squares).map { peak, squares in
            SoundPicture.Level(peak: min(1, peak), rms: min(1, sqrt(squares / Float(step))))
        }
        return SoundPicture(bands: bands.map { Self.loudness(powers[$0].max() ?? 0) }, levels: levels)
    }

    private mutating func clearLevels() {
        for channel in peaks.indices {
            peaks[channel] = 0
            squares[channel] = 0
        }
    }

    /// 0...1 for what lies between the quietest power that is shown and a sine of full scale.
    private static func loudness(_ power: Float) -> Float {
        guard power > 0 else { return 0 }
        return min(1, max(0, 1 - 10 * log10(power) / SoundPicture.quietest))
    }

    /// Equal steps of pitch from the lowest frequency to the highest that the rate can have.
    private static func bands(size: Int, sampleRate: Int) -> [Range<Int>] {
        let width = Double(sampleRate) / Double(size)
        let top = min(frequencies.upperBound, Double(sampleRate) / 2)
        let ratio = top / frequencies.lowerBound
        let edges = (0...bandCount).map { index in
            frequencies.lowerBound * pow(max(1, ratio), Double(index) / Double(bandCount)) / width
        }
        return (0..<bandCount).map { band in
            // Low bands are narrower than the spectrum's steps: each has the one that is nearest.
            let first = min(max(1, Int(edges[band].rounded())), size / 2)
            return first..<max(first + 1, min(Int(edges[band + 1].rounded()), size / 2 + 1))
        }
    }
}
