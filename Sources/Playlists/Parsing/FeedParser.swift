import Media

/// Parses podcast feeds: RSS 2.0 and Atom (RFC 4287), with the tags of iTunes.
///
/// An item is an episode if it has an enclosure that may be audio. Returns the episodes from the newest to the
/// oldest; those without a date come last, in the order of the document.
final class FeedParser: XMLReader {
    static let prefixes = [
        "http://www.w3.org/2005/atom": "atom:",
        "http://www.itunes.com/dtds/podcast-1.0.dtd": "itunes:",
        "http://purl.org/dc/elements/1.1/": "dc:",
        // Feeds that give RSS 2.0 a namespace, although it has none.
        "http://backend.userland.com/rss2": "",
        "http://blogs.law.harvard.edu/tech/rss": "",
    ]

    /// The element of the feed itself, and that of an item.
    private enum Dialect: Equatable {
        case rss
        case atom

        var feed: [String] { self == .rss ? ["rss", "channel"] : ["atom:feed"] }
        var item: String { self == .rss ? "item" : "atom:entry" }
    }

    private struct Item {
        var fields: [String: String] = [:]
        /// The URL of the enclosure, and `true` if its type is one of audio.
        var enclosure: (url: String, isAudio: Bool)?
    }

    /// The elements of an item whose texts are used.
    private static let fields: Set = [
        "title", "guid", "pubDate", "dc:date", "itunes:title", "itunes:duration", "atom:title", "atom:id",
        "atom:published", "atom:updated",
    ]

    private var dialect = Dialect.rss
    private var feedTitle: SafeText?
    private var item = Item()
    private(set) var entries: [PlaylistEntry] = []

    // MARK: Elements

    func elementBegan(_ path: [String], _ attributes: XMLAttributes) throws(XMLFault) -> Bool {
        if path.count == 1 {
            guard path[0] == "rss" || path[0] == "atom:feed" else {
                throw XMLFault(reason: "its root element is not a feed")
            }
            dialect = path[0] == "rss" ? .rss : .atom
        }
        if isItem(path) { item = Item() }
        guard isInItem(path) else { return isFeedTitle(path) }
        takeEnclosure(path[path.count - 1], attributes)
        return Self.fields.contains(path[path.count - 1])
    }

    func elementEnded(_ path: [String], text: String) {
        if isFeedTitle(path), feedTitle == nil, !text.isEmpty { feedTitle = SafeText(text) }
        if isInItem(path), !text.isEmpty, item.fields[path[path.count - 1]] == nil {
            item.fields[path[path.count - 1]] = text
        }
        if isItem(path) { itemEnded() }
    }

    private func isItem(_ path: [String]) -> Bool {
        path.count == dialect.feed.count + 1 && path.starts(with: dialect.feed) && path.last == dialect.item
    }

    /// `true` if `path` is an element directly in an item.
    private func isInItem(_ path: [String]) -> Bool {
        path.count == dialect.feed.count + 2 && path.starts(with: dialect.feed)
            && path[path.count - 2] == dialect.item
    }

    private func isFeedTitle(_ path: [String]) -> Bool {
        path.count == dialect.feed.count + 1 && path.starts(with: dialect.feed)
            && path.last == (dialect == .rss ? "title" : "atom:title")
    }

    /// Takes the first enclosure whose type is audio, or else the first whose type does not exclude it.
    private func takeEnclosure(_ name: String, _ attributes: XMLAttributes) {
        let isLink = name == "atom:link" && attributes["rel"] == "enclosure"
        guard isLink || name == "enclosure", let url = attributes[isLink ? "href" : "url"] else { return }
        let type = (attributes["type"] ?? "").lowercased()
        let isAudio = type.hasPrefix("audio/")
        let isOther = ["video/", "image/", "text/", "application/pdf"].contains { type.hasPrefix($0) }
        guard !isOther, item.enclosure == nil || (isAudio && item.enclosure?.isAudio == false) else { return }
        item.enclosure = (url, isAudio)
    }

    // MARK: Episodes

    private func itemEnded() {
        guard let enclosure = item.enclosure else { return }
        let field = { (names: String...) in names.lazy.compactMap { self.item.fields[$0] }.first }
        let date = field("pubDate", "atom:published", "dc:date", "atom:updated")
        let duration = field("itunes:duration").flatMap { Duration(clockTime: $0) }
        var entry = PlaylistEntry(reference: enclosure.url, isURI: true)
        entry.tags.title = field("title", "atom:title", "itunes:title").map { SafeText($0) }
        entry.duration = duration.flatMap { $0 > .zero ? $0 : nil }
        entry.episode = PlaylistEntry.EpisodeFacts(
            guid: field("guid", "atom:id") ?? enclosure.url,
            date: date.flatMap { FeedDate(parsing: $0) }
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

/// Parses OPML 2.0, in which podcast programs export their subscriptions: each outline with an `xmlUrl` is a feed.
final class OPMLParser: XMLReader {
    static let prefixes: [String: String] = [:]

    private(set) var entries: [PlaylistEntry] = []

    func elementBegan(_ path: [String], _ attributes: XMLAttributes) throws(XMLFault) -> Bool {
        if path.count == 1, path[0] != "opml" { throw XMLFault(reason: "its root element is not opml") }
        guard path.last == "outline", let url = attributes["xmlUrl"] ?? attributes["xmlurl"], !url.isEmpty
        else { return false }
        var entry = PlaylistEntry(reference: url, isURI: true)
        entry.isList = true
        entries.append(entry)
        return false
    }
}
