package import Media
import System

/// A variant stream: a media playlist that has all of the presentation in one quality (RFC 8216 §4.3.4.2).
package struct VariantStream: Sendable, Equatable {
    package var location: ResourceLocation
    /// Bits per second at the peak.
    package var bandwidth: Int64
    package var averageBandwidth: Int64?
    /// The names of CODECS; empty if the list states none.
    package var codecs: [String]
    package var resolution: String?
    /// The GROUP-ID of its audio renditions.
    package var audioGroup: String?
}

/// An alternative sound of variants (EXT-X-MEDIA of type AUDIO, §4.3.4.1).
package struct AudioRendition: Sendable, Equatable {
    package var groupID: String
    package var name: String
    package var language: String
    package var isDefault: Bool
    /// `nil` if its sound is in the variants themselves.
    package var location: ResourceLocation?
}

/// A master playlist (RFC 8216 §4.3.4): the same music in several forms.
///
/// A variant may turn out to be a master playlist again; the caller bounds how often.
package struct MasterPlaylist: Sendable, Equatable {
    /// The bytes of the longest accepted list.
    package static let mostBytes = 1 << 20
    /// The most variants and the most renditions; more are ignored.
    static let mostEntries = 200

    package let location: ResourceLocation
    package internal(set) var variants: [VariantStream] = []
    package internal(set) var renditions: [AudioRendition] = []
    /// EXT-X-START (§4.3.5.2), which holds for all media playlists.
    package internal(set) var startOffset: Duration?

    /// Parses `bytes`, the list at `location` (after redirects).
    package init(_ bytes: [UInt8], location: ResourceLocation) throws(MediaError) {
        guard bytes.count <= Self.mostBytes else {
            throw MediaError(.listTooLarge, location.safeText, "the HLS master playlist exceeds 1 MiB")
        }
        var builder = MasterPlaylistBuilder(MasterPlaylist(at: location))
        try builder.readAll(bytes)
        self = builder.playlist
    }

    private init(at location: ResourceLocation) { self.location = location }
}

private struct MasterPlaylistBuilder: LineReader {
    private(set) var playlist: MasterPlaylist
    /// The attributes of the variant whose URI follows.
    private var coming: AttributeList?

    init(_ playlist: MasterPlaylist) { self.playlist = playlist }

    mutating func read(_ line: ListLine) throws(MediaError) {
        if let value = line.value(of: "#EXT-X-STREAM-INF") {
            coming = AttributeList(value)
        } else if let value = line.value(of: "#EXT-X-MEDIA") {
            try addRendition(AttributeList(value))
        } else if let value = line.value(of: "#EXT-X-START") {
            playlist.startOffset = AttributeList(value)["TIME-OFFSET"]
                .flatMap { ListNumbers.signedMicroseconds($0.utf8) }.map { .microseconds($0) }
        } else if line.text[0] != UInt8(ascii: "#"), let attributes = coming.take() {
            try addVariant(attributes, FileName.text(line.text))
        }
    }

    private mutating func addVariant(
        _ attributes: AttributeList,
        _ reference: String
    ) throws(MediaError) {
        guard playlist.variants.count < MasterPlaylist.mostEntries else { return }
        let codecs = attributes["CODECS"]?.split(separator: ",") ?? []
        playlist.variants.append(
            VariantStream(
                location: try ListReference.location(of: reference, in: playlist.location),
                bandwidth: attributes["BANDWIDTH"].map { ListNumbers.sequence($0.utf8) } ?? 0,
                averageBandwidth: attributes["AVERAGE-BANDWIDTH"].map { ListNumbers.sequence($0.utf8) },
                codecs: codecs.map { String($0).filter { $0 != " " } },
                resolution: attributes["RESOLUTION"],
                audioGroup: attributes["AUDIO"]
            )
        )
    }

    private mutating func addRendition(_ attributes: AttributeList) throws(MediaError) {
        guard attributes["TYPE"] == "AUDIO", let groupID = attributes["GROUP-ID"],
            playlist.renditions.count < MasterPlaylist.mostEntries
        else { return }
        var location: ResourceLocation?
        if let reference = attributes["URI"] {
            location = try ListReference.location(of: reference, in: playlist.location)
        }
        playlist.renditions.append(
            AudioRendition(
                groupID: groupID,
                name: attributes["NAME"] ?? "",
                language: attributes["LANGUAGE"] ?? "",
                isDefault: attributes["DEFAULT"] == "YES",
                location: location
            )
        )
    }
}
