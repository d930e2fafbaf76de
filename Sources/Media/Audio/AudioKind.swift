/// An audio format, or a container of audio. The table of all of them: names, magic numbers, file name
/// extensions, and which are played. `DecoderTable` has the decoders of those.
///
/// File names are hints, because people often choose wrong ones: magic numbers take precedence. MPEG audio
/// and ADTS have none that is reliable; their frame headers are checked by the probe.
package enum AudioKind: Sendable, Hashable, CaseIterable {
    case mpeg, flac, ogg, wave, aiff, mp4, adts, wavpack, monkeysAudio, asf, matroska
    case musepack, trueAudio, dsd, caf, au, amr, midi, avi, mpegVideo

    /// The kinds that Reprise plays, in the order of messages.
    package static let played = playedRows.map(\.kind)

    /// The extensions of files that are played, in lower case.
    package static let playedExtensions = playedRows.flatMap(\.extensions)

    /// A message that names `what`, which is not played, and the kinds that are.
    package static func refusal(of what: SafeText) -> SafeText {
        let names = played.map(\.name)
        let list = names.dropLast().joined(separator: ", ") + " and " + (names.last ?? "")
        return what + " – Reprise plays " + SafeText(list) + " only"
    }

    /// The number of leading bytes that any magic number needs.
    package static let headByteCount = 16

    /// `true` if files of this kind often have integers of more than 16 bits.
    package var mayHaveWideSamples: Bool { [.flac, .wave, .aiff].contains(self) }

    /// The name of the kind for messages.
    package var name: String { Self.row(of: self).name }

    /// The kind that the magic number at the start of `bytes` identifies; `nil` if there is none, as in MPEG
    /// audio, ADTS and after an ID3v2 tag (see `ID3v2Header`).
    package static func byMagicNumber(_ bytes: some Collection<UInt8>) -> AudioKind? {
        let head = Array(bytes.prefix(headByteCount))
        return rows.first { row in
            row.magic.contains { parts in
                parts.allSatisfy { head.dropFirst($0.offset).starts(with: $0.bytes) }
            }
        }?.kind
    }

    /// The kind that the extension of the file name or path `name` suggests; `nil` if it suggests none.
    package static func byName(_ name: String) -> AudioKind? {
        guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")) else { return nil }
        return kindByExtension[name[name.index(after: dot)...].lowercased()]
    }

    private typealias Part = (offset: Int, bytes: [UInt8])

    /// The magic numbers are alternatives, each of one or more parts.
    private typealias Row = (kind: AudioKind, name: String, magic: [[Part]], extensions: [StaticString])

    private static func mark(_ text: StaticString, at offset: Int = 0) -> Part {
        (offset, text.withUTF8Buffer(Array.init))
    }

    /// The file of chunks `name` whose type is `type`.
    private static func form(_ name: StaticString, _ type: StaticString) -> [Part] {
        [mark(name), mark(type, at: 8)]
    }

    private static func row(of kind: AudioKind) -> Row { rowByKind[kind] ?? rows[0] }

    private static let rowByKind = Dictionary(uniqueKeysWithValues: rows.map { ($0.kind, $0) })
    /// Also by extensions of files that are not played, because of their codec or a protection.
    private static let kindByExtension = Dictionary(
        uniqueKeysWithValues: rows.flatMap { row in row.extensions.map { ($0.description, row.kind) } }
    ).merging(["spx": .ogg, "m4p": .mp4]) { played, _ in played }

    private static let rows = playedRows + otherRows

    private static let playedRows: [Row] = [
        // The early container of MP3 in RIFF.
        (.mpeg, "MP3", [form("RIFF", "RMP3")], ["mp3", "mp2", "mp1", "mpga", "mpa", "mpeg"]),
        (.flac, "FLAC", [[mark("fLaC")]], ["flac", "fla"]),
        (.ogg, "Ogg", [[mark("OggS"), (4, [0])]], ["ogg", "oga", "opus"]),
        (.adts, "AAC", [], ["aac", "adts"]),
        (.mp4, "M4A", [[mark("ftyp", at: 4)]], ["m4a", "m4b", "mp4", "alac"]),
        (.wave, "WAV", ["RIFF", "RF64", "BW64"].map { form($0, "WAVE") }, ["wav", "wave", "bwf", "rf64"]),
        (.aiff, "AIFF", ["AIFF", "AIFC"].map { form("FORM", $0) }, ["aif", "aiff", "aifc"]),
    ]

    /// Marks that a line of text could begin with (`MAC Demarco/Salad Days.mp3`) are tested with the binary
    /// byte that follows them, so that a playlist is not taken for music.
    private static let otherRows: [Row] = [
        (.wavpack, "WavPack", [[mark("wvpk")]], ["wv"]),
        (.monkeysAudio, "Monkey's Audio", [[mark("MAC "), (5, [14])], [mark("MAC "), (5, [15])]], ["ape"]),
        (.asf, "ASF/WMA", [[(0, [0x30, 0x26, 0xB2, 0x75, 0x8E, 0x66, 0xCF, 0x11])]], ["wma", "asf"]),
        (.matroska, "Matroska/WebM", [[(0, [0x1A, 0x45, 0xDF, 0xA3])]], ["mka", "mkv", "webm", "weba"]),
        (.musepack, "Musepack", [[mark("MPCK")], [mark("MP+\u{7}")], [mark("MP+\u{17}")]], ["mpc"]),
        (.trueAudio, "TTA", [[mark("TTA1")]], ["tta"]),
        (.dsd, "DSD", [[mark("DSD "), (4, [28])], [mark("FRM8"), mark("DSD ", at: 12)]], ["dsf", "dff"]),
        (.caf, "CAF", [[mark("caff"), (4, [0])]], ["caf"]),
        (.au, "AU", [[mark(".snd"), (4, [0])]], ["au", "snd"]),
        (.amr, "AMR", [[mark("#!AMR")]], ["amr"]),
        (.midi, "MIDI", [[mark("MThd")], form("RIFF", "RMID")], ["mid", "midi"]),
        (.avi, "AVI", [form("RIFF", "AVI ")], []),
        // A program stream, or MPEG video without one.
        (.mpegVideo, "MPEG video", [[(0, [0, 0, 1, 0xBA])], [(0, [0, 0, 1, 0xB3])]], []),
    ]
}
