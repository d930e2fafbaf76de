package import Media

/// The text of an ID3v2 tag, as far as its bytes are at hand.
///
/// Pictures and all other frames are stepped over by their size. Where a step leads out of the bytes at
/// hand the walk ends: `isComplete` is then false, and what lies behind may be read later.
package struct ID3v2Tag: Sendable, Equatable {
    /// A longer text frame is no title and is stepped over.
    private static let longestText = 16_384
    /// No honest tag has as many frames.
    private static let mostFrames = 4_096

    package private(set) var tags = TrackTags()
    /// What the tag says in text, and behind that what it says as a volume adjustment.
    package var loudness: Loudness { written.filled(from: adjusted) }
    private var written = Loudness()
    private var adjusted = Loudness()
    /// Whether every frame of the tag was seen.
    package private(set) var isComplete = false

    /// Walks the tag that begins `bytes`; nil where none does.
    package init?(_ bytes: ArraySlice<UInt8>) {
        guard let header = ID3v2Header(bytes) else { return nil }
        let isWhole = bytes.count >= header.tagByteCount
        var content = Array(bytes.prefix(header.tagByteCount).dropFirst(ID3v2Header.byteCount))
        // Up to 2.3 sizes count what was there before the tag was made free of sync patterns.
        if header.isUnsynchronised, header.version < 4 { content = Self.resynchronised(content[...]) }
        var reader = BigEndianReader(content)
        if header.hasExtendedHeader, !Self.skipExtendedHeader(&reader, version: header.version) { return }
        for _ in 0..<Self.mostFrames {
            guard let frame = FrameHead(&reader, version: header.version) else {
                isComplete = isWhole
                return
            }
            guard frame.byteCount <= reader.remaining else {
                // A frame that reaches out of a whole tag is damage: nothing behind it can be trusted.
                isComplete = isWhole
                return
            }
            let body = reader.take(frame.byteCount)
            guard frame.byteCount <= Self.longestText,
                let payload = frame.payload(body, isUnsynchronised: header.isUnsynchronised)
            else { continue }
            note(frame.identifier, payload)
        }
    }

    /// Keeps the text of a frame that is wanted; the first frame of a kind counts.
    private mutating func note(_ identifier: String, _ payload: ArraySlice<UInt8>) {
        switch identifier {
        case "TIT2", "TT2": tags.title = tags.title ?? Self.text(payload)
        case "TPE1", "TP1": tags.artist = tags.artist ?? Self.text(payload)
        case "TALB", "TAL": tags.album = tags.album ?? Self.text(payload)
        case "TRCK", "TRK": tags.number = tags.number ?? Self.text(payload)
        // The year's own frames, and the recording time that took their place in 2.4.
        case "TDRC", "TYER", "TYE": tags.year = tags.year ?? Self.text(payload)
        case "TXXX", "TXX": written = written.filled(from: ReplayGain.loudness(ofText: payload))
        case "RVA2", "XRVA": adjusted = adjusted.filled(from: ReplayGain.loudness(ofAdjustment: payload))
        default: break
        }
    }

    private static func text(_ payload: ArraySlice<UInt8>) -> SafeText? {
        let text = ID3Text.decode(payload)
        return text.isEmpty ? nil : SafeText(text)
    }

    /// Steps over an extended header: its size excludes itself in 2.3 and includes itself in 2.4.
    private static func skipExtendedHeader(_ reader: inout BigEndianReader, version: Int) -> Bool {
        let bytes = reader.take(4)
        guard bytes.count == 4 else { return false }
        let size: Int
        if version == 4 {
            guard let whole = ID3v2Header.synchsafe(bytes), whole >= 6 else { return false }
            size = whole - 4
        } else {
            size = bytes.reduce(0) { $0 << 8 | Int($1) }
        }
        guard size <= reader.remaining else { return false }
        _ = reader.take(size)
        return true
    }

    /// Undoes unsynchronisation: the zero that follows each 0xFF goes.
    fileprivate static func resynchronised(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var isAfterMark = false
        for byte in bytes {
            if !(isAfterMark && byte == 0) { result.append(byte) }
            isAfterMark = byte == 0xFF
        }
        return result
    }
}

/// The head of one frame in a tag.
private struct FrameHead {
    var identifier: String
    /// The length of the frame's body.
    var byteCount: Int
    private var flags: Int
    private var version: Int

    /// Reads the next head; nil at the padding, at the end and at anything that is none.
    init?(_ reader: inout BigEndianReader, version: Int) {
        self.version = version
        let name = reader.take(version == 2 ? 3 : 4)
        guard name.count == (version == 2 ? 3 : 4),
            name.allSatisfy({ (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) })
        else { return nil }
        identifier = String(decoding: name, as: UTF8.self)
        let size = reader.take(version == 2 ? 3 : 4)
        let plain = size.reduce(0) { $0 << 8 | Int($1) }
        // Some writers of 2.4 wrote plain sizes; a byte of 0x80 or more gives them away.
        byteCount = version == 4 ? ID3v2Header.synchsafe(size) ?? plain : plain
        flags = version == 2 ? 0 : Int(reader.next(2) ?? 0)
        guard byteCount > 0 else { return nil }
    }

    /// The body without what its flags put before it; nil when it is compressed or encrypted.
    func payload(_ body: ArraySlice<UInt8>, isUnsynchronised: Bool) -> ArraySlice<UInt8>? {
        var body = body
        switch version {
        case 3:
            if flags & 0xC0 != 0 { return nil }
            if flags & 0x20 != 0 { body = body.dropFirst() }
        case 4:
            if flags & 0x0C != 0 { return nil }
            if flags & 0x40 != 0 { body = body.dropFirst() }
            if flags & 0x01 != 0 { body = body.dropFirst(4) }
            if flags & 0x02 != 0 || isUnsynchronised { return ID3v2Tag.resynchronised(body)[...] }
        default: break
        }
        return body
    }
}
