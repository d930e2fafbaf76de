package import Media

/// Parses a media playlist, piece by piece as it arrives: the text never has to be in memory as a whole.
///
/// Unknown tags are ignored (RFC 8216 §6.3.1), and what a list states wrongly is corrected, if that is
/// possible. A list is refused by an error if it is too long, uses an encryption that is not supported, or
/// names URLs that no list may use.
package struct MediaPlaylistParser {
    private var lines = ListLines()
    private var builder: MediaPlaylistBuilder

    /// `location` is where the list is, after redirects.
    package init(location: ResourceLocation) { builder = MediaPlaylistBuilder(location) }

    /// Parses the next bytes of the list. After an error the parser is of no use.
    package mutating func feed(_ piece: [UInt8]) throws(MediaError) {
        guard lines.byteCount + piece.count <= MediaPlaylist.mostBytes else { throw builder.tooLong }
        try piece.withUnsafeBufferPointer { (piece) throws(MediaError) in
            try lines.feed(piece, to: &builder)
        }
    }

    /// The playlist, after its last byte.
    package mutating func finish() throws(MediaError) -> MediaPlaylist {
        try lines.finish(&builder)
        return try builder.finished(byteCount: lines.byteCount)
    }
}

/// Collects what the lines of a media playlist state.
private struct MediaPlaylistBuilder: LineReader {
    /// The facts of the segment whose URI follows, from its tags.
    private struct Coming {
        /// The offset of EXTINF.
        var line: Int?
        var duration: Int64?
        var range: ByteRange?
        var continuesRange = false
        var isGap = false
        var discontinuityCount = 0
        var date: Int64?
    }

    /// A distance between EXTINF and its URI within which both are read at once.
    private static let farthestInformation = ListLines.longest
    /// More titles than a list of three days has.
    private static let mostTitles = 1_000
    private static let longestTitle = 300

    private var playlist: MediaPlaylist
    private var hasBegun = false
    private var targetDuration: Int64?
    private var hasTarget = false
    private var longest: Int64 = 0
    private var coming = Coming()
    private var keys = KeysInEffect()
    private var section: MediaPlaylist.Section?
    private var needsDate = true
    /// The last segment's resource and the end of its range.
    private var lastRange: (reference: [UInt8], end: Int64)?

    init(_ location: ResourceLocation) { playlist = MediaPlaylist(at: location) }

    var tooLong: MediaError {
        MediaError(
            .listTooLarge,
            playlist.location.safeText,
            "the HLS playlist is too long (more than 131,072 segments or 64 MiB)"
        )
    }

    private var invalidRange: MediaError {
        .badPlaylist(playlist.location, "a byte range in the HLS playlist is not valid")
    }

    func finished(byteCount: Int) throws(MediaError) -> MediaPlaylist {
        guard hasTarget else { throw .badPlaylist(playlist.location, "not an HLS playlist of segments") }
        var playlist = playlist
        guard playlist.count > 0 || !playlist.isEnded else {
            throw MediaError(.emptyResource, playlist.location.safeText, "the HLS playlist has no segments")
        }
        playlist.targetDuration = .microseconds(targetDuration ?? max(longest, 1_000_000))
        playlist.byteCount = byteCount
        return playlist
    }

    // MARK: Lines

    mutating func read(_ line: ListLine) throws(MediaError) {
        guard hasBegun else {
            hasBegun = true
            guard line.text.starts(with: "#EXTM3U") else {
                throw .badPlaylist(playlist.location, "not an HLS playlist")
            }
            return
        }
        guard line.text[0] == UInt8(ascii: "#") else { return try addSegment(line) }
        if let value = line.value(of: "#EXTINF") {
            coming.line = line.range.lowerBound
            coming.duration = ListNumbers.microseconds(value)
        } else if line.text.starts(with: "#EXT-X-") {
            try readTag(line)
        }
    }

    private mutating func readTag(_ line: ListLine) throws(MediaError) {
        let text = line.text.piece(7..<line.text.count)
        let colon = text.firstIndex(of: UInt8(ascii: ":")) ?? text.count
        let value = text.piece(min(colon + 1, text.count)..<text.count).trimmed
        switch String(decoding: text.piece(0..<colon), as: UTF8.self) {
        case "VERSION": playlist.version = ListNumbers.sequence(value)
        case "TARGETDURATION":
            hasTarget = true
            targetDuration = ListNumbers.microseconds(value)
        case "MEDIA-SEQUENCE": playlist.mediaSequence = ListNumbers.sequence(value)
        case "DISCONTINUITY-SEQUENCE": playlist.discontinuitySequence = ListNumbers.sequence(value)
        case "ENDLIST": playlist.isEnded = true
        case "PLAYLIST-TYPE":
            playlist.kind =
                value.elementsEqual("VOD".utf8) ? .vod : value.elementsEqual("EVENT".utf8) ? .event : nil
        case "START":
            let offset = AttributeList(value)["TIME-OFFSET"]
            playlist.startOffset = offset.flatMap { ListNumbers.signedMicroseconds($0.utf8) }
                .map { .microseconds($0) }
        case "BYTERANGE":
            coming.continuesRange = !value.contains(UInt8(ascii: "@"))
            coming.range = ListNumbers.byteRange(value, implied: 0)
            guard coming.range != nil else { throw invalidRange }
        case "DISCONTINUITY":
            coming.discontinuityCount += 1
            needsDate = true
        case "GAP": coming.isGap = true
        case "KEY": try keys.read(AttributeList(value), at: line.range.lowerBound, in: playlist.location)
        case "MAP":
            guard try InitializationSection(AttributeList(value), in: playlist.location) != nil else {
                throw .badPlaylist(playlist.location, "EXT-X-MAP in the HLS playlist is not valid")
            }
            try keys.checkPlayable(in: playlist.location)
            section = MediaPlaylist.Section(line: Int32(line.range.lowerBound), keyLine: keys.line)
        case "PROGRAM-DATE-TIME": if needsDate { coming.date = Self.date(value) }
        case "DATERANGE": addTitle(AttributeList(value))
        case "STREAM-INF", "MEDIA":
            throw .badPlaylist(playlist.location, "a master playlist instead of one of segments")
        default: break
        }
    }

