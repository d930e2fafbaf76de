/// The audio formats by which decoders are chosen.
package enum AudioKind: Sendable, Hashable, CaseIterable {
    case mpeg, flac, ogg, wave, aiff, mp4

    /// The name of the kind for messages.
    package var name: String {
        switch self {
        case .mpeg: "MP3"
        case .flac: "FLAC"
        case .ogg: "Ogg"
        case .wave: "WAV"
        case .aiff: "AIFF"
        case .mp4: "MP4"
        }
    }

    /// The most bytes from the start of a resource that a magic number needs.
    package static let headByteCount = 16

    /// The kind of a resource that begins with `head`. Pure.
    ///
    /// A magic number takes precedence, since servers and file names are often wrong: content type and name
    /// count only without one. Everything else is taken for MPEG audio, which has no reliable magic number.
    package static func probe(head: [UInt8], contentType: String?, name: String) -> AudioKind {
        if let kind = byMagicNumber(head[...]) { return kind }
        if head.starts(with: "ID3".utf8) || FrameHeader(head, at: 0) != nil { return .mpeg }
        let type = contentType.flatMap { $0.split(separator: ";").first }?.lowercased() ?? ""
        return typed[type] ?? named[name.split(separator: ".").last?.lowercased() ?? ""] ?? .mpeg
    }

    /// The kind that the magic number at the start of `bytes` identifies; `nil` if there is none.
    package static func byMagicNumber(_ bytes: ArraySlice<UInt8>) -> AudioKind? {
        if bytes.starts(with: "fLaC".utf8) { return .flac }
        if bytes.starts(with: "OggS".utf8) { return .ogg }
        let form = bytes.dropFirst(8)
        if bytes.starts(with: "RIFF".utf8) || bytes.starts(with: "RF64".utf8) {
            return form.starts(with: "WAVE".utf8) ? .wave : nil
        }
        if bytes.starts(with: "FORM".utf8) {
            return form.starts(with: "AIFF".utf8) || form.starts(with: "AIFC".utf8) ? .aiff : nil
        }
        return bytes.dropFirst(4).starts(with: "ftyp".utf8) ? .mp4 : nil
    }

    private static let typed: [String: AudioKind] = [
        "audio/flac": .flac, "audio/x-flac": .flac, "audio/ogg": .ogg, "application/ogg": .ogg,
        "audio/wav": .wave, "audio/x-wav": .wave, "audio/vnd.wave": .wave, "audio/aiff": .aiff,
        "audio/x-aiff": .aiff, "audio/mp4": .mp4, "audio/x-m4a": .mp4,
    ]

    private static let named: [String: AudioKind] = [
        "flac": .flac, "ogg": .ogg, "oga": .ogg, "opus": .ogg, "wav": .wave, "aif": .aiff, "aiff": .aiff,
        "aifc": .aiff, "m4a": .mp4, "m4b": .mp4, "mp4": .mp4,
    ]
}
