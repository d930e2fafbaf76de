/// What a moment of music looks like: how loud each part of its spectrum is, and each of its channels.
package struct SoundPicture: Sendable, Equatable {
    /// How loud one channel is, as parts of full scale, 0...1.
    package struct Level: Sendable, Equatable {
        /// The largest sample.
        package var peak: Float
        /// The root of the mean square of all samples; a sine of full scale has 0.71.
        package var rms: Float

        package init(peak: Float, rms: Float) {
            self.peak = peak
            self.rms = rms
        }
    }

    /// The loudness of each band, the lowest first, in equal steps of pitch: 0 is `quietest` or less, 1 is a sine
    /// of full scale, and what lies between counts decibels.
    package var bands: [Float]
    /// One for each channel.
    package var levels: [Level]

    /// The loudness at which a band is empty, in decibels of full scale: softer than the softest part of nearly
    /// all music.
    package static let quietest: Float = -60

    package init(bands: [Float], levels: [Level]) {
        self.bands = bands
        self.levels = levels
    }
}
