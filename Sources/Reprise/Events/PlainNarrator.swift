import Media

/// Describes a session in sentences: one for each event that matters to a listener.
struct PlainNarrator: Sendable {
    private var tracks = 0
    private var reports: [Int: PlayerEvent.TrackReport] = [:]
    /// The track that was announced last, and the name it had then.
    private var announced: (index: Int, name: SafeText)?
    private var isPaused = false
    /// `true` if a line has said that the music does not go on.
    private var isStopped = false

    /// A line for each track of a list.
    static func lines(of player: PlayerSnapshot) -> some Sequence<SafeText> {
        (0..<max(1, player.tracks.count)).lazy.map { place in
            guard !player.tracks.isEmpty else { return "The queue is empty" }
            let track = player.tracks[place]
            var entry = PlayerEvent.TrackReport(index: place + 1, source: track.location.safeText)
            entry.tags = player.learned[track.id]?.tags ?? track.tags
            let length =
                (player.learned[track.id]?.duration ?? track.duration).map { ", " + $0.clockTime } ?? ""
            return SafeText("\(entry.index) ") + name(of: entry) + SafeText(length)
        }
    }

    /// The sentence for `event`; `nil` if there is none.
    mutating func line(for event: PlayerEvent) -> SafeText? {
        switch event {
        case .loaded(let tracks):
            self.tracks = tracks
            return SafeText(CountText.of(tracks, "track"))
        case .track(let report):
            reports[report.index] = report
            // The track was selected during a pause: no `playing` event will announce it.
            if isPaused, announced?.index != report.index { return announce(report.index) }
            // A live stream announces its next title within the same track.
            guard let announced, announced.index == report.index, report.isLive,
                announced.name != Self.name(of: report)
            else { return nil }
            return announce(report.index)
        case .playing(let index, let position, let isExact):
            defer { isStopped = false }
            isPaused = false
            if announced?.index == index {
                // A live stream that was reconnected plays on.
                return isStopped ? "Playing at " + Self.time(position, isExact) : nil
            }
            let line = announce(index)
            return position < .seconds(1) ? line : line + ", from " + Self.time(position, isExact)
        case .buffering(_, let position):
            isStopped = true
            return "Buffering at " + Self.time(position, true)
        case .paused(_, let position, let isExact):
            isPaused = true
            isStopped = true
            return "Paused at " + Self.time(position, isExact)
        case .seeked(_, let position, let isExact):
            isStopped = true
            return "At " + Self.time(position, isExact)
        case .ended(let report):
            if announced?.index == report.index { announced = nil }
            return nil
        case .remark(_, let message): return message
        // Written to standard error, like every failure.
        case .notice: return nil
        case .queue(let report):
            tracks = report.count
            // The track that plays may have another number now; it need not be announced again.
            if let index = report.index { announced?.index = index }
            return nil
        case .status(let player):
            let state = player.state.rawValue
            let number = player.currentIndex.map { " \($0 + 1) of \(player.tracks.count)" } ?? ""
            return SafeText(
                "\(state.prefix(1).uppercased())\(state.dropFirst())\(number), volume \(player.volume) %"
            )
        case .devices(let devices, _):
            let names = devices.map { device in
                SafeText(device.isCurrent ? "Sound goes to " : "Other device: ") + device.title
                    + SafeText(" (\(device.name))")
            }
            return names.reduce("") { $0.string.isEmpty ? $1 : $0 + "; " + $1 }
        // `PlainKeys` prints these changes itself, together with those that have no event.
        case .volume, .mode: return nil
        case .position, .list, .download, .summary, .answered: return nil
        }
    }

    private mutating func announce(_ index: Int) -> SafeText {
        let name = reports[index].map { Self.name(of: $0) } ?? SafeText("track \(index)")
        announced = (index, name)
        let length = reports[index]?.duration.map { ", " + $0.clockTime } ?? ""
        let all = max(tracks, index)
        return SafeText("\(isPaused ? "Paused" : "Playing") \(index) of \(all): ") + name + SafeText(length)
    }

    private static func name(of report: PlayerEvent.TrackReport) -> SafeText {
        let title = report.tags.title ?? TrackName.file(at: report.source)
        return report.tags.artist.map { title + " by " + $0 } ?? title
    }

    private static func time(_ position: Duration, _ isExact: Bool) -> SafeText {
        SafeText((isExact ? "" : "about ") + position.clockTime)
    }
}
