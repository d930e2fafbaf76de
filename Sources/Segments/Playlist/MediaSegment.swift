package import Media
import System

/// One part of a stream, as a media playlist names it (RFC 8216 §3).
package struct MediaSegment: Sendable, Equatable {
    package var mediaSequence: Int64
    /// The discontinuity sequence number (§4.3.3.3). If it differs from that of the segment before, formats
    /// and timestamps begin anew.
    package var discontinuity: Int64
    package var location: ResourceLocation
    /// The place in the list of the first segment that is in the same resource; its own, if none is.
    package var resource: Int
    /// The bytes of the resource that are the segment; `nil` if all are.
    package var range: ByteRange?
    /// The time of its beginning, from the beginning of the first segment.
    package var start: Duration
    package var duration: Duration
    /// `true` if the server does not have it (EXT-X-GAP): it is never requested.
    package var isGap: Bool
    /// `nil` if it is not encrypted.
    package var key: SegmentKey?
    /// `nil` if the format needs none.
    package var section: InitializationSection?
    package var title: SafeText?
}

/// The AES-128 key of a segment (§4.3.2.4).
package struct SegmentKey: Sendable, Hashable {
    package var location: ResourceLocation
    /// 16 bytes: as stated, or else the segment's media sequence number.
    package var initializationVector: [UInt8]

    /// Creates the key that `attributes` state; `nil` if they state none that can be used.
    init?(_ attributes: AttributeList, mediaSequence: Int64, in list: ResourceLocation) throws(MediaError) {
        guard let reference = attributes["URI"] else { return nil }
        location = try ListReference.location(of: reference, in: list)
        guard let stated = attributes["IV"] else {
            // Big-endian, in 128 bits.
            initializationVector = [UInt8](repeating: 0, count: 8) + mediaSequence.bigEndianBytes
            return
        }
        guard let vector = ListNumbers.initializationVector(stated) else { return nil }
        initializationVector = vector
    }
}

/// The bytes that a decoder needs before those of a segment (EXT-X-MAP, §4.3.2.5).
package struct InitializationSection: Sendable, Hashable {
    package var location: ResourceLocation
    /// `nil` for the whole resource.
    package var range: ByteRange?
    /// `nil` if it is not encrypted.
    package var key: SegmentKey?

    /// Creates the section that `attributes` state, without its key; `nil` if they state none that can be
    /// used.
    init?(_ attributes: AttributeList, in list: ResourceLocation) throws(MediaError) {
        guard let reference = attributes["URI"] else { return nil }
        location = try ListReference.location(of: reference, in: list)
        guard let stated = attributes["BYTERANGE"] else { return }
        guard let range = ListNumbers.byteRange(stated.utf8, implied: 0) else { return nil }
        self.range = range
    }
}

/// The lines of one segment: EXTINF with its title, and the URI.
struct SegmentLines: LineReader {
    private(set) var title: SafeText?
    private(set) var reference: String?

    /// Reads the lines of a segment; those of the next one may follow.
    mutating func read(_ line: ListLine) throws(MediaError) {
        guard reference == nil else { return }
        if let value = line.value(of: "#EXTINF") {
            title = Self.title(value)
        } else if line.text[0] != UInt8(ascii: "#") {
            let name = FileName.text(line.text)
            reference = name
            if title?.string == name { title = nil }
        }
    }

    /// The title behind the comma of EXTINF (§4.3.2.1): free text, or attributes, as stations of iHeart write
    /// them.
    private static func title(_ value: ByteText) -> SafeText? {
        guard let comma = value.firstIndex(of: UInt8(ascii: ",")) else { return nil }
        let text = value.piece(comma + 1..<value.count).trimmed
        guard text.starts(with: "title=\"") else {
            // SRS writes `no desc`.
            return text.isEmpty || text.elementsEqual("no desc".utf8)
                ? nil : SafeText(LegacyText.string(text))
        }
        let attributes = AttributeList(text, hasEscapes: true)
        // `text="Spot Block End"` is an advertisement.
        guard let title = attributes["title"], !title.hasPrefix("text=") else { return nil }
        return SafeText.streamTitle(artist: attributes["artist"], title: title)
    }
}

extension SafeText {
    /// `Artist - Title`, as ICY streams write it, or the title alone.
    static func streamTitle(artist: String?, title: String) -> SafeText {
        guard let artist, artist.contains(where: { $0 != " " }) else { return SafeText(title) }
        return SafeText(artist + " - " + title)
    }
}
