package import Media

/// The comments of FLAC, Vorbis and Opus (Vorbis I §5.2.1, RFC 7845 §5.2): a list of `NAME=value`. Pure.
///
/// Only the first bytes of the list may have been read. Parsing ends at a comment that they do not contain as
/// a whole.
package struct VorbisComments: Sendable, Equatable {
    /// The most values of one name that are joined.
    private static let mostValues = 16
    /// In decibels: `R128_…` gains aim at -23 LUFS, ReplayGain at -18 LUFS.
    private static let r128Offset = 5.0

    package private(set) var tags = TrackTags()
    /// The ReplayGain of the comments: `REPLAYGAIN_…` takes precedence over `R128_…`.
    package var loudness: Loudness { written.filled(from: r128) }
    private var written = Loudness()
    private var r128 = Loudness()
    private var artists: [String] = []
    private var genres: [String] = []

    package init(_ bytes: [UInt8]) { self.init(bytes[...]) }

    /// Parses a list that begins with the name of the program that wrote it.
    package init(_ bytes: ArraySlice<UInt8>) {
        var rest = bytes
        guard let vendor = Self.takeNumber(&rest), vendor <= rest.count else { return }
        rest = rest.dropFirst(vendor)
        guard let count = Self.takeNumber(&rest) else { return }
        for _ in 0..<min(count, ID3Text.most) {
            guard let length = Self.takeNumber(&rest), length <= rest.count else { break }
            // Longer ones are pictures.
            if length <= ID3Text.longest { note(rest.prefix(length)) }
            rest = rest.dropFirst(length)
        }
        tags.artist = Self.joined(artists)
        tags.genre = Self.joined(genres)
    }

    /// Stores the value of a comment with a known name. Artists and genres are joined; of other names the
    /// first counts.
    private mutating func note(_ comment: ArraySlice<UInt8>) {
        guard let sign = comment.firstIndex(of: UInt8(ascii: "=")) else { return }
        let name = ID3Text.latin1(comment[..<sign]).lowercased()
        let value = ID3Text.trimmed(LegacyText.string(comment[(sign + 1)...].prefix { $0 != 0 }))
        guard !value.isEmpty else { return }
        switch name {
        case "title": tags.title = tags.title ?? SafeText(value)
        case "artist": artists.append(value)
        case "album": tags.album = tags.album ?? SafeText(value)
        case "albumartist", "album artist": tags.albumArtist = tags.albumArtist ?? SafeText(value)
        case "date", "year": tags.year = tags.year ?? SafeText(value)
        case "tracknumber": tags.number = tags.number ?? SafeText(value)
        case "discnumber": tags.disc = tags.disc ?? SafeText(value)
        case "genre": genres.append(value)
        case "compilation": tags.compilation = tags.compilation ?? SafeText(value)
        case "r128_track_gain": r128.track = r128.track.filled(from: Self.level(ofR128: value))
        case "r128_album_gain": r128.album = r128.album.filled(from: Self.level(ofR128: value))
        default: written = written.filled(from: ReplayGain.loudness(ofKey: name, value))
        }
    }

    private static func joined(_ values: [String]) -> SafeText? {
        values.isEmpty ? nil : SafeText(values.prefix(mostValues).joined(separator: ", "))
    }

    /// The gain in `value`, a whole number of 1/256 dB (RFC 7845 §5.2.1).
    private static func level(ofR128 value: String) -> Loudness.Level {
        Loudness.Level(gain: Int16(value).map { Double($0) / 256 + r128Offset })
    }

    /// The next little-endian number of four bytes.
    private static func takeNumber(_ bytes: inout ArraySlice<UInt8>) -> Int? {
        guard bytes.count >= 4 else { return nil }
        defer { bytes = bytes.dropFirst(4) }
        return Int(bytes.prefix(4).littleEndianNumber)
    }
}
