package import Media

/// What the first frame says of the stream when it is no music: the Xing or Info header, with
/// LAME's part, or Fraunhofer's VBRI.
package struct XingHeader: Sendable, Equatable {
    package enum Kind: Sendable, Equatable {
        /// `Xing`: variable bit rate.
        case xing
        /// `Info`: constant bit rate.
        case info
        /// `VBRI`: variable bit rate. libmpg123 plays this frame as music, so the trim does not count it out.
        case vbri
    }

    package var kind: Kind
    /// MPEG frames that follow this one.
    package var frameCount: Int64?
    /// Bytes of all frames, this one included.
    package var byteCount: Int64?
    /// Byte shares at equal steps of time, rising, each 0...1; empty when there are none.
    package var shares: [Double] = []
    /// Samples that the encoder put before the music, and after it; nil without LAME's part.
    package var encoderDelay: Int?
    package var encoderPadding: Int?
    /// What LAME's part says.
    package var loudness = Loudness()

    /// Whether the decoder passes over this frame in silence.
    package var isSilent: Bool { kind != .vbri }

    /// Reads the frame that begins `bytes`; nil when it is music.
    ///
    /// Takes the same frames for headers as libmpg123 does (`check_lame_tag`): zeros between header and
    /// mark, and room for the 120 bytes of the classic Xing header.
    package init?(_ bytes: ArraySlice<UInt8>, header: FrameHeader) {
        guard header.layer == 3, let length = header.frameByteCount, bytes.count >= length else { return nil }
        let frame = Array(bytes.prefix(length))
        let mark = FrameHeader.byteCount + header.sideInformationByteCount
        if let vbri = Self.vbri(frame) {
            self = vbri
            return
        }
        // The first two bytes of side information may hold a check.
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
        // LAME's part: encoder name (9), method, low-pass, peak (4), gains (4), flags, rate, then two
        // numbers of 12 bits. Any encoder that writes a name is believed, as the reference does.
        guard let first = reader.peek, first != 0 else { return }
        let name = reader.take(9)
        _ = reader.take(2)
        loudness = ReplayGain.loudness(ofLAME: reader.take(8), writtenBy: name)
        _ = reader.take(2)
        guard let both = reader.next(3) else { return }
        encoderDelay = Int(both >> 12)
        encoderPadding = Int(both & 0xFFF)
    }

    private init(kind: Kind) { self.kind = kind }

    /// Fraunhofer's header lies 32 bytes behind the frame's header, whatever the version.
    private static func vbri(_ frame: [UInt8]) -> XingHeader? {
        let mark = FrameHeader.byteCount + 32
        guard frame.count >= mark + 26, frame[mark...].starts(with: "VBRI".utf8) else { return nil }
        var result = XingHeader(kind: .vbri)
        // Version, delay and quality come first and say nothing that is needed.
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

    /// `shares` where they never fall, else nothing: a table that runs backwards is a lie.
    private static func rising(_ shares: [Double]) -> [Double] {
        zip(shares, shares.dropFirst()).allSatisfy { $0 <= $1 } ? shares : []
    }

    /// The share of bytes before the share `time` (0...1) of the music; nil without a table.
    package func byteShare(at time: Double) -> Double? {
        guard shares.count > 1 else { return nil }
        let place = min(max(time, 0), 1) * Double(shares.count)
        let entry = min(Int(place), shares.count - 1)
        let next = entry + 1 < shares.count ? shares[entry + 1] : 1
        return shares[entry] + (next - shares[entry]) * (place - Double(entry))
    }
}
