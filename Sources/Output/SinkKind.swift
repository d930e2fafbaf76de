package import Media
package import System

/// A sink that `--sink` names.
package enum SinkKind: Sendable, Equatable {
    /// The PulseAudio server, with its default sink or the one with this name.
    case pulse(sink: String?)
    /// No sound, in real time.
    case null
    /// No sound, as fast as the tracks can be decoded.
    case nullFast
    /// A RIFF file.
    case wav(path: String)
    /// Samples into a file without a header.
    case raw(path: String)
    case rawStandardOutput

    /// Parses the argument of `--sink`; `nil` if it names no sink; then `refusal(of:)` returns the message.
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

    /// The audio server's device that it names; `nil` if it names none.
    package var device: String? { if case .pulse(let sink) = self { sink } else { nil } }

    /// The message for an argument that names no sink.
    package static func refusal(of argument: String) -> SafeText {
        SafeText(
            "unknown sink '\(argument)'; use pulse, pulse:NAME, null, null:fast, wav:PATH, raw:PATH or raw:-"
        )
    }

    /// The output of this kind, not yet connected.
    ///
    /// `clock` drives the null device, and limits the wait for an audio server. Files get `sample`; the other
    /// sinks take samples as the tracks have them.
    package func makeOutput(clock: any MonotonicClock, sample: SinkSample = .s16) -> any AudioOutput {
        func file(_ path: String?, _ container: FileWriter.Container) -> FileWriter {
            FileWriter(pattern: path, container: container, sample: sample)
        }
        return switch self {
        case .pulse(let sink): PulseOutput(sink: sink, clock: clock)
        case .null: NullOutput(clock: clock)
        case .nullFast: ConsumingOutput(threadName: "output-null")
        case .wav(let path): ConsumingOutput(writer: file(path, .wav), threadName: "output-wav")
        case .raw(let path): ConsumingOutput(writer: file(path, .raw), threadName: "output-raw")
        case .rawStandardOutput: ConsumingOutput(writer: file(nil, .raw), threadName: "output-raw")
        }
    }
}
