/// The spectrum and the levels of the music at one moment.
package struct SoundPicture: Sendable, Equatable {
    /// The level of one channel as a fraction of full scale, 0...1.
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

    /// The loudness of each band, the lowest frequency first: 0 for `quietest` or less, 1 for a full-scale
    /// sine, and linear in decibels between them. The bands have equal widths on a logarithmic scale of
    /// frequency.
    package var bands: [Float]
    /// The level of each channel.
    package var levels: [Level]

    /// The loudness at which a band is empty, in decibels of full scale: below the softest parts of nearly
    /// all music.
    package static let quietest: Float = -60

    package init(bands: [Float], levels: [Level]) {
        self.bands = bands
        self.levels = levels
    }
}
