import Media

/// Parses XSPF.
///
/// Elements are recognised by their path (`playlist/trackList/track/…`) and namespace, so that equally named
/// elements of extensions are ignored.
final class XSPFParser: XMLReader {
    /// Lists without a namespace are accepted too.
    static let prefixes = ["http://xspf.org/ns/0/": ""]

    private enum Field: String {
        case location
        case title
        case creator
        case album
        case trackNum
        case duration
    }

    private(set) var entries: [PlaylistEntry] = []
    private var fields: [Field: String] = [:]

    func elementBegan(_ path: [String], _ attributes: XMLAttributes) throws(XMLFault) -> Bool {
        if path.count == 1, path[0] != "playlist" {
            throw XMLFault(reason: "its root element is not a playlist")
        }
        guard Self.isInTrack(path) else { return false }
        if path.count == 3 { fields.removeAll(keepingCapacity: true) }
        return path.count == 4 && Field(rawValue: path[3]) != nil
    }

    func elementEnded(_ path: [String], text: String) {
        guard Self.isInTrack(path) else { return }
        if path.count == 4, let field = Field(rawValue: path[3]) {
            // Several locations are alternatives, best first (XSPF 1 §4.1.1.2.14.1.1.1).
            if fields[field] == nil, !text.isEmpty { fields[field] = text }
        } else if path.count == 3 {
            trackEnded()
        }
    }

    private func trackEnded() {
        guard let location = fields[.location] else { return }
        let milliseconds = fields[.duration].flatMap { Int64($0) } ?? 0
        entries.append(
            PlaylistEntry(
                reference: location,
                isURI: true,
                tags: TrackTags(
                    title: fields[.title].map { SafeText($0) },
                    artist: fields[.creator].map { SafeText($0) },
                    album: fields[.album].map { SafeText($0) },
                    number: fields[.trackNum].map { SafeText($0) }
                ),
                duration: (1..<1_000_000_000_000).contains(milliseconds) ? .milliseconds(milliseconds) : nil
            )
        )
    }

    private static func isInTrack(_ path: [String]) -> Bool {
        path.count >= 3 && path[0] == "playlist" && path[1] == "trackList" && path[2] == "track"
    }
}
