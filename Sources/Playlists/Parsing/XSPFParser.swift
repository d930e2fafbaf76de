import Media

/// Parses XSPF.
///
/// Elements are recognised by their path (`playlist/trackList/track/…`) and namespace, so that equally named
/// elements of extensions are ignored.
final class XSPFParser: XMLReader {
    /// Lists without a namespace are accepted too.
    static let prefixes = ["http://xspf.org/ns/0/": ""]

    private static let track = ["playlist", "trackList", "track"]

    private(set) var entries: [PlaylistEntry] = []
    private var fields: [TrackField: String] = [:]

    func elementBegan(_ path: [String], _ attributes: XMLAttributes) throws(XMLFault) -> Bool {
        if path.count == 1, path[0] != "playlist" {
            throw XMLFault(reason: "its root element is not a playlist")
        }
        guard path.starts(with: Self.track) else { return false }
        if path.count == 3 { fields.removeAll(keepingCapacity: true) }
        return path.count == 4 && TrackField(rawValue: path[3]) != nil
    }

    func elementEnded(_ path: [String], text: String) {
        guard path.starts(with: Self.track) else { return }
        if path.count == 4, let field = TrackField(rawValue: path[3]) {
            // Several locations are alternatives, best first (XSPF 1 §4.1.1.2.14.1.1.1).
            if fields[field] == nil, !text.isEmpty { fields[field] = text }
        } else if path.count == 3, let entry = PlaylistEntry({ fields[$0] }) {
            entries.append(entry)
        }
    }
}

/// A field of a track in XSPF and in its JSON form.
enum TrackField: String, CodingKey {
    case location, title, creator, album, trackNum, duration
}

extension PlaylistEntry {
    /// The track with the texts that `field` returns; `nil` without a location.
    init?(_ field: (TrackField) -> String?) {
        guard let location = field(.location) else { return nil }
        func text(_ key: TrackField) -> SafeText? { field(key).map { SafeText($0) } }
        let milliseconds = field(.duration).flatMap { Int64($0) } ?? 0
        self.init(
            reference: location,
            isURI: true,
            tags: TrackTags(
                title: text(.title),
                artist: text(.creator),
                album: text(.album),
                number: text(.trackNum)
            ),
            duration: (1..<1_000_000_000_000).contains(milliseconds) ? .milliseconds(milliseconds) : nil
        )
    }
}
