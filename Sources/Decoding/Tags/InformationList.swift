import Media

/// The tags of WAV files: a chunk `LIST` of the type `INFO` (Multimedia Programming Interface 1.0, §2). Pure.
enum InformationList {
    private static let mostItems = 256

    /// The tags in the content of a chunk `LIST`, of which only the start may have been read; if a kind
    /// occurs twice, the first one counts.
    static func tags(in bytes: [UInt8]) -> TrackTags {
        var tags = TrackTags()
        guard bytes.starts(with: "INFO".utf8) else { return tags }
        var index = 4
        for _ in 0..<mostItems where index + 8 <= bytes.count {
            let start = index + 8
            let size = Int(bytes[index + 4..<start].littleEndianNumber)
            // A text whose end is missing is not shown in part.
            guard size <= bytes.count - start else { return tags }
            note(ID3Text.latin1(bytes[index..<index + 4]), bytes[start..<start + size], in: &tags)
            index = start + size + size % 2
        }
        return tags
    }

    private static func note(_ name: String, _ bytes: ArraySlice<UInt8>, in tags: inout TrackTags) {
        guard let text = ID3Text.text(bytes) else { return }
        switch name {
        case "INAM": tags.title = tags.title ?? text
        case "IART": tags.artist = tags.artist ?? text
        case "IPRD": tags.album = tags.album ?? text
        case "ICRD": tags.year = tags.year ?? text
        // Microsoft's programs write `ITRK`, ffmpeg `IPRT`.
        case "ITRK", "IPRT": tags.number = tags.number ?? text
        case "IGNR": tags.genre = tags.genre ?? text
        default: break
        }
    }
}
