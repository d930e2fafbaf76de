package import Media

/// The text frames and the chapters of an ID3v2 tag. Only the first bytes of the tag may have been read.
///
/// Pictures and all other frames are skipped. Parsing ends at a frame that extends beyond the bytes that were
/// read, or beyond the tag: nothing after a damaged frame can be trusted.
package struct ID3v2Tag: Sendable, Equatable {
    /// The longest text frame that is read; no title is longer.
    private static let longestText = 16_384
    /// The most frames that are read; no ordinary tag has so many.
    private static let mostFrames = 4_096

    package private(set) var tags = TrackTags()
    /// The ReplayGain of the tag: text frames take precedence over `RVA2` frames.
    package var loudness: Loudness { written.filled(from: adjusted) }
    package var chapters: ChapterList { ChapterList(found) }
    private var found: [Chapter] = []
    private var written = Loudness()
    private var adjusted = Loudness()

    /// Parses the tag at the start of `bytes`; `nil` if there is none.
    package init?(_ bytes: ArraySlice<UInt8>) {
        guard let header = ID3v2Header(bytes) else { return nil }
        var content = Array(bytes.prefix(header.tagByteCount).dropFirst(ID3v2Header.byteCount))
        // Up to 2.3, frame sizes count the bytes before unsynchronisation, so that is undone for the whole
        // tag.
        if header.isUnsynchronised, header.version < 4 { content = Self.resynchronised(content[...]) }
        var reader = BigEndianReader(content)
        if header.hasExtendedHeader, !Self.skipExtendedHeader(&reader, version: header.version) { return }
        for _ in 0..<Self.mostFrames {
            guard let frame = FrameHead(&reader, version: header.version),
                frame.byteCount <= reader.remaining
            else { return }
            var body = reader.take(frame.byteCount)
            // The title of a chapter comes before its picture.
            if frame.identifier == "CHAP" { body = body.prefix(Self.longestText) }
            guard body.count <= Self.longestText,
                let payload = frame.payload(body, isUnsynchronised: header.isUnsynchronised)
            else { continue }
            if frame.identifier == "CHAP" {
                found += Self.chapter(payload, version: header.version).map { [$0] } ?? []
            } else {
                note(frame.identifier, payload)
            }
        }
    }

    /// Stores the value of a frame with a known identifier; if several set the same value, the first counts.
    private mutating func note(_ identifier: String, _ payload: ArraySlice<UInt8>) {
        switch identifier {
        case "TIT2", "TT2": tags.title = tags.title ?? Self.text(payload)
        case "TPE1", "TP1": tags.artist = tags.artist ?? Self.text(payload)
        case "TALB", "TAL": tags.album = tags.album ?? Self.text(payload)
        case "TRCK", "TRK": tags.number = tags.number ?? Self.text(payload)
        // The frames for the year; in version 2.4, the recording time (`TDRC`) replaced the other two.
        case "TDRC", "TYER", "TYE": tags.year = tags.year ?? Self.text(payload)
        case "TXXX", "TXX": written = written.filled(from: ReplayGain.loudness(ofText: payload))
        case "RVA2", "XRVA": adjusted = adjusted.filled(from: ReplayGain.loudness(ofAdjustment: payload))
        default: break
        }
    }

    /// The chapter in a frame (ID3v2 Chapter Frame Addendum §3.1): a name for programs, its start and end in milliseconds,
    /// their offsets, and frames of its own.
    private static func chapter(_ payload: ArraySlice<UInt8>, version: Int) -> Chapter? {
        guard let end = payload.firstIndex(of: 0) else { return nil }
        var reader = BigEndianReader(Array(payload[(end + 1)...]))
        guard let start = reader.next(4), reader.take(12).count == 12 else { return nil }
        while let frame = FrameHead(&reader, version: version) {
            let body = reader.take(frame.byteCount)
            if frame.identifier == "TIT2", let text = frame.payload(body, isUnsynchronised: false) {
                return Chapter(start: .milliseconds(start), title: ID3Text.decode(text))
            }
        }
        return Chapter(start: .milliseconds(start), title: "")
    }

    private static func text(_ payload: ArraySlice<UInt8>) -> SafeText? {
        let text = ID3Text.decode(payload)
        return text.isEmpty ? nil : SafeText(text)
    }

    /// Skips an extended header, whose size excludes itself in 2.3 and includes itself in 2.4.
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

    /// Undoes unsynchronisation: removes the zero after each 0xFF.
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

/// The header of one frame in a tag.
private struct FrameHead {
    var identifier: String
    /// The length of the frame's body.
    var byteCount: Int
    private var flags: Int
    private var version: Int

    /// Reads the next header; `nil` at padding, at the end, and at bytes that are not a header.
    init?(_ reader: inout BigEndianReader, version: Int) {
        self.version = version
        let name = reader.take(version == 2 ? 3 : 4)
        guard name.count == (version == 2 ? 3 : 4),
            name.allSatisfy({ (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) })
        else { return nil }
        identifier = String(decoding: name, as: UTF8.self)
        let size = reader.take(version == 2 ? 3 : 4)
        let plain = size.reduce(0) { $0 << 8 | Int($1) }
        // Some programs wrote plain sizes into 2.4 tags; a byte of 0x80 or more reveals that.
        byteCount = version == 4 ? ID3v2Header.synchsafe(size) ?? plain : plain
        flags = version == 2 ? 0 : Int(reader.next(2) ?? 0)
        guard byteCount > 0 else { return nil }
    }

    /// The body without the fields that its flags add; `nil` if it is compressed or encrypted.
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

/// The tag of 128 bytes that may end an MP3 file (ID3v1, and 1.1 with its track number).
package enum ID3v1Tag {
    package static let byteCount = 128

    /// The tags in `bytes`; `nil` if they are not an ID3v1 tag.
    package static func tags(in bytes: [UInt8]) -> TrackTags? {
        guard bytes.count == byteCount, bytes.starts(with: "TAG".utf8) else { return nil }
        var tags = TrackTags(
            title: field(bytes[3..<33]),
            artist: field(bytes[33..<63]),
            album: field(bytes[63..<93]),
            year: field(bytes[93..<97])
        )
        // If the second-to-last byte of the comment is zero, the last one is the track number (1.1).
        if bytes[125] == 0, bytes[126] != 0 { tags.number = SafeText(String(bytes[126])) }
        return tags
    }

    private static func field(_ bytes: ArraySlice<UInt8>) -> SafeText? {
        let text = ID3Text.trimmed(ID3Text.latin1(bytes.prefix { $0 != 0 }))
        return text.isEmpty ? nil : SafeText(text)
    }
}

/// The text of ID3 frames: one byte for the encoding, then the characters of values that are separated by
/// NUL.
package enum ID3Text {
    /// Decodes a text frame's payload; joins several values with `, ` and replaces invalid bytes by U+FFFD.
    package static func decode(_ payload: ArraySlice<UInt8>) -> String {
        values(payload).joined(separator: ", ")
    }

    /// Decodes a text frame's payload into its trimmed values, without empty ones.
    package static func values(_ payload: ArraySlice<UInt8>) -> [String] {
        guard let encoding = payload.first else { return [] }
        let bytes = Array(payload.dropFirst())
        let text =
            switch encoding {
            case 0: latin1(bytes[...])
            case 1: utf16(bytes, isBigEndian: false)
            case 2: utf16(bytes, isBigEndian: true)
            case 3: String(decoding: bytes, as: UTF8.self)
            // The encoding byte is missing, as in frames by some early programs.
            default: latin1(payload)
            }
        return text.split(separator: "\0").map(trimmed).filter { !$0.isEmpty }
    }

    /// Decodes ISO 8859-1, in which every byte is the number of a Unicode scalar.
    package static func latin1(_ bytes: ArraySlice<UInt8>) -> String {
        var scalars = String.UnicodeScalarView()
        for byte in bytes { scalars.append(Unicode.Scalar(byte)) }
        return String(scalars)
    }

    /// Decodes UTF-16; every value may begin with its own byte order mark.
    private static func utf16(_ bytes: [UInt8], isBigEndian: Bool) -> String {
        var isBigEndian = isBigEndian
        var units: [UInt16] = []
        units.reserveCapacity(bytes.count / 2)
        for index in stride(from: 0, to: bytes.count - 1, by: 2) {
            let pair = (UInt16(bytes[index]), UInt16(bytes[index + 1]))
            switch pair {
            case (0xFE, 0xFF): isBigEndian = true
            case (0xFF, 0xFE): isBigEndian = false
            default: units.append(isBigEndian ? pair.0 << 8 | pair.1 : pair.1 << 8 | pair.0)
            }
        }
        return String(decoding: units, as: UTF16.self)
    }

    /// `text` without leading and trailing whitespace, which pads fields of fixed length.
    package static func trimmed(_ text: some StringProtocol) -> String {
        guard let first = text.firstIndex(where: { !$0.isWhitespace }),
            let last = text.lastIndex(where: { !$0.isWhitespace })
        else { return "" }
        return String(text[first...last])
    }
}
