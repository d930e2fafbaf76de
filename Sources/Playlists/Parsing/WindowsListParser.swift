import Media

/// Parses the lists of Windows Media Player, ASX and WPL (and ZPL), and SMIL, on which WPL is based.
final class WindowsListParser: XMLReader {
    static let prefixes: [String: String] = [:]

    private(set) var entries: [PlaylistEntry] = []
    /// The `entry` of ASX that is being read.
    private var entry: PlaylistEntry?

    func elementBegan(_ path: [String], _ attributes: XMLAttributes) throws(XMLFault) -> Bool {
        let name = path[path.count - 1].lowercased()
        if path.count == 1, name != "asx", name != "smil" {
            throw XMLFault(reason: "its root element is not asx or smil")
        }
        let url = (attributes["href"] ?? attributes["src"]).flatMap { $0.isEmpty ? nil : $0 }
        switch name {
        case "entry": entry = PlaylistEntry(reference: "")
        case "ref", "media", "audio":
            guard let url else { break }
            if entry == nil {
                let tags = TrackTags(
                    title: attributes["tracktitle"].map { SafeText($0) },
                    artist: attributes["trackartist"].map { SafeText($0) }
                )
                entries.append(PlaylistEntry(reference: url, tags: tags))
            } else if entry?.reference.isEmpty == true {
                // The further ones of an entry are alternatives.
                entry?.reference = url
            }
        case "entryref": if let url { entries.append(PlaylistEntry(reference: url, isList: true)) }
        case "title", "author": return entry != nil
        default: break
        }
        return false
    }

    func elementEnded(_ path: [String], text: String) {
        switch path[path.count - 1].lowercased() {
        case "title" where !text.isEmpty: entry?.tags.title = SafeText(text)
        case "author" where !text.isEmpty: entry?.tags.artist = SafeText(text)
        case "entry":
            if let entry, !entry.reference.isEmpty { entries.append(entry) }
            entry = nil
        default: break
        }
    }
}
