import CKissFFT
import Glibc
import Media

/// Analyses PCM for the spectrum view: samples in, `rate` pictures a second out.
struct PictureMaker {
    /// Pictures for one second of music: as many as the screen draws.
    static let rate = 20
    /// Bands of the spectrum: about five to the octave, as many as 120 columns show.
    static let bandCount = 40
    /// The range of the bands in Hz, from a bass's lowest string to the cut-off of most encoders.
    static let frequencies: ClosedRange<Double> = 40...16_000

    let format: AudioFormat
    /// Frames of one picture.
    let step: Int
    private let spectrum: Spectrum
    /// The bins of the spectrum that make up each band, at least one.
    private let bands: [Range<Int>]
    /// The mean of the channels, for each frame since the last picture.
    private var mean: [Float]
    private var count = 0
    private var peaks: [Float]
    private var squares: [Float]

    init(format: AudioFormat) {
        self.format = format
        step = max(4, format.sampleRate / Self.rate)
        var size = 4
        while size * 2 <= min(step, 2_048) { size *= 2 }
        spectrum = Spectrum(size: size)
        bands = Self.bands(size: size, sampleRate: format.sampleRate)
        mean = Array(repeating: 0, count: step)
        peaks = Array(repeating: 0, count: format.channelCount)
        squares = peaks
    }

    /// Drops the frames of an unfinished picture. Call it if the next frames do not continue them.
    mutating func restart() {
        count = 0
        clearLevels()
    }

    /// Takes whole frames, the first of which is `frame`, and calls `made` with each finished picture and its
    /// first frame.
    mutating func add(
        _ pcm: UnsafeRawBufferPointer,
        at frame: FrameCount,
        made: (SoundPicture, FrameCount) -> Void
    ) {
        switch format.sample {
        case .s16: add(pcm.assumingMemoryBound(to: Int16.self), at: frame, made) { Float($0) / 0x8000 }
        case .s32: add(pcm.assumingMemoryBound(to: Int32.self), at: frame, made) { Float($0) / 0x8000_0000 }
        case .f32: add(pcm.assumingMemoryBound(to: Float.self), at: frame, made) { $0 }
        }
    }

    private mutating func add<Sample>(
        _ samples: UnsafeBufferPointer<Sample>,
        at frame: FrameCount,
        _ made: (SoundPicture, FrameCount) -> Void,
        asPartOfFullScale: (Sample) -> Float
    ) {
        let channels = format.channelCount
        for offset in 0..<samples.count / channels {
            var sum: Float = 0
            for channel in 0..<channels {
                let value = asPartOfFullScale(samples[offset * channels + channel])
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

    private func picture() -> SoundPicture {
        // At high rates, a picture has more frames than one transform takes: only the last ones are used.
        let powers = spectrum.powers(of: mean.suffix(spectrum.size))
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

    /// Maps a power to 0...1: from the quietest displayed level to a full-scale sine, evenly in decibels.
    private static func loudness(_ power: Float) -> Float {
        guard power > 0 else { return 0 }
        return min(1, max(0, 1 - 10 * log10(power) / SoundPicture.quietest))
    }

    /// Divides the range from the lowest frequency to the highest that the rate allows into equal steps of
    /// pitch.
    private static func bands(size: Int, sampleRate: Int) -> [Range<Int>] {
        let width = Double(sampleRate) / Double(size)
        let top = min(frequencies.upperBound, Double(sampleRate) / 2)
        let ratio = top / frequencies.lowerBound
        let edges = (0...bandCount).map { index in
            frequencies.lowerBound * pow(max(1, ratio), Double(index) / Double(bandCount)) / width
        }
        return (0..<bandCount).map { band in
            // Low bands are narrower than a bin: each takes the nearest bin.
            let first = min(max(1, Int(edges[band].rounded())), size / 2)
            return first..<max(first + 1, min(Int(edges[band + 1].rounded()), size / 2 + 1))
        }
    }
}

/// The power spectrum of samples after a Hann window, by kissfft.
final class Spectrum: @unchecked Sendable {
    // Unchecked: kissfft uses scratch memory of the plan, and the tap's lock admits one caller at a time.
    private let plan: kiss_fftr_cfg
    private let window: [Float]

    /// The samples that one transform takes; even.
    var size: Int { window.count }

    init(size: Int) {
        guard let plan = kiss_fftr_alloc(CInt(size), 0, nil, nil) else { fatalError("out of memory") }
        self.plan = plan
        window = (0..<size).map { Float(0.5 - 0.5 * cos(2 * Double.pi * Double($0) / Double(size))) }
    }

    deinit { free(UnsafeMutableRawPointer(plan)) }

    /// The power of each bin, from 0 Hz to half the sample rate in `size / 2` steps: a full-scale sine at a
    /// bin's frequency gives 1 there.
    func powers(of samples: ArraySlice<Float>) -> [Float] {
        let windowed = zip(samples, window).map { $0 * $1 }
        var bins = [kiss_fft_cpx](repeating: kiss_fft_cpx(), count: size / 2 + 1)
        kiss_fftr(plan, windowed, &bins)
        // A full-scale sine has an amplitude of `size / 4`: half of `size`, times the mean of the window, one
        // half.
        let scale = 4 / Float(size)
        return bins.map { ($0.r * $0.r + $0.i * $0.i) * scale * scale }
    }
}
