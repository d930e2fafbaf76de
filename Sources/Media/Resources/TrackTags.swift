/// The tags of a track: texts as its file, playlist or feed writes them, and the place of its cover.
///
/// Most tracks of long playlists have a title and an artist only. So the other tags share one word, which
/// makes a long queue smaller and quicker to copy.
@dynamicMemberLookup
package struct TrackTags: Sendable, Equatable {
    /// The tags that few tracks of long queues have; `nil` if unknown.
    package struct Rare: Sendable, Equatable {
        package var album: SafeText?
        package var year: SafeText?
        /// The track number on its album (`3` or `3/12`).
        package var number: SafeText?
        /// The artist of the whole album, if stated.
        package var albumArtist: SafeText?
        /// The number of the disc in a set (`1` or `1/2`).
        package var disc: SafeText?
        package var genre: SafeText?
        /// `1` if the album has tracks of several artists.
        package var compilation: SafeText?
        /// The offsets of the block or frame with the cover in the resource. It is never fetched to find it.
        package var cover: ByteRange?

        /// All texts, in the order of the stored form: a new one is added at the end.
        fileprivate static let texts: [any WritableKeyPath<Rare, SafeText?> & Sendable] = [
            \.album, \.year, \.number, \.albumArtist, \.disc, \.genre, \.compilation,
        ]

        fileprivate func filled(from other: Rare) -> Rare {
            var tags = self
            for text in Self.texts where tags[keyPath: text] == nil {
                tags[keyPath: text] = other[keyPath: text]
            }
            tags.cover = cover ?? other.cover
            return tags
        }
    }

    package var title: SafeText?
    package var artist: SafeText?
    /// `nil` if none of these tags is known.
    private var rare: Shared<Rare>?

    /// One of the rare tags.
    package subscript<Tag>(dynamicMember tag: WritableKeyPath<Rare, Tag?>) -> Tag? {
        get { rare.flatMap { $0.value[keyPath: tag] } }
        set {
            var tags = rare?.value ?? Rare()
            tags[keyPath: tag] = newValue
            rare = tags == Rare() ? nil : Shared(tags)
        }
    }

    /// Not by its key path, which takes ten times as long: a search reads it of each track of a long queue.
    package var album: SafeText? {
        get { rare?.value.album }
        set { self[dynamicMember: \.album] = newValue }
    }

    /// As `album`.
    package var albumArtist: SafeText? {
        get { rare?.value.albumArtist }
        set { self[dynamicMember: \.albumArtist] = newValue }
    }

    package init(
        title: SafeText? = nil,
        artist: SafeText? = nil,
        album: SafeText? = nil,
        year: SafeText? = nil,
        number: SafeText? = nil
    ) {
        self.init(title, artist, Rare(album: album, year: year, number: number))
    }

    private init(_ title: SafeText?, _ artist: SafeText?, _ rare: Rare) {
        self.title = title
        self.artist = artist
        self.rare = rare == Rare() ? nil : Shared(rare)
    }

    /// Artist and title in one line, as live streams name their songs; `nil` if both are unknown.
    package var songTitle: SafeText? {
        guard let artist, let title else { return artist ?? title }
        return artist + " - " + title
    }

    /// These tags, with missing ones taken from `other`.
    package func filled(from other: TrackTags) -> TrackTags {
        var tags = self
        tags.title = title ?? other.title
        tags.artist = artist ?? other.artist
        if let more = other.rare {
            tags.rare = rare.map { Shared($0.value.filled(from: more.value)) } ?? more
        }
        return tags
    }

    /// The bytes of all texts in UTF-8.
    package var textSize: Int {
        func size(_ text: SafeText?) -> Int { text?.string.utf8.count ?? 0 }
        // Without a list of all texts: it is asked of each track of a long playlist.
        let others = rare.map { rare in Rare.texts.reduce(0) { $0 + size(rare.value[keyPath: $1]) } }
        return size(title) + size(artist) + (others ?? 0)
    }

    // MARK: The stored form

    /// The tags as one value: the cover, title, artist and the rare texts.
    package var stored: ValueList {
        var values = ValueList()
        values.append(self.cover.map { $0.lowerBound.bigEndianBytes + $0.upperBound.bigEndianBytes })
        values.append(title?.string)
        values.append(artist?.string)
        for text in rare == nil ? [] : Rare.texts { values.append(rare?.value[keyPath: text]?.string) }
        return values
    }

    /// The tags that were stored as `values`, which may be fewer or more than those of today.
    package init(stored values: ValueList) {
        func text(_ place: Int) -> SafeText? { values.text(place).map { SafeText($0) } }
        var rare = Rare()
        if let bytes = values[0], bytes.count == 16, let start = ValueList.number(bytes.prefix(8)),
            let end = ValueList.number(bytes.suffix(8)), 0 <= start, start < end
        {
            rare.cover = start..<end
        }
        for (place, path) in Rare.texts.enumerated() { rare[keyPath: path] = text(3 + place) }
        self.init(text(1), text(2), rare)
    }
}
