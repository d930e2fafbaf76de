import Media

/// The saved state of a session, other than its tracks: the position in the queue, volume and modes.
struct SavedSession: Sendable, Equatable {
    /// The ID of the saved queue that `current` is an index of.
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
    /// Scheme, host and port of the servers named on the command line, which may receive its secrets.
    var origins: [String] = []
    var places = ResumePlaces()

    /// The text of the file.
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

    /// Position, volume and modes of `snapshot`. A queue that was played to its end restarts, paused.
    init(_ snapshot: PlayerSnapshot) {
        let isAtEnd = snapshot.state == .ended
        current = isAtEnd ? (snapshot.tracks.isEmpty ? nil : 0) : snapshot.currentIndex
        position = isAtEnd ? .zero : snapshot.position
        isPaused = [.paused, .stopped, .ended].contains(snapshot.state)
        volume = snapshot.volume
        repeatMode = snapshot.repeatMode
        isShuffled = snapshot.isShuffled
        gainMode = snapshot.gainMode
    }

    /// Parses the result of `text`; refuses anything else.
    init(parsing text: String) throws(StateError) {
        for (name, fields) in try StateLines.parse(text, kind: "session") {
            switch (name, fields.count) {
            case ("queue", 1): queueID = fields[0]
            case ("current", 1): current = Int(try Self.number(fields[0], in: 0...Int64(Int32.max)))
            case ("position", 1): position = try Self.time(fields[0])
            case ("paused", 0): isPaused = true
            case ("volume", 1): volume = Int(try Self.number(fields[0], in: 0...100))
            case ("repeat", 1): repeatMode = try Self.mode(fields[0])
            case ("shuffle", 0): isShuffled = true
            case ("gain", 1): gainMode = try Self.mode(fields[0])
            case ("origin", 1):
                guard let url = WebURL(fields[0]), url.userInfo == nil else {
                    throw StateError("a server that is not a URL")
                }
                origins.append(fields[0])
            case ("place", 2): places.set(try Self.time(fields[0]), for: fields[1])
            default: throw StateError("an unknown line")
            }
        }
    }

    private static func mode<Mode: RawRepresentable<String>>(_ text: String) throws(StateError) -> Mode {
        guard let mode = Mode(rawValue: text) else { throw StateError("an unknown mode") }
        return mode
    }

    private static func time(_ text: String) throws(StateError) -> Duration {
        .milliseconds(try number(text, in: 0...10_000_000_000))
    }

    private static func number(_ text: String, in range: ClosedRange<Int64>) throws(StateError) -> Int64 {
        guard let number = Int64(text), range.contains(number) else {
            throw StateError("a number out of range")
        }
        return number
    }
}

/// The positions at which long tracks and episodes were left, so that they continue there.
struct ResumePlaces: Sendable, Equatable {
    /// The shortest track whose position is saved: longer ones are podcasts and books, hardly songs.
    static let shortestTrack = Duration.seconds(20 * 60)
    /// A position this near to the start or the end is not worth returning to.
    static let margin = Duration.seconds(30)
    /// The most positions saved; those of the least recently played tracks are dropped.
    static let most = 500

    private var positions: [String: Duration] = [:]
    /// The locations, or for episodes their keys; the most recently played last.
    private var order: [String] = []

    /// The saved positions, the most recently played track last.
    var all: [(location: String, position: Duration)] {
        order.compactMap { key in positions[key].map { (key, $0) } }
    }

    func position(of location: String) -> Duration? { positions[location] }

    mutating func set(_ position: Duration, for location: String) {
        if positions.updateValue(position, forKey: location) == nil || order.last != location {
            order.removeAll { $0 == location }
            order.append(location)
        }
        if order.count > Self.most { positions[order.removeFirst()] = nil }
    }

    mutating func remove(_ location: String) {
        if positions.removeValue(forKey: location) != nil { order.removeAll { $0 == location } }
    }

    /// Records the position of a long track, or of an episode of any length. Near its end the saved position
    /// is removed, so that the track starts from its beginning the next time.
    mutating func heard(
        _ location: String,
        at position: Duration,
        of duration: Duration?,
        isEpisode: Bool = false
    ) {
        guard let duration, isEpisode || duration > Self.shortestTrack, position >= Self.margin else {
            return
        }
        if duration - position >= Self.margin { set(position, for: location) } else { remove(location) }
    }
}
