import Media

/// Which file a format goes to: one for all, or with `%n` in the path the next of a numbered row.
struct FileNaming: Sendable {
    let pattern: String
    private var format: AudioFormat?
    private var number = 0

    init(pattern: String) { self.pattern = pattern }

    var isNumbered: Bool { pattern.contains("%n") }

    /// The name for the first file, which is made before any format is known.
    var firstPath: String { path(numbered: 1) }

    enum Choice: Equatable {
        case file(String)
        case sameFile
    }

    /// Where frames of `next` go from now on; throws `.sinkFormat` when one file cannot hold both.
    mutating func opened(_ next: AudioFormat) throws(MediaError) -> Choice {
        defer { format = format ?? next }
        if isNumbered {
            number += 1
            return .file(path(numbered: number))
        }
        guard let format else { return .file(firstPath) }
        guard format == next else { throw refusal(of: next, after: format) }
        return .sameFile
    }

    private func path(numbered number: Int) -> String {
        var path = ""
        var rest = pattern[...]
        while let character = rest.first {
            if rest.hasPrefix("%n") {
                path += String(number)
                rest = rest.dropFirst(2)
            } else {
                path.append(character)
                rest = rest.dropFirst()
            }
        }
        return path
    }

    private func refusal(of next: AudioFormat, after first: AudioFormat) -> MediaError {
        MediaError(
            .sinkFormat,
            SafeText(pattern),
            SafeText(
                "the next track has another format (\(Self.describe(next)) after \(Self.describe(first)));"
                    + " use %n in the path for one file per track"
            )
        )
    }

    private static func describe(_ format: AudioFormat) -> String {
        "\(format.sampleRate) Hz, \(format.channelCount == 1 ? "mono" : "stereo")"
    }
}
