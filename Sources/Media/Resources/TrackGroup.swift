/// Neighbours in the queue are one group if they share this: the album, or else the folder, list or feed.
/// Pure.
///
/// Hashes, since a long queue has one for each track, and only neighbours are compared.
package struct TrackGroup: Sendable, Equatable {
    /// The folder, the list or the feed.
    private var place: UInt32
    /// The name of the album; 0 if unknown.
    private var album: UInt32
    /// The artist of the whole album; 0 if unknown. Short, since it only tells neighbours of one name apart.
    private var artist: UInt16

    /// The group of `track`, whose file has the facts `facts`, if they are known.
    package init(of track: Track, facts: TrackFacts?) {
        var hasher = Hasher()
        if let source = track.episode?.feed ?? track.list {
            hasher.combine(source)
        } else {
            track.location.hashFolder(into: &hasher)
        }
        place = UInt32(truncatingIfNeeded: hasher.finalize())
        let tags = facts?.tags ?? track.tags
        let name = track.episode == nil ? tags.album : nil
        album = Self.hash(name).map { max(1, UInt32(truncatingIfNeeded: $0)) } ?? 0
        let albumArtist = album == 0 ? nil : tags.albumArtist
        artist = Self.hash(albumArtist).map { max(1, UInt16(truncatingIfNeeded: $0)) } ?? 0
    }

    private static func hash(_ text: SafeText?) -> Int? {
        text.flatMap { $0.isEmpty ? nil : $0.string.hashValue }
    }

    /// `true` if an album is known.
    package var hasAlbum: Bool { album != 0 }

    /// Takes the next track of the queue into the group, if it belongs to it. It does if it has the same
    /// album and album artist. If one of the two does not name the one or the other, the folder, list or
    /// feed decides.
    package mutating func accept(_ next: TrackGroup) -> Bool {
        if hasAlbum, next.hasAlbum, album != next.album { return false }
        let areArtistsKnown = artist != 0 && next.artist != 0
        guard areArtistsKnown ? artist == next.artist : place == next.place else { return false }
        place = next.place
        album = max(album, next.album)
        artist = max(artist, next.artist)
        return true
    }
}

extension Track {
    /// The name of its folder, or of the list that names it from elsewhere, without its ending; the host if
    /// the URL of that list names no file.
    package var groupName: SafeText {
        guard let list else { return location.folderName }
        let url = WebURL(list)
        let name = (url.map { .web($0) } ?? ResourceLocation.file(list)).name
        let isFile = url == nil || url?.fileName != nil
        guard isFile, let dot = name.string.lastIndex(of: "."), dot > name.string.startIndex else {
            return name
        }
        return SafeText(name.string[..<dot])
    }
}

extension ResourceLocation {
    fileprivate func hashFolder(into hasher: inout Hasher) {
        switch self {
        case .file(let path):
            hasher.combine(folder(of: path))
        case .web(let url):
            hasher.combine(url.host)
            hasher.combine(url.port)
            hasher.combine(folder(of: url.path))
        }
    }

    private func folder(of path: String) -> Substring {
        path.utf8.lastIndex(of: UInt8(ascii: "/")).map { path[..<$0] } ?? ""
    }

    /// The name of the folder, unescaped: for headings, searches and filters. The host if a web resource is
    /// in no folder.
    package var folderName: SafeText {
        let name = withFolderBytes { String(decoding: $0, as: UTF8.self) }
        switch self {
        case .file: return SafeText(name.isEmpty ? "/" : name)
        case .web(let url): return SafeText(name.isEmpty ? url.host : PercentEncoding.decoded(name))
        }
    }

    /// Calls `body` with the bytes of the folder's name, still escaped; with none if there is no folder. They
    /// are not copied, since a search reads those of each track.
    package func withFolderBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        var path = path
        return path.withUTF8 { bytes in
            let slash = UInt8(ascii: "/")
            var end = bytes.lastIndex(of: slash) ?? 0
            while end > 0, bytes[end - 1] == slash { end -= 1 }
            let start = bytes[..<end].lastIndex(of: slash).map { $0 + 1 } ?? 0
            return body(UnsafeBufferPointer(rebasing: bytes[start..<end]))
        }
    }

    /// The name of the file as a title: without the ending of music and without a number of the track or of
    /// disc and track before it (`1-03 River.flac` is `River`). A name that would be empty stays as it is.
    package var shortName: SafeText {
        let name = name.string
        var title = name[...]
        if AudioKind.byName(name) != nil, let dot = title.lastIndex(of: ".") { title = title[..<dot] }
        let isNumber = { (character: Character) in character.isASCII && character.isNumber }
        let isSeparator = { (character: Character) in " ._-".contains(character) }
        let number = title.prefix { isNumber($0) || $0 == "-" }
        let digits = number.split(separator: "-")
        let rest = title[number.endIndex...]
        if (1...2).contains(digits.count), digits.allSatisfy({ $0.count <= 3 }),
            isNumber(number.first ?? "-"),
            number.last == "-" || rest.first.map(isSeparator) == true
        {
            let words = rest.drop { isSeparator($0) }
            if !words.isEmpty { title = words }
        }
        return title.isEmpty ? self.name : SafeText(title)
    }
}
