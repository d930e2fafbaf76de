import FoundationEssentials
import Media
import System

/// Parses the lists that are written in JSON. Pure.
///
/// Strict: JSON that is cut, or nested deeply, is no list.
enum JSONLists {
    /// The names in nginx's listing of a folder (`autoindex_format json`), an array of objects with `name`
    /// and `type`, as relative URL references, those of folders with a final `/`; `nil` if `text` is no
    /// listing.
    static func names(in text: ByteText) -> [String]? {
        guard let items = decoded([ListedName].self, text), items.allSatisfy({ !$0.name.utf8.contains(0x2F) })
        else { return nil }
        return items.map { item in
            let name = PercentEncoding.escaped(Array(item.name.utf8))
            return "./" + name + (item.type == .directory ? "/" : "")
        }
    }

    private struct ListedName: Decodable {
        enum Kind: String, Decodable {
            case directory
            case file
            case other
        }

        var name: String
        var type: Kind
    }

    /// The first `limit` + 1 tracks of `text`; `nil` if it is not a playlist in JSPF, the JSON form of XSPF.
    static func tracks(in text: ByteText, limit: Int) -> [PlaylistEntry]? {
        decoded(JSPF.self, text)?.playlist.track.lazy.compactMap(\.entry).prefix(limit + 1).map { $0 }
    }

    private struct JSPF: Decodable {
        struct List: Decodable {
            var track: [ListedTrack]
        }

        var playlist: List
    }

    /// A track with fields of any type: one that is wrong is ignored.
    private struct ListedTrack: Decodable {
        var entry: PlaylistEntry?

        init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: TrackField.self)
            entry = PlaylistEntry { field in
                let text = try? fields.decode(String.self, forKey: field)
                return switch field {
                // Several locations are alternatives, best first.
                case .location: (try? fields.decode([String].self, forKey: field))?.first ?? text
                case .trackNum, .duration:
                    (try? fields.decode(Int64.self, forKey: field)).map { String($0) } ?? text
                case .title, .creator, .album: text
                }
            }
        }
    }

    private static func decoded<Value: Decodable>(_ type: Value.Type, _ text: ByteText) -> Value? {
        // Text that is not UTF-8 is CP1252, as in other lists.
        let data = String(utf8: text) == nil ? Data(LegacyText.string(text).utf8) : Data(text)
        return try? JSONDecoder().decode(type, from: data)
    }
}
