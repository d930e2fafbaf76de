/// The codec of a sound, as the attribute CODECS names it (RFC 6381).
package enum StreamCodec: Sendable, Hashable {
    /// AAC: Main, LC, HE-AAC and HE-AAC v2.
    case aac
    /// MPEG layer I, II or III.
    case mpeg
    case alac
    case flac
    case opus
    case other(String)

    /// MPEG-4 audio object types of AAC; ISO/IEC 14496-3 table 1.17.
    private static let aacTypes: Set<Int> = [1, 2, 5, 29]
    /// The same for the layers of MPEG audio.
    private static let layerTypes: Set<Int> = [32, 33, 34]

    /// `nil` if `name` is no sound: pictures, subtitles and unknown names.
    package init?(_ name: String) {
        let name = name.lowercased()
        switch name.prefix(while: { $0 != "." }) {
        case "mp4a": self = Self.objectType(of: name)
        case "mp3": self = .mpeg
        case "alac": self = .alac
        case "flac": self = .flac
        case "opus": self = .opus
        case "ac-3", "ec-3", "ac-4", "dtsc", "dtse", "dtsh", "dtsl", "dtsx", "mha1", "mhm1", "iamf", "vorbis",
            "samr", "sawb":
            self = .other(name)
        default: return nil
        }
    }

    /// The codec of `mp4a.OTI.TYPE`: OTI is in hexadecimal, TYPE in decimal digits.
    private static func objectType(of name: String) -> StreamCodec {
        let parts = name.split(separator: ".")
        switch parts.count > 1 ? parts[1] : "40" {
        case "40":
            guard parts.count > 2 else { return .aac }
            let type = Int(parts[2]) ?? 0
            return aacTypes.contains(type) ? .aac : layerTypes.contains(type) ? .mpeg : .other(name)
        // MPEG-2 AAC: Main, LC and SSR.
        case "66", "67", "68": return .aac
        // Of MPEG-2 and MPEG-1.
        case "69", "6b": return .mpeg
        default: return .other(name)
        }
    }

    /// The name in messages.
    var name: String {
        switch self {
        case .aac: "AAC"
        case .mpeg: "MP3"
        case .alac: "ALAC"
        case .flac: "FLAC"
        case .opus: "Opus"
        case .other(let name): name
        }
    }
}
