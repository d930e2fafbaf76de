package import Media

/// What `--sink` names.
package enum SinkKind: Sendable, Equatable {
    /// The PulseAudio server, on its default sink or on the one with this name.
    case pulse(sink: String?)
    /// No sound, at the speed of sound.
    case null
    /// No sound, as fast as the music can be decoded.
    case nullFast
    /// A RIFF file.
    case wav(path: String)
    /// s16le samples into a file.
    case raw(path: String)
    /// s16le samples on standard output.
    case rawStandardOutput

    /// Reads the argument of `--sink`; nil for everything else, which `refusal(of:)` words.
    package init?(_ argument: String) {
        let parts = argument.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let rest = parts.count == 2 ? String(parts[1]) : nil
        switch (parts.first, rest) {
        case ("pulse", nil): self = .pulse(sink: nil)
        case ("pulse", .some(let name)) where !name.isEmpty: self = .pulse(sink: name)
        case ("null", nil): self = .null
        case ("null", "fast"): self = .nullFast
        case ("raw", "-"): self = .rawStandardOutput
        case ("raw", .some(let path)) where !path.isEmpty: self = .raw(path: path)
        case ("wav", .some(let path)) where !path.isEmpty: self = .wav(path: path)
        default: return nil
        }
    }

    /// The sentence for an argument that names no sink.
    package static func refusal(of argument: String) -> SafeText {
        SafeText(
            "there is no sink '\(argument)'; use pulse, pulse:NAME, null, null:fast, wav:PATH, raw:PATH or raw:-"
        )
    }

    /// Whether standard output carries samples, so that events belong on standard error.
    package var takesStandardOutput: Bool { self == .rawStandardOutput }
}
