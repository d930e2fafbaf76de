package import Media

/// The header that encoders write into a silent first frame: Xing or Info, with LAME's extension, or
/// Fraunhofer's VBRI.
package struct XingHeader: Sendable, Equatable {
    package enum Kind: Sendable, Equatable {
        /// `Xing`: variable bit rate.
        case xing
        /// `Info`: constant bit rate.
        case info
        /// `VBRI`: variable bit rate. libmpg123 plays this frame as music, so the trim does not exclude it.
        case vbri
    }

    package var kind: Kind
    /// MPEG frames that follow this one.
    package var frameCount: Int64?
    /// The length of all frames, including this one.
    package var byteCount: Int64?
    /// The share of the bytes (0...1) before each of a number of equal time steps, in rising order; empty if
    /// not stated.
    package var shares: [Double] = []
    /// Samples that the encoder added before and after the music; `nil` without LAME's extension.
    package var encoderDelay: Int?
    package var encoderPadding: Int?
    /// The ReplayGain in LAME's extension.
    package var loudness = Loudness()

    /// `true` if libmpg123 skips this frame instead of playing it.
    package var isSilent: Bool { kind != .vbri }

    /// Reads the frame at the start of `bytes`; `nil` if the frame is music.
    ///
    /// Recognises the same frames as libmpg123's `check_lame_tag`: those with zeros between header and mark,
    /// and with room for the 120 bytes of the classic Xing header.
    package init?(_ bytes: ArraySlice<UInt8>, header: FrameHeader) {
        guard header.layer == 3, let length = header.frameByteCount, bytes.count >= length else { return nil }
        let frame = Array(bytes.prefix(length))
        let mark = FrameHeader.byteCount + header.sideInformationByteCount
        if let vbri = Self.vbri(frame) {
            self = vbri
            return
        }
        // The first two bytes of side information may be a checksum.
        guard length >= mark + 120, frame[(FrameHeader.byteCount + 2)..<mark].allSatisfy({ $0 == 0 }) else {
            return nil
        }
        switch Array(frame[mark..<mark + 4]) {
        case Array("Xing".utf8): kind = .xing
        case Array("Info".utf8): kind = .info
        default: return nil
        }
        var reader = BigEndianReader(frame, at: mark + 4)
        let flags = reader.next(4) ?? 0
        if flags & 1 != 0 { frameCount = reader.next(4) }
        if flags & 2 != 0 { byteCount = reader.next(4) }
        if flags & 4 != 0 { shares = Self.rising(reader.take(100).map { Double($0) / 256 }) }
        if flags & 8 != 0 { _ = reader.next(4) }
        if frameCount == 0 { frameCount = nil }
        // LAME's extension: encoder name (9), method, low-pass, peak (4), gains (4), flags, rate, then two
        // numbers of 12 bits. Like libmpg123, this accepts any encoder that writes a name.
        let name = reader.take(9)
        guard let first = name.first, first != 0 else { return }
        _ = reader.take(2)
        loudness = ReplayGain.loudness(ofLAME: reader.take(8), writtenBy: name)
        _ = reader.take(2)
        guard let both = reader.next(3) else { return }
        encoderDelay = Int(both >> 12)
        encoderPadding = Int(both & 0xFFF)
    }

    private init(kind: Kind) { self.kind = kind }

    /// Reads Fraunhofer's header, which begins 32 bytes after the frame's header in every version.
    private static func vbri(_ frame: [UInt8]) -> XingHeader? {
        let mark = FrameHeader.byteCount + 32
        guard frame.count >= mark + 26, frame[mark...].starts(with: "VBRI".utf8) else { return nil }
        var result = XingHeader(kind: .vbri)
        // Version, delay and quality come first and are not needed.
        var reader = BigEndianReader(frame, at: mark + 10)
        result.byteCount = reader.next(4)
        result.frameCount = reader.next(4)
        guard let entries = reader.next(2), let scale = reader.next(2), let width = reader.next(2),
            let frames = reader.next(2), entries > 0, (1...4).contains(width), frames > 0
        else { return result }
        var sums: [Double] = [0]
        for _ in 0..<entries {
            guard let entry = reader.next(Int(width)) else { return result }
            sums.append((sums.last ?? 0) + Double(entry * scale))
        }
        if let total = sums.last, total > 0 { result.shares = rising(sums.dropLast().map { $0 / total }) }
        return result
    }

    /// `shares` if they never decrease; otherwise empty, since the table is invalid.
    private static func rising(_ shares: [Double]) -> [Double] {
        zip(shares, shares.dropFirst()).allSatisfy { $0 <= $1 } ? shares : []
    }

    /// The share of the bytes (0...1) that precede the share `time` (0...1) of the duration; `nil` without a
    /// table.
    package func byteShare(at time: Double) -> Double? {
        guard shares.count > 1 else { return nil }
        let place = min(max(time, 0), 1) * Double(shares.count)
        let entry = min(Int(place), shares.count - 1)
        let next = entry + 1 < shares.count ? shares[entry + 1] : 1
        return shares[entry] + (next - shares[entry]) * (place - Double(entry))
    }
}

/// Separates the music of a stream from the samples that the encoder and the decoder add around it.
///
/// A *sample* here is one PCM frame, counted from the first one decoded. The encoder's delay and the
/// decoder's own 529 samples are dropped at the start; the padding minus those 529 is dropped at the end.
/// Samples after the last frame that the header counts were appended later. They are music, as in the
/// reference decoder.
package struct GaplessTrim: Sendable, Equatable {
    /// The delay of every Layer III decoder: 528 samples of filter bank and overlap, plus one.
    package static let decoderDelay: FrameCount = 529

    /// The number of samples before the music.
    package private(set) var start: FrameCount = 0
    /// The samples from the end of the music to the last one that the header counts; `nil` if it does not
    /// count them.
    package private(set) var padding: Range<FrameCount>?

    /// The trim that follows from `xing`: none if the header does not count the frames. The decoder's own
    /// delay is trimmed even if the header states neither delay nor padding.
    package init(_ xing: XingHeader?, samplesPerFrame: Int) {
        guard let xing, xing.isSilent, let frames = xing.frameCount else { return }
        let all = frames * FrameCount(samplesPerFrame)
        start = FrameCount(xing.encoderDelay ?? 0) + Self.decoderDelay
        let end = min(all, all - FrameCount(xing.encoderPadding ?? 0) + Self.decoderDelay)
        padding = max(end, min(start, all))..<all
    }

    /// The length of the music, if stated.
    package var musicLength: FrameCount? { padding.map { max(0, $0.lowerBound - start) } }

    /// The parts of the decoded samples `range` that are music: none, one, or one on each side of the
    /// padding.
    package func music(in range: Range<FrameCount>) -> [Range<FrameCount>] {
        let padding = padding ?? FrameCount.max..<FrameCount.max
        return [start..<max(start, padding.lowerBound), max(start, padding.upperBound)..<FrameCount.max]
            .map { range.clamped(to: $0) }
            .filter { !$0.isEmpty }
    }

    /// The position of `sample` in the music; a trimmed sample has the nearest position.
    package func position(ofSample sample: FrameCount) -> FrameCount {
        guard let padding, sample > padding.lowerBound else { return max(0, sample - start) }
        return max(0, padding.lowerBound - start) + max(0, sample - max(padding.upperBound, start))
    }

    /// The sample at `position` in the music.
    package func sample(at position: FrameCount) -> FrameCount {
        let position = max(0, position)
        guard let padding, let length = musicLength, position >= length else { return position + start }
        return max(padding.upperBound, start) + (position - length)
    }
}
