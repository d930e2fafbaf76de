/// The names under which tracks are shown: the same ones in the queue, in the other views and in the tables.
package enum TrackName {
    /// `Title – Artist`; without an artist, the title.
    package static func text(_ title: SafeText, _ artist: SafeText?, dash: SafeText = "–") -> SafeText {
        guard let artist, !artist.isEmpty else { return title }
        return title + " " + dash + " " + artist
    }

    /// The same for the resource at `source`, a location without secrets; without a title, the name of its
    /// file.
    package static func text(
        _ title: SafeText?,
        _ artist: SafeText?,
        at source: SafeText,
        dash: SafeText = "–"
    ) -> SafeText {
        title.map { text($0, artist, dash: dash) } ?? file(at: source)
    }

    /// The last component of the path of `source`, unescaped, as `ResourceLocation.name`; the host if there
    /// is none.
    package static func file(at source: SafeText) -> SafeText {
        guard let scheme = source.string.firstRange(of: "://") else {
            return source.string.split(separator: "/").last.map { SafeText($0) } ?? source
        }
        let path = source.string[scheme.upperBound...].prefix { $0 != "?" }
        return path.split(separator: "/").last.map { SafeText(PercentEncoding.decoded($0)) } ?? source
    }

    /// `source` as messages name it: a path as it is, a URL unescaped, without scheme and query. A long URL
    /// is its host and the name of its file.
    package static func place(_ source: SafeText) -> SafeText {
        guard let scheme = source.string.firstRange(of: "://") else { return source }
        let place = PercentEncoding.decoded(source.string[scheme.upperBound...].prefix { $0 != "?" })
        guard place.count > 50, let host = place.split(separator: "/").first else { return SafeText(place) }
        let name = file(at: source).string
        return SafeText(host + "/…/" + (name.count > 40 ? name.prefix(39) + "…" : name))
    }
}
