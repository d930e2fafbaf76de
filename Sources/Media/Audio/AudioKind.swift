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
    package var mayHaveWideSamples: Bool { Self.row(of: self).mayHaveWideSamples }

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

    /// Bytes at a fixed offset.
    private typealias Part = (offset: Int, bytes: [UInt8])

    private struct Row {
        var kind: AudioKind
        var name: String
        /// Alternatives; each is a magic number of one or more parts.
        var magic: [[Part]] = []
        var extensions: [StaticString] = []
        /// Extensions of files of this kind that are not played, because of their codec or a protection.
        var otherExtensions: [StaticString] = []
        var mayHaveWideSamples = false
    }

    private static func mark(_ text: StaticString, at offset: Int = 0) -> Part {
        (offset, text.withUTF8Buffer(Array.init))
    }

    private static func row(of kind: AudioKind) -> Row { rowByKind[kind] ?? rows[0] }

    private static let rowByKind = Dictionary(uniqueKeysWithValues: rows.map { ($0.kind, $0) })
    private static let kindByExtension = Dictionary(
        uniqueKeysWithValues: rows.flatMap { row in
            (row.extensions + row.otherExtensions).map { ($0.description, row.kind) }
        }
    )

    private static let rows = playedRows + otherRows

    private static let playedRows = [
        // The early container of MP3 in RIFF.
        Row(
            kind: .mpeg,
            name: "MP3",
            magic: [[mark("RIFF"), mark("RMP3", at: 8)]],
            extensions: ["mp3", "mp2", "mp1", "mpga", "mpa", "mpeg"]
        ),
        Row(
            kind: .flac,
            name: "FLAC",
            magic: [[mark("fLaC")]],
            extensions: ["flac", "fla"],
            mayHaveWideSamples: true
        ),
        Row(
            kind: .ogg,
            name: "Ogg",
            magic: [[mark("OggS"), (4, [0])]],
            extensions: ["ogg", "oga", "opus"],
            otherExtensions: ["spx"]
        ),
        Row(kind: .adts, name: "AAC", extensions: ["aac", "adts"]),
        Row(
            kind: .mp4,
            name: "M4A",
            magic: [[mark("ftyp", at: 4)]],
            extensions: ["m4a", "m4b", "mp4"],
            otherExtensions: ["m4p", "alac"]
        ),
        Row(
            kind: .wave,
            name: "WAV",
            magic: ["RIFF", "RF64", "BW64"].map { [mark($0), mark("WAVE", at: 8)] },
            extensions: ["wav", "wave", "bwf", "rf64"],
            mayHaveWideSamples: true
        ),
        Row(
            kind: .aiff,
            name: "AIFF",
            magic: ["AIFF", "AIFC"].map { [mark("FORM"), mark($0, at: 8)] },
            extensions: ["aif", "aiff", "aifc"],
            mayHaveWideSamples: true
        ),
    ]

    /// Marks that a line of text could begin with (`MAC Demarco/Salad Days.mp3`) are tested with the binary
    /// byte that follows them, so that a playlist is not taken for music.
    private static let otherRows = [
        Row(kind: .wavpack, name: "WavPack", magic: [[mark("wvpk")]], extensions: ["wv"]),
        Row(
            kind: .monkeysAudio,
            name: "Monkey's Audio",
            magic: [[mark("MAC "), (5, [0x0E])], [mark("MAC "), (5, [0x0F])]],
            extensions: ["ape"]
        ),
        Row(
            kind: .asf,
            name: "ASF/WMA",
            magic: [[(0, [0x30, 0x26, 0xB2, 0x75, 0x8E, 0x66, 0xCF, 0x11])]],
            extensions: ["wma", "asf"]
        ),
        Row(
            kind: .matroska,
            name: "Matroska/WebM",
            magic: [[(0, [0x1A, 0x45, 0xDF, 0xA3])]],
            extensions: ["mka", "mkv", "webm", "weba"]
        ),
        Row(
            kind: .musepack,
            name: "Musepack",
            magic: [[mark("MPCK")], [mark("MP+"), (3, [0x07])], [mark("MP+"), (3, [0x17])]],
            extensions: ["mpc"]
        ),
        Row(kind: .trueAudio, name: "TTA", magic: [[mark("TTA1")]], extensions: ["tta"]),
        Row(
            kind: .dsd,
            name: "DSD",
            magic: [[mark("DSD "), (4, [28])], [mark("FRM8"), mark("DSD ", at: 12)]],
            extensions: ["dsf", "dff"]
        ),
        Row(kind: .caf, name: "CAF", magic: [[mark("caff"), (4, [0])]], extensions: ["caf"]),
        Row(kind: .au, name: "AU", magic: [[mark(".snd"), (4, [0])]], extensions: ["au", "snd"]),
        Row(kind: .amr, name: "AMR", magic: [[mark("#!AMR")]], extensions: ["amr"]),
        Row(
            kind: .midi,
            name: "MIDI",
            magic: [[mark("MThd")], [mark("RIFF"), mark("RMID", at: 8)]],
            extensions: ["mid", "midi"]
        ),
        Row(kind: .avi, name: "AVI", magic: [[mark("RIFF"), mark("AVI ", at: 8)]]),
        // A program stream, or MPEG video without one.
        Row(kind: .mpegVideo, name: "MPEG video", magic: [[(0, [0, 0, 1, 0xBA])], [(0, [0, 0, 1, 0xB3])]]),
    ]
}
