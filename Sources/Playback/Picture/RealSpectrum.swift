import Glibc

/// The spectrum of a stretch of samples: how much of each frequency is in it. Pure.
///
/// A real transform of `size` samples by a complex one of half the size, in place, with radix 2 (Cooley and Tukey 1965;
/// the unfolding is that of any textbook). Behind a Hann window, so that a tone between two frequencies stays a tone.
struct RealSpectrum {
    /// Samples that one transform takes; a power of two, at least 4.
    let size: Int
    private let window: [Float]
    /// Cosines and sines of a full turn in `size` steps.
    private let cosines: [Float]
    private let sines: [Float]
    private var real: [Float]
    private var imaginary: [Float]
    private var powers: [Float]

    init(size: Int) {
        precondition(size >= 4 && size & (size - 1) == 0, "the transform takes a power of two")
        self.size = size
        let angle = { (index: Int) in 2 * Double.pi * Double(index) / Double(size) }
        window = (0..<size).map { Float(0.5 - 0.5 * cos(angle($0))) }
        cosines = (0..<size).map { Float(cos(angle($0))) }
        sines = (0..<size).map { Float(sin(angle($0))) }
        real = Array(repeating: 0, count: size / 2)
        imaginary = real
        powers = Array(repeating: 0, count: size / 2 + 1)
    }

    /// The power at each frequency, from 0 to half the rate in `size / 2` steps: a sine of full scale (1.0) that hits
    /// one of them has 1 there, and half as much in amplitude on either side.
    ///
    /// Takes the first `size` of `samples`, which must be so many.
    mutating func powers(of samples: UnsafeBufferPointer<Float>) -> [Float] {
        let half = size / 2
        for index in 0..<half {
            real[index] = samples[2 * index] * window[2 * index]
            imaginary[index] = samples[2 * index + 1] * window[2 * index + 1]
        }
        transform()
        // A sine of full scale comes out with a quarter of `size` behind the window, whose mean is a half.
        let scale = 4 / Float(size)
        for index in 0...half {
            let (here, mirrored) = (index % half, (half - index) % half)
            let evenReal = (real[here] + real[mirrored]) / 2
            let evenImaginary = (imaginary[here] - imaginary[mirrored]) / 2
            let oddReal = (imaginary[here] + imaginary[mirrored]) / 2
            let oddImaginary = (real[mirrored] - real[here]) / 2
            let (cosine, sine) = (cosines[index], -sines[index])
            let sumReal = evenReal + cosine * oddReal - sine * oddImaginary
            let sumImaginary = evenImaginary + cosine * oddImaginary + sine * oddReal
            powers[index] = (sumReal * sumReal + sumImaginary * sumImaginary) * scale * scale
        }
        return powers
    }

    /// The complex transform of what `real` and `imaginary` hold.
    private mutating func transform() {
        let count = size / 2
        var mirrored = 0
        for index in 1..<count {
            var bit = count >> 1
            while mirrored & bit != 0 {
                mirrored ^= bit
                bit >>= 1
            }
            mirrored |= bit
            if index < mirrored {
                real.swapAt(index, mirrored)
                imaginary.swapAt(index, mirrored)
            }
        }
        var length = 2
        while length <= count {
            let turn = size / length
            for start in stride(from: 0, to: count, by: length) {
                for step in 0..<length / 2 {
                    let (low, high) = (start + step, start + step + length / 2)
                    let (cosine, sine) = (cosines[step * turn], -sines[step * turn])
                    let movedReal = real[high] * cosine - imaginary[high] * sine
                    let movedImaginary = real[high] * sine + imaginary[high] * cosine
                    real[high] = real[low] - movedReal
                    imaginary[high] = imaginary[low] - movedImaginary
                    real[low] += movedReal
                    imaginary[low] += movedImaginary
                }
            }
            length *= 2
        }
    }
}
