import Media

/// Parses podcast feeds: RSS 2.0, RSS 1.0 (RDF) and Atom (RFC 4287), with the tags of iTunes and Media RSS.
///
/// An item is an episode if it has an enclosure that may be audio, or else `media:content` that is audio, or
/// a link that is named as music. Returns the episodes from the newest to the oldest; those without a date
/// come last, in the order of the document.
final class FeedParser: XMLReader {
    static let prefixes = [
        "http://www.w3.org/2005/atom": "",
        // Atom 0.3.
        "http://purl.org/atom/ns#": "",
        "http://www.itunes.com/dtds/podcast-1.0.dtd": "itunes:",
        "http://purl.org/dc/elements/1.1/": "dc:",
        "http://search.yahoo.com/mrss/": "media:",
        "http://search.yahoo.com/mrss": "media:",
        "http://www.w3.org/1999/02/22-rdf-syntax-ns#": "rdf:",
        "http://purl.org/rss/1.0/": "",
        "http://purl.org/rss/1.0/modules/enclosure/": "",
        "http://purl.oclc.org/net/rss_2.0/enc#": "",
        // Feeds that give RSS 2.0 a namespace, although it has none.
        "http://backend.userland.com/rss2": "",
        "http://blogs.law.harvard.edu/tech/rss": "",
    ]

    /// The paths of the items, and of the feed's title, by the root element.
    private static let dialects = [
        "rss": (item: ["rss", "channel", "item"], title: ["rss", "channel", "title"]),
        "rdf:RDF": (item: ["rdf:RDF", "item"], title: ["rdf:RDF", "channel", "title"]),
        "feed": (item: ["feed", "entry"], title: ["feed", "title"]),
    ]

    private struct Item {
        var fields: [String: String] = [:]
        var enclosure: (url: String, rank: Int)?
        /// The length that the enclosure states.
        var duration: String?
        /// The `rdf:about` of RSS 1.0, which identifies the item.
        var about: String?
    }

    /// The elements of an item whose texts are used.
    private static let fields: Set = [
        "title", "guid", "pubDate", "dc:date", "itunes:title", "itunes:duration", "id", "published",
        "updated", "issued", "modified", "link", "media:title",
    ]

    private var dialect = (item: [String](), title: [String]())
    private var feedTitle: SafeText?
    private var item = Item()
    private(set) var entries: [PlaylistEntry] = []

    // MARK: Elements

    func elementBegan(_ path: [String], _ attributes: XMLAttributes) throws(XMLFault) -> Bool {
        if path.count == 1 {
            guard let dialect = Self.dialects[path[0]] else {
                throw XMLFault(reason: "its root element is not a feed")
            }
            self.dialect = dialect
        }
        if path == dialect.item {
            item = Item()
            item.about = attributes["about"]
        }
        guard isInItem(path) else { return path == dialect.title }
        receiveEnclosure(path[path.count - 1], attributes)
        return path.count == dialect.item.count + 1 && Self.fields.contains(path[path.count - 1])
    }

    func elementEnded(_ path: [String], text: String) {
        if path == dialect.title, feedTitle == nil, !text.isEmpty { feedTitle = SafeText(text) }
        if isInItem(path), path.count == dialect.item.count + 1, !text.isEmpty,
            item.fields[path[path.count - 1]] == nil
        {
            item.fields[path[path.count - 1]] = text
        }
        if path == dialect.item { itemEnded() }
    }

    /// `true` if `path` is an element directly in an item, or in its group of media.
    private func isInItem(_ path: [String]) -> Bool {
        let depth = path.count - dialect.item.count
        return path.starts(with: dialect.item)
            && (depth == 1 || (depth == 2 && path[path.count - 2] == "media:group"))
    }

    /// Takes the first enclosure whose type is audio, or else the first whose type does not exclude it, or
    /// else the first `media:content` that is audio.
    private func receiveEnclosure(_ name: String, _ attributes: XMLAttributes) {
        let isLink = name == "link" && attributes["rel"] == "enclosure"
        guard isLink || name == "enclosure" || name == "media:content",
            let url = attributes["url"] ?? attributes["href"] ?? attributes["resource"], !url.isEmpty
        else { return }
        let type = (attributes["type"] ?? "").lowercased()
        let isAudio = type.hasPrefix("audio/")
        let isOther = ["video/", "image/", "text/", "application/pdf"].contains { type.hasPrefix($0) }
        let rank: Int
        if name == "media:content" {
            let medium = attributes["medium"]
            guard isAudio || medium == "audio" || (medium == nil && !isOther && Self.isMusic(url)) else {
                return
            }
            rank = 1
        } else {
            guard !isOther else { return }
            rank = isAudio ? 3 : 2
        }
        guard rank > item.enclosure?.rank ?? 0 else { return }
        item.enclosure = (url, rank)
        item.duration = attributes["duration"]
    }

