package import Media

/// Which samples of a stream are music, and which the encoder and the decoder put around it.
///
/// A *sample* here is one PCM frame, counted from the first one decoded. The encoder's delay and the
/// decoder's own 529 samples are dropped at the start, the padding less those 529 at the end. What follows
/// the last frame that the header counted was joined on later and is music, as for the reference decoder.
package struct GaplessTrim: Sendable, Equatable {
    /// The delay of every Layer III decoder: 528 samples of filter bank and overlap, and one.
    package static let decoderDelay: FrameCount = 529

    /// Trims nothing.
    package static let none = GaplessTrim()

    /// Samples before the music.
    package let start: FrameCount
    /// The sample after the last one of the music; nil when nobody said where it ends.
    package let end: FrameCount?
    /// The samples of all counted frames; nil as for `end`.
    package let counted: FrameCount?

    private init() {
        start = 0
        end = nil
        counted = nil
    }

    /// The trim that `xing` states. Only a header that counts the frames trims at all; it need not
    /// state delay and padding for the decoder's own delay to go.
    package init(_ xing: XingHeader?, samplesPerFrame: Int) {
        guard let xing, xing.isSilent, let frames = xing.frameCount else {
            self = .none
            return
        }
        let all = frames * FrameCount(samplesPerFrame)
        let padding = FrameCount(xing.encoderPadding ?? 0)
        let first = FrameCount(xing.encoderDelay ?? 0) + Self.decoderDelay
        let last = min(all, all - padding + Self.decoderDelay)
        start = first
        end = max(last, min(first, all))
        counted = all
    }

    /// Samples held back at the end of a stream whose numbering is only an estimate: they are
    /// padding if the stream ends behind them.
    package var paddingLength: FrameCount {
        guard let counted, let end else { return 0 }
        return counted - end
    }

    /// The length of the music, where it was stated.
    package var musicLength: FrameCount? { end.map { max(0, $0 - start) } }

    /// The parts of the decoded samples `range` that are music: none, one, or one on each side of the padding.
    package func music(in range: Range<FrameCount>) -> [Range<FrameCount>] {
        guard let end, let counted else {
            let music = range.clamped(to: start..<FrameCount.max)
            return music.isEmpty ? [] : [music]
        }
        return [start..<max(start, end), max(start, counted)..<FrameCount.max]
            .map { range.clamped(to: $0) }
            .filter { !$0.isEmpty }
    }

    /// The place in the music of `sample`; what is trimmed counts as the music's nearest place.
    package func position(ofSample sample: FrameCount) -> FrameCount {
        guard let end, let counted, sample > end else { return max(0, sample - start) }
        return max(0, end - start) + max(0, sample - max(counted, start))
    }

    /// The sample that is at `position` in the music.
    package func sample(at position: FrameCount) -> FrameCount {
        let position = max(0, position)
        guard let length = musicLength, let counted, position >= length else { return position + start }
        return max(counted, start) + (position - length)
    }
}
