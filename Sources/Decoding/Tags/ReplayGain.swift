import Media

/// Reads ReplayGain from tags and headers. The input is untrusted: impossible values are ignored.
enum ReplayGain {
    static let longestNumber = 24
    /// Added to gains from old LAME versions, in decibels: LAME's reference level is 89 dB since version
    /// 3.95.1, and was 83 dB before.
    private static let raisedBy = 6.0

    /// The value in the text frame `payload` (ID3v2 `TXXX`: encoding, description, value), if it is one of
    /// the customary `replaygain_…` frames.
    static func loudness(ofText payload: ArraySlice<UInt8>) -> Loudness {
        let values = ID3Text.values(payload)
        return values.count == 2 ? loudness(ofKey: values[0], values[1]) : Loudness()
    }

    /// The value of the customary item `key`; nothing for any other item.
    static func loudness(ofKey key: String, _ value: String) -> Loudness {
        switch key.lowercased() {
        case "replaygain_track_gain": Loudness(track: .init(gain: decibels(value)))
        case "replaygain_track_peak": Loudness(track: .init(peak: number(value[...])))
        case "replaygain_album_gain": Loudness(album: .init(gain: decibels(value)))
        case "replaygain_album_peak": Loudness(album: .init(peak: number(value[...])))
        default: Loudness()
        }
    }

    /// Parses a number with or without `dB`; `nil` if `text` is not a number.
    static func decibels(_ text: String) -> Double? {
        let bytes = text.utf8.count > longestNumber ? "" : text
        let unit = bytes.lowercased().hasSuffix("db") ? 2 : 0
        return number(bytes.dropLast(unit))
    }

    /// Parses a decimal number with a point or a comma.
    private static func number(_ text: Substring) -> Double? {
        let plain = ID3Text.trimmed(text)
        guard (1...longestNumber).contains(plain.utf8.count),
            plain.utf8.allSatisfy({ "+-.,0123456789eE".utf8.contains($0) }),
            let value = Double(String(plain.map { $0 == "," ? "." : $0 })), value.isFinite
        else { return nil }
        return value
    }

    /// The master volume in the frame `payload` (ID3v2.4 §4.11 `RVA2`: a name, then channels).
    ///
    /// The volume is the album's if the name is `album`, else the track's.
    static func loudness(ofAdjustment payload: ArraySlice<UInt8>) -> Loudness {
        guard let end = payload.firstIndex(of: 0) else { return Loudness() }
        let name = ID3Text.trimmed(ID3Text.latin1(payload[..<end])).lowercased()
        var reader = BigEndianReader(Array(payload[(end + 1)...]))
        while let channel = reader.next(1), let adjustment = reader.next(2), let bits = reader.next(1) {
            let peak = reader.take((Int(bits) + 7) / 8)
            guard channel == 1 else { continue }
            let level = Loudness.Level(
                gain: Double(Int16(truncatingIfNeeded: adjustment)) / 512,
                peak: bits == 0 ? nil : self.peak(peak, bits: Int(bits))
            )
            return name == "album" ? Loudness(album: level) : Loudness(track: level)
        }
        return Loudness()
    }

    /// The peak in `bytes`, a number of `bits` bits whose highest bit is full scale.
    private static func peak(_ bytes: ArraySlice<UInt8>, bits: Int) -> Double? {
        guard bytes.count == (bits + 7) / 8 else { return nil }
        var value = 0.0
        for byte in bytes { value = value * 256 + Double(byte) }
        for _ in 1..<bits { value /= 2 }
        return value
    }

    /// The ReplayGain in the eight bytes `fields` of LAME's header (*MP3 Info Tag*: peak, track gain, album
    /// gain).
    static func loudness(ofLAME fields: ArraySlice<UInt8>, writtenBy name: ArraySlice<UInt8>) -> Loudness {
        var reader = BigEndianReader(Array(fields))
        guard let peak = reader.next(4), let first = reader.next(2), let second = reader.next(2) else {
            return Loudness()
        }
        let raise = isOld(name) ? raisedBy : 0
        var loudness = Loudness(track: .init(peak: Double(peak) / Double(1 << 23)))
        for field in [first, second] {
            // Three bits for track or album, three for the originator, a sign, and tenths of a decibel.
            let gain = Double(field & 0x1FF) / 10 * (field & 0x200 != 0 ? -1 : 1) + raise
            guard (field >> 10) & 7 != 0 else { continue }
            switch field >> 13 {
            case 1: loudness.track.gain = Loudness.Level(gain: gain).gain
            case 2: loudness.album.gain = Loudness.Level(gain: gain).gain
            default: break
            }
        }
        return loudness
    }

    /// `true` if `name` is that of a LAME version before 3.95; 3.95 itself counts as new.
    private static func isOld(_ name: ArraySlice<UInt8>) -> Bool {
        guard name.starts(with: "LAME".utf8) else { return false }
        let parts = ID3Text.latin1(name.dropFirst(4)).split(separator: ".")
        guard parts.count >= 2, let major = Int(parts[0]), let minor = Int(parts[1].prefix { $0.isNumber })
        else { return false }
        return (major, minor) < (3, 95)
    }
}
