import Media

/// All else that a session leaves to the next one: where it was in the queue, and how it played.
struct SavedSession: Sendable, Equatable {
    /// The saved queue that `current` is a place in.
    var queueID = ""
    /// From 0.
    var current: Int?
    var position = Duration.zero
    var isPaused = false
    /// 0...100.
    var volume = 100
    var repeatMode = RepeatMode.off
    var isShuffled = false
    var gainMode = GainMode.off
    /// The servers that were named on the command line, and so may be told its secrets: scheme, host and port.
    var origins: [String] = []
    var places = ResumePlaces()

    /// The file's text.
    var text: String {
        var lines = StateLines(kind: "session")
        lines.add("queue", queueID)
        if let current { lines.add("current", String(current)) }
        lines.add("position", String(position.wholeMilliseconds))
        if isPaused { lines.add("paused") }
        lines.add("volume", String(volume))
        lines.add("repeat", repeatMode.rawValue)
        if isShuffled { lines.add("shuffle") }
        lines.add("gain", gainMode.rawValue)
        for origin in origins { lines.add("origin", origin) }
        for (location, position) in places.all {
            lines.add("place", String(position.wholeMilliseconds), location)
        }
        return lines.text
    }

    init() {}

    /// Parses what `text` gave; throws for anything else.
    init(parsing text: String) throws(StateLines.Refusal) {
        for (name, fields) in try StateLines.parse(text, kind: "session") {
            switch (name, fields.count) {
            case ("queue", 1): queueID = fields[0]
            case ("current", 1): current = Int(try Self.number(fields[0], in: 0...Int64(Int32.max)))
            case ("position", 1): position = try Self.time(fields[0])
            case ("paused", 0): isPaused = true
            case ("volume", 1): volume = Int(try Self.number(fields[0], in: 0...100))
            case ("repeat", 1):
                guard let mode = RepeatMode(rawValue: fields[0]) else {
                    throw StateLines.Refusal("a repetition that there is not")
                }
                repeatMode = mode
            case ("shuffle", 0): isShuffled = true
            case ("gain", 1):
                guard let mode = GainMode(rawValue: fields[0]) else {
                    throw StateLines.Refusal("a gain that there is not")
                }
                gainMode = mode
            case ("origin", 1):
                guard let url = WebURL(fields[0]), url.userInfo == nil else {
                    throw StateLines.Refusal("a server that is no URL")
                }
                origins.append(fields[0])
            case ("place", 2): places.set(try Self.time(fields[0]), for: fields[1])
            default: throw StateLines.Refusal("a line that a session has not")
            }
        }
    }

    private static func time(_ text: String) throws(StateLines.Refusal) -> Duration {
        .milliseconds(try number(text, in: 0...10_000_000_000))
    }

    private static func number(_ text: String, in range: ClosedRange<Int64>) throws(StateLines.Refusal)
        -> Int64
    {
        guard let number = Int64(text), range.contains(number) else {
            throw StateLines.Refusal("a number that cannot be")
        }
        return number
    }
}
