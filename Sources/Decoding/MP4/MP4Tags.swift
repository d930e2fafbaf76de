import Media

/// The tags of MP4 files: the items in `moov.udta.meta.ilst`, as iTunes writes them. Pure.
struct MP4Tags: Equatable {
    /// The longest content of an item that is read. Longer ones are pictures.
    static let longestItem: Int64 = 16_384

    private(set) var tags = TrackTags()
    private(set) var loudness = Loudness()
    /// The frames of the music, as `iTunSMPB` states them.
    private(set) var gapless: Range<FrameCount>?

    /// Records the offsets of the cover, without reading it.
    mutating func noteCover(in item: ByteRange) {
        // The head of the box `data`, its kind and its locale come first.
        let start = min(item.lowerBound + 16, item.upperBound)
        if tags.cover == nil, start < item.upperBound { tags.cover = start..<item.upperBound }
    }

    /// Takes the content of the item `name`; the first one of a kind counts.
    mutating func parse(_ name: String, _ content: [UInt8]) {
        guard name != "----" else { return parseFree(content) }
        guard let data = Self.data(in: content) else { return }
        switch name {
        case "\u{A9}nam": tags.title = tags.title ?? ID3Text.text(data)
        case "\u{A9}ART": tags.artist = tags.artist ?? ID3Text.text(data)
        case "\u{A9}alb": tags.album = tags.album ?? ID3Text.text(data)
        case "aART": tags.albumArtist = tags.albumArtist ?? ID3Text.text(data)
        case "\u{A9}day": tags.year = tags.year ?? ID3Text.text(data)
        case "\u{A9}gen": tags.genre = tags.genre ?? ID3Text.text(data)
        // A number that is greater by 1 than that of ID3.
        case "gnre":
            let number = Int(data.prefix(2).bigEndianNumber)
            tags.genre = tags.genre ?? ID3Genre.name(number - 1).map { SafeText($0) }
        case "cpil": tags.compilation = tags.compilation ?? (data.contains { $0 != 0 } ? "1" : nil)
        case "trkn": tags.number = tags.number ?? Self.pair(data)
        case "disk": tags.disc = tags.disc ?? Self.pair(data)
        default: break
        }
    }

    /// An item with a name of its own: the boxes `mean`, `name` and `data`.
    private mutating func parseFree(_ content: [UInt8]) {
        guard let name = Self.box("name", in: content)?.dropFirst(4), let data = Self.data(in: content) else {
            return
        }
        let key = ID3Text.latin1(name)
        let value = ID3Text.trimmed(LegacyText.string(data))
        if key == "iTunSMPB" {
            gapless = gapless ?? Self.gapless(value)
        } else {
            loudness = loudness.filled(from: ReplayGain.loudness(ofKey: key, value))
        }
    }

    /// ` 00000000 00000840 000001CA 00000000003F31F6 …`: 0, and the numbers of frames before, after and in
    /// the music.
    private static func gapless(_ value: String) -> Range<FrameCount>? {
        let fields = value.split(separator: " ").map { Int64($0, radix: 16) }
        guard fields.count >= 4, let start = fields[1], let count = fields[3], (0..<1 << 24).contains(start),
            (1..<1 << 56).contains(count)
        else { return nil }
        return start..<start + count
    }

    /// A number with or without the total: `3` or `3/12`.
    private static func pair(_ data: ArraySlice<UInt8>) -> SafeText? {
        var reader = BigEndianReader(Array(data), at: 2)
        guard let number = reader.next(2), number > 0 else { return nil }
        guard let count = reader.next(2), count > 0 else { return SafeText("\(number)") }
        return SafeText("\(number)/\(count)")
    }

    /// The value in the box `data`, after its kind and its locale.
    private static func data(in content: [UInt8]) -> ArraySlice<UInt8>? {
        box("data", in: content).flatMap { $0.count >= 8 ? $0.dropFirst(8) : nil }
    }

    private static func box(_ name: String, in content: [UInt8]) -> ArraySlice<UInt8>? {
        BoxWalk.boxes(in: 0..<Int64(content.count), of: content).first { $0.name == name }
            .map { content[Int($0.content.lowerBound)..<Int($0.content.upperBound)] }
    }
}