    private static func isMusic(_ url: String) -> Bool {
        ResourceKind.of(name: String(url.prefix { $0 != "?" && $0 != "#" })) == .music
    }

    // MARK: Episodes

    private func itemEnded() {
        let link = item.fields["link"].flatMap { Self.isMusic($0) ? $0 : nil }
        guard let url = item.enclosure?.url ?? link else { return }
        let field = { (names: String...) in names.lazy.compactMap { self.item.fields[$0] }.first }
        let date = field("pubDate", "published", "dc:date", "issued", "updated", "modified")
        var entry = PlaylistEntry(reference: url, isURI: true)
        entry.tags.title = field("title", "itunes:title", "media:title").map { SafeText($0) }
        entry.duration = (field("itunes:duration") ?? item.duration).flatMap { Duration(feedText: $0) }
        entry.episode = PlaylistEntry.EpisodeFacts(
            guid: field("guid", "id") ?? item.about ?? url,
            date: date.flatMap { InternetDate(parsing: $0) }
        )
        entries.append(entry)
    }

    var result: [PlaylistEntry] {
        var counts: [String: Int] = [:]
        for entry in entries { counts[entry.episode?.guid ?? "", default: 0] += 1 }
        let dates = entries.map { $0.episode?.date?.seconds ?? .min }
        let newestFirst = dates.indices.sorted { dates[$0] == dates[$1] ? $0 < $1 : dates[$0] > dates[$1] }
        return newestFirst.map { index in
            var entry = entries[index]
            entry.tags.artist = feedTitle
            // A guid that several items have identifies none of them.
            if let guid = entry.episode?.guid, counts[guid, default: 0] > 1 {
                entry.episode?.guid = entry.reference
            }
            return entry
        }
    }
}

extension Duration {
    /// Parses the length that a feed states: a clock time (`3723`, `62:03`, `1:02:03`), numbers with units
    /// (`1h 2m 3s`, `62 min`, `1 hour, 2 minutes`), or a duration of ISO 8601 (`PT1H2M3S`). `nil` for zero
    /// and for anything else.
    init?(feedText text: String) {
        let clock = text.drop { $0 == " " }.prefix { "0123456789:.".contains($0) }
        let parts = clock.split(separator: ":", omittingEmptySubsequences: false).map {
            Double($0) ?? .infinity
        }
        var seconds = parts.count > 1 && parts.count < 4 ? parts.reduce(0) { $0 * 60 + $1 } : 0
        if parts.count == 1 {
            var rest = text.lowercased()[...]
            guard rest.first != "-" else { return nil }
            while let start = rest.firstIndex(where: { "0123456789".contains($0) }) {
                let number = rest[start...].prefix { "0123456789.".contains($0) }
                rest = rest[number.endIndex...].drop { $0 == " " }
                let unit: Double? =
                    switch rest.first {
                    case "h": 3_600
                    case "m", "'", "′", "’": 60
                    case "s", "\"", "″", "”": 1
                    default: rest.isEmpty && seconds == 0 ? 1 : nil
                    }
                guard let unit, let value = Double(number) else { return nil }
                seconds += value * unit
                rest = rest.drop { $0.isLetter }
            }
        }
        guard seconds > 0, seconds < 1e7 else { return nil }
        self = .seconds(seconds)
    }
}

/// Parses OPML 2.0, in which podcast programs export their subscriptions: each outline with an `xmlUrl` is a
/// feed.
final class OPMLParser: XMLReader {
    static let prefixes: [String: String] = [:]

    private(set) var entries: [PlaylistEntry] = []

    func elementBegan(_ path: [String], _ attributes: XMLAttributes) throws(XMLFault) -> Bool {
        if path.count == 1, path[0] != "opml" { throw XMLFault(reason: "its root element is not opml") }
        guard path.last == "outline", let url = attributes["xmlurl"], !url.isEmpty else { return false }
        var entry = PlaylistEntry(reference: url, isURI: true)
        entry.isList = true
        entries.append(entry)
        return false
    }
}
