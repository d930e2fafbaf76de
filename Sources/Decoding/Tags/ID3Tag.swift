package import Media

/// A walk over the frames of an ID3v2 tag, which collects its texts and its chapters.
///
/// The walk takes the bytes of text frames only, so that no picture is read for the texts behind it: `wanted`
/// states the bytes that come next. A frame that is empty, compressed, too long or of an unknown kind costs
/// only itself.
package struct ID3v2Tag: Sendable, Equatable {
    /// The bytes that are wanted behind a frame that was passed over; short texts follow together.
    private static let sampleByteCount = 4_096

    /// Bytes of the tag that were read.
    private struct Piece: Equatable {
        var start: Int
        var bytes: [UInt8]
    }

    package private(set) var tags = TrackTags()
    /// The ReplayGain of the tag: text frames take precedence over `RVA2` frames.
    package var loudness: Loudness { written.filled(from: adjusted) }
    package var chapters: ChapterList { ChapterList(found) }
    /// The offsets in the tag of the bytes that the walk needs next; `nil` once it has ended.
    package private(set) var wanted: Range<Int>?
    /// `true` if a picture's bytes must be read to find what follows it: up to version 2.3, frame sizes count
    /// the bytes before unsynchronisation, so that is undone for the whole tag.
    package var isReadAsWhole: Bool { header.isUnsynchronised && header.version < 4 }

    /// The offset of the tag in the resource.
    let start: Int64
    private let header: ID3v2Header
    private var pieces: [Piece] = []
    /// The offset of the next frame, and that of the tag's end.
    private var place = ID3v2Header.byteCount
    private var end: Int
    private var frameCount = 0
    private var found: [Chapter] = []
    private var written = Loudness()
    private var adjusted = Loudness()
    /// The ranges of the tag that `fetch` has requested.
    private var fetched: [Range<Int>] = []

    /// Walks the tag with which `bytes` begin, as far as they go; `nil` if they do not begin with a tag. They
    /// are those from the offset `start` on.
    package init?(_ bytes: ArraySlice<UInt8>, at start: Int64 = 0) {
        guard let header = ID3v2Header(bytes) else { return nil }
        self.header = header
        self.start = start
        end = header.contentEnd
        var known = Array(bytes.prefix(end))
        if isReadAsWhole {
            let isWhole = known.count == end
            known = known.prefix(place) + Self.resynchronised(known[place...])
            if isWhole { end = known.count }
        }
        pieces = [Piece(start: 0, bytes: known)]
        walk()
    }

    /// Walks on with `bytes`, those of the range `wanted`.
    package mutating func receive(_ bytes: [UInt8]) {
        guard let range = wanted, bytes.count == range.count else { return }
        if isReadAsWhole {
            self = ID3v2Tag(bytes[...], at: start) ?? self
        } else {
            pieces.append(Piece(start: range.lowerBound, bytes: bytes))
            walk()
        }
    }

    private mutating func walk() {
        wanted = nil
        if frameCount == 0, place == ID3v2Header.byteCount, header.hasExtendedHeader, !skipExtendedHeader() {
            return
        }
        while frameCount < ID3Text.most, place + FrameHead.byteCount(header.version) <= end {
            let body = place + FrameHead.byteCount(header.version)
            guard let bytes = held(place..<body), let frame = FrameHead(bytes, version: header.version),
                let next = next(after: frame, body)
            else { return }
            // Only a picture whose bytes are as they were written can be read in its place.
            if frame.isPicture, frame.isPlain, !header.isUnsynchronised, body < next, tags.cover == nil {
                tags.cover = inResource(body..<next)
            }
            if frame.isRead, body < next {
                // The title of a chapter comes before its picture.
                let isChapter = frame.identifier == "CHAP"
                let count = isChapter ? min(next - body, ID3Text.longest) : next - body
                if count <= ID3Text.longest {
                    guard let bytes = held(body..<body + count) else { return }
                    let payload = frame.payload(bytes, isUnsynchronised: header.isUnsynchronised)
                    if let payload { note(frame.identifier, payload) }
                }
            }
            frameCount += 1
            place = next
            pieces.removeAll { $0.start + $0.bytes.count < place }
        }
    }

    /// The bytes in `range`, if they were read; else `wanted` is set.
    private mutating func held(_ range: Range<Int>) -> ArraySlice<UInt8>? {
        for piece in pieces
        where piece.start <= range.lowerBound && range.upperBound <= piece.start + piece.bytes.count {
            return piece.bytes[(range.lowerBound - piece.start)..<(range.upperBound - piece.start)]
        }
        let last = max(range.upperBound, range.lowerBound + Self.sampleByteCount)
        wanted = isReadAsWhole ? 0..<header.contentEnd : range.lowerBound..<min(last, end)
        return nil
    }

    /// The offset behind the frame whose body begins at `body`; `nil` if more bytes are wanted or if none is
    /// likely.
    ///
    /// Some programs wrote plain sizes into 2.4 and synchsafe ones into 2.3: if both are possible, the size
    /// counts behind which another frame begins.
    private mutating func next(after frame: FrameHead, _ body: Int) -> Int? {
        let places = frame.sizes.map { body + $0 }.filter { $0 <= end }
        if frame.isNamed, places.count < 2 { return places.first }
        return firstFrame(of: places) ?? (frame.isNamed && wanted == nil ? places.first : nil)
    }

    /// The first of `places` at which a frame or the end of the tag is found, or else padding; `nil` also if
    /// more bytes are wanted.
    private mutating func firstFrame(of places: [Int]) -> Int? {
        let count = header.version == 2 ? 3 : 4
        for isPadding in [false, true] {
            for place in places where place <= end {
                if place == end || (isPadding && place + count > end) { return place }
                guard place + count <= end else { continue }
                guard let name = held(place..<place + count) else { return nil }
                if isPadding ? name.first == 0 : FrameHead.isName(name) { return place }
            }
        }
        return nil
    }

    /// Skips an extended header, whose size excludes itself in 2.3 and includes itself in 2.4, though not in
    /// all programs; `false` if more bytes are wanted or no frame is found.
    private mutating func skipExtendedHeader() -> Bool {
        guard place + 4 <= end, let bytes = held(place..<place + 4) else { return false }
        let plain = place + Int(bytes.bigEndianNumber)
        let places =
            header.version == 4
            ? [ID3v2Header.synchsafe(bytes).map { place + $0 } ?? plain] : [plain + 4, plain]
        guard let first = firstFrame(of: places.filter { $0 > place } + [place]) else { return false }
        place = first
        return true
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
        case "TPE2", "TP2": tags.albumArtist = tags.albumArtist ?? Self.text(payload)
        case "TPOS", "TPA": tags.disc = tags.disc ?? Self.text(payload)
        case "TCON", "TCO": tags.genre = tags.genre ?? ID3Genre.text(ID3Text.values(payload))
        case "TCMP", "TCP": tags.compilation = tags.compilation ?? Self.text(payload)
        case "TXXX", "TXX": written = written.filled(from: ReplayGain.loudness(ofText: payload))
        case "CHAP": if let chapter = Self.chapter(payload, version: header.version) { found.append(chapter) }
        case "RVA2", "XRVA": adjusted = adjusted.filled(from: ReplayGain.loudness(ofAdjustment: payload))
        default: break
        }
    }

    /// The chapter in a frame (ID3v2 Chapter Frame Addendum §3.1): a name for programs, its start and end in
    /// milliseconds, their offsets, and frames of its own.
    private static func chapter(_ payload: ArraySlice<UInt8>, version: Int) -> Chapter? {
        guard let end = payload.firstIndex(of: 0) else { return nil }
        var reader = BigEndianReader(Array(payload[(end + 1)...]))
        guard let start = reader.next(4), reader.take(12).count == 12 else { return nil }
        while let frame = FrameHead(reader.take(FrameHead.byteCount(version)), version: version),
            frame.isNamed,
            let size = frame.sizes.first
        {
            let body = reader.take(size)
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

private struct FrameHead {
    var identifier: String
    /// The possible lengths of the frame's body, the likeliest one first.
    var sizes: [Int]
    /// `false` if the format does not allow the identifier.
    var isNamed: Bool
    private var flags: Int
    private var version: Int

    static func byteCount(_ version: Int) -> Int { version == 2 ? 6 : 10 }

    /// `true` if `bytes` may be an identifier. iTunes wrote those of 2.2 into 2.3, with a zero behind them.
    static func isName(_ bytes: ArraySlice<UInt8>) -> Bool {
        let isPadded = bytes.count == 4 && bytes.last == 0
        return bytes.dropLast(isPadded ? 1 : 0).allSatisfy {
            (0x30...0x39).contains($0) || (0x41...0x5A).contains($0)
        }
    }

    /// Parses a whole header; `nil` if `bytes` are cut or padding.
    init?(_ bytes: ArraySlice<UInt8>, version: Int) {
        guard bytes.count == Self.byteCount(version), bytes.first != 0 else { return nil }
        self.version = version
        let count = version == 2 ? 3 : 4
        let name = bytes.prefix(count)
        identifier = ID3Text.latin1(name.prefix { $0 != 0 })
        isNamed = Self.isName(name)
        let size = bytes.dropFirst(count).prefix(count)
        let plain = Int(size.bigEndianNumber)
        let safe = version == 2 ? plain : ID3v2Header.synchsafe(size) ?? plain
        sizes = plain == safe ? [plain] : version == 4 ? [safe, plain] : [plain, safe]
        flags = version == 2 ? 0 : Int(bytes.suffix(2).bigEndianNumber)
    }

    /// `true` if the frame may be one whose content is of use: a text, a chapter or a volume.
    var isRead: Bool { identifier.hasPrefix("T") || ["CHAP", "RVA2", "XRVA"].contains(identifier) }

    var isPicture: Bool { identifier == "APIC" || identifier == "PIC" }

    /// `true` unless the body is compressed, encrypted or unsynchronised, or other fields precede it.
    var isPlain: Bool { flags & (version == 3 ? 0xE0 : 0x4F) == 0 }

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
    package static func tags(in bytes: some Collection<UInt8>) -> TrackTags? {
        let bytes = Array(bytes)
        guard bytes.count == byteCount, bytes.starts(with: "TAG".utf8) else { return nil }
        var tags = TrackTags(
            title: field(bytes[3..<33]),
            artist: field(bytes[33..<63]),
            album: field(bytes[63..<93]),
            year: field(bytes[93..<97])
        )
        // If the second-to-last byte of the comment is zero, the last one is the track number (1.1).
        if bytes[125] == 0, bytes[126] != 0 { tags.number = SafeText(String(bytes[126])) }
        tags.genre = ID3Genre.name(Int(bytes[127])).map { SafeText($0) }
        return tags
    }

    private static func field(_ bytes: ArraySlice<UInt8>) -> SafeText? {
        let text = ID3Text.trimmed(LegacyText.string(cut: bytes.prefix { $0 != 0 }))
        return text.isEmpty ? nil : SafeText(text)
    }
}

/// The text of ID3 frames: one byte for the encoding, then the characters of values that are separated by
/// NUL.
package enum ID3Text {
    /// The most bytes of a text that are read, in tags of any kind; no title is longer.
    static let longest = 16_384
    /// The most texts of a tag of any kind; no ordinary one has so many.
    static let most = 4_096

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
            // Many programs wrote the encoding of their system here, or UTF-8, and called it ISO 8859-1.
            case 0: LegacyText.string(bytes)
            // One wrong byte does not make the rest another encoding.
            case 3: String(decoding: bytes, as: UTF8.self)
            case 1: utf16(bytes, isBigEndian: false)
            case 2: utf16(bytes, isBigEndian: true)
            // The encoding byte is missing, as in frames by some early programs.
            default: LegacyText.string(payload)
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

    /// The text up to the first zero of `bytes`, which state no encoding; `nil` if it is blank.
    static func text(_ bytes: some Collection<UInt8>) -> SafeText? {
        let text = trimmed(LegacyText.string(bytes.prefix { $0 != 0 }))
        return text.isEmpty ? nil : SafeText(text)
    }

    /// `text` without leading and trailing whitespace, which pads fields of fixed length.
    package static func trimmed(_ text: some StringProtocol) -> String {
        guard let first = text.firstIndex(where: { !$0.isWhitespace }),
            let last = text.lastIndex(where: { !$0.isWhitespace })
        else { return "" }
        return String(text[first...last])
    }
}

/// A tag whose texts were read only in part.
extension ID3v2Tag {
    private static let mostFetches = 8

    /// Walks on as far as the bytes are stored.
    mutating func readStored(in source: any ByteSource) async throws {
        while let wanted, wanted.count <= StreamStart.longestTag,
            let bytes = try await source.allStored(in: inResource(wanted))
        {
            receive(bytes)
        }
    }

    /// Fetches the next texts at low priority, if the title or the artist is still missing. Pictures are
    /// never fetched.
    mutating func fetch(from source: any ByteSource) {
        guard let wanted, !isReadAsWhole, tags.title == nil || tags.artist == nil, fetched.last != wanted,
            fetched.count < Self.mostFetches
        else { return }
        fetched.append(wanted)
        source.prefetch(inResource(wanted))
    }

    private func inResource(_ range: Range<Int>) -> ByteRange {
        start + Int64(range.lowerBound)..<start + Int64(range.upperBound)
    }
}