    // MARK: Segments

    private mutating func addSegment(_ line: ListLine) throws(MediaError) {
        let index = playlist.count
        guard index < MediaPlaylist.mostSegments else { throw tooLong }
        try ListReference.check(line.text, in: playlist.location)
        try keys.checkPlayable(in: playlist.location)
        try addRange(line.text)
        let isNear = coming.line.map { line.range.upperBound - $0 <= Self.farthestInformation } == true
        playlist.lines.append(Int32(isNear ? coming.line ?? 0 : line.range.lowerBound))
        let duration = coming.duration ?? targetDuration ?? MediaPlaylist.usualDuration
        playlist.times.append(playlist.times[index] + duration)
        longest = max(longest, duration)
        if coming.isGap { playlist.gaps.append(Int32(index)) }
        for _ in 0..<coming.discontinuityCount
        where playlist.discontinuities.count < MediaPlaylist.mostSegments {
            playlist.discontinuities.append(Int32(index))
        }
        playlist.keyLines.begin(keys.line, at: index)
        if let section { playlist.sections.begin(section, at: index) }
        if let date = coming.date {
            playlist.dates.begin(date, at: index)
            needsDate = false
        }
        coming = Coming()
    }

    /// A range without an offset continues that of the segment before, if both are of the same resource
    /// (§4.3.2.2).
    private mutating func addRange(_ reference: ByteText) throws(MediaError) {
        guard var range = coming.range else {
            if !playlist.ranges.isEmpty { playlist.ranges.append(0..<0) }
            lastRange = nil
            return
        }
        let isSame = lastRange.map { reference.elementsEqual($0.reference) } == true
        if coming.continuesRange, isSame, let start = lastRange?.end {
            range = start..<start + range.upperBound
        }
        guard range.upperBound <= ListNumbers.farthest else { throw invalidRange }
        if playlist.ranges.isEmpty {
            playlist.ranges = Array(repeating: 0..<0, count: playlist.count)
        }
        playlist.ranges.append(range)
        if !isSame {
            let index = playlist.ranges.count - 1
            playlist.resources.begin(Int32(index), at: index)
            lastRange = (Array(reference), 0)
        }
        lastRange?.end = range.upperBound
    }

    // MARK: Dates and titles

    private mutating func addTitle(_ attributes: AttributeList) {
        guard let title = attributes["X-TITLE"], let start = attributes["START-DATE"],
            playlist.datedTitles.count < Self.mostTitles
        else { return }
        let artist = attributes["X-ARTIST"].map { String($0.prefix(Self.longestTitle)) }
        let date = Array(start.utf8).withUnsafeBufferPointer { Self.date($0) }
        guard let date else { return }
        let text = SafeText.streamTitle(artist: artist, title: String(title.prefix(Self.longestTitle)))
        playlist.datedTitles.append(MediaPlaylist.DatedTitle(date: date, text: text))
    }

    /// Microseconds since 1970; `nil` if `text` is no date (§4.3.2.6).
    private static func date(_ text: ByteText) -> Int64? {
        guard let date = InternetDate(parsing: String(decoding: text.prefix(40), as: UTF8.self)) else {
            return nil
        }
        let dot = text.firstIndex(of: UInt8(ascii: "."))
        let fraction = dot.map { ListNumbers.millionths(text.piece($0 + 1..<text.count)) } ?? 0
        return date.seconds * 1_000_000 + fraction
    }
}

/// The tags EXT-X-KEY that hold (§4.3.2.4): one for each KEYFORMAT, of which only `identity` can be used.
private struct KeysInEffect {
    /// The offset of the tag of the AES-128 key; `noKey` if there is none.
    private(set) var line = MediaPlaylist.noKey
    /// The names of the other encryptions.
    private var refused: SafeText?

    private static let systems = [
        "com.apple.streamingkeydelivery": "FairPlay", "com.microsoft.playready": "PlayReady",
        "urn:uuid:9a04f079-9840-4286-ab92-e65be0885f95": "PlayReady",
        "urn:uuid:edef8ba9-79d6-4ace-a3c8-27dcd51d21ed": "Widevine",
    ]

    mutating func read(_ tag: AttributeList, at offset: Int, in list: ResourceLocation) throws(MediaError) {
        let method = tag["METHOD"] ?? ""
        let format = tag["KEYFORMAT"] ?? "identity"
        if method == "NONE" {
            self = KeysInEffect()
        } else if format != "identity" {
            refused = SafeText("\(Self.systems[format.lowercased()] ?? format) (DRM)")
        } else if method == "AES-128" {
            guard try SegmentKey(tag, mediaSequence: 0, in: list) != nil else {
                throw .badPlaylist(list, "EXT-X-KEY in the HLS playlist is not valid")
            }
            line = Int32(offset)
        } else {
            line = MediaPlaylist.noKey
            refused = SafeText(method.isEmpty ? "an unnamed method" : method)
        }
    }

    /// Throws if what follows is encrypted, but not by a key that can be used.
    func checkPlayable(in list: ResourceLocation) throws(MediaError) {
        guard line == MediaPlaylist.noKey, let refused else { return }
        throw MediaError(
            .notAudio,
            list.safeText,
            "encrypted with " + refused + " – Reprise decrypts AES-128 only"
        )
    }
}
