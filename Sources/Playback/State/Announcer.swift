import Media

/// Words messages and events, and remembers what was reported of the tracks. Pure.
struct Announcer: Sendable {
    /// The newest messages, oldest first.
    private(set) var messages: [PlayerMessage] = []
    /// The tracks that failed, with their errors.
    private(set) var failures: [Track.ID: MediaError] = [:]
    /// Tags and lengths of the tracks that were opened.
    private(set) var facts: [Track.ID: TrackFacts] = [:]
    private var now = Duration.zero
    private var messageCount = 0
    private var lastPositionTime = Duration.zero
    /// The last reported wait of a load.
    private var reportedWait: (pass: PassID, wait: LoadWait)?

    private static let mostMessages = 100

    /// Sets the time of the next messages and events.
    mutating func advance(to now: Duration) { self.now = now }

    // MARK: Messages

    mutating func note(_ message: SafeText) {
        messageCount += 1
        messages.append(PlayerMessage(number: messageCount, time: now, text: message))
        if messages.count > Self.mostMessages { messages.removeFirst() }
    }

    mutating func notice(_ error: MediaError) -> [PlayerEffect] {
        note(error.safeText)
        return [.emit(.notice(code: error.code.rawValue, message: error.safeText))]
    }

    /// Reports a source, or an entry of a list, that is not played.
    mutating func problem(_ error: MediaError) -> [PlayerEffect] {
        (error.code.isLostSource ? [.countLostSource] : []) + notice(error)
    }

    mutating func remark(_ code: String, _ message: SafeText) -> PlayerEffect {
        note(message)
        return .emit(.remark(code: code, message: message))
    }

    /// The sources are still being read, and none of their tracks is played before all are known.
    mutating func reading(_ count: Int) -> PlayerEffect {
        remark("reading", SafeText("Read \(Announcer.countText(count)) so far – stop plays these"))
    }

    mutating func badCommand(_ text: String) -> PlayerEffect {
        let message = SafeText(text)
        note(message)
        return .emit(.notice(code: "bad-command", message: message))
    }

    static func countText(_ count: Int) -> String { count == 1 ? "1 track" : "\(count) tracks" }

    static func savedText(_ count: Int, _ path: String) -> SafeText {
        SafeText("Saved \(countText(count)) as \(path)")
    }

    /// Reports that `tracks` were pinned or unpinned, and begins or ends their downloads.
    mutating func pinned(_ tracks: [Track], _ isPinned: Bool) -> [PlayerEffect] {
        let name =
            tracks.count == 1
            ? SafeText("\"") + (tracks[0].tags.title ?? tracks[0].location.name) + "\""
            : SafeText(Self.countText(tracks.count))
        return isPinned
            ? [remark("pinned", "Pinned " + name + " (never evicted)"), .download(tracks)]
            : [remark("unpinned", "Unpinned " + name), .stopDownload(tracks)]
    }

    mutating func networkChanged(to report: ConnectivityReport) -> PlayerEffect {
        guard report.isOffline else { return remark("online", "Online again") }
        let reason = report.reason.map { SafeText(": ") + $0.cause } ?? ""
        return remark("offline", SafeText("Offline") + reason + " (cached music keeps playing)")
    }

    /// Reports an error that interrupts the sound until the audio server is back.
    mutating func soundLost(because error: MediaError) -> [PlayerEffect] {
        guard error.code == .audioLost else { return notice(error) }
        let message: SafeText = "Sound server lost – waiting"
        note(message)
        return [.emit(.notice(code: error.code.rawValue, message: message))]
    }

    mutating func soundIsBack() -> PlayerEffect {
        remark("audio-back", "Sound is back")
    }

    /// Reports each attempt that a load waits for, once.
    mutating func loadWaits(_ pass: PassID, _ wait: LoadWait) -> [PlayerEffect] {
        if let reportedWait, reportedWait.pass == pass, reportedWait.wait.attempt == wait.attempt,
            reportedWait.wait.retryAt == wait.retryAt
        {
            return []
        }
        reportedWait = (pass, wait)
        let seconds = max(1, Int((wait.retryAt - now).seconds.rounded(.up)))
        let attempt = wait.nextAttempt.map { " (" + $0 + ")" } ?? ""
        let message =
            wait.error.subject + ": " + wait.error.reason + SafeText(" · retry in \(seconds) s") + attempt
        return [.emit(.remark(code: "reconnecting", message: message))]
    }

    // MARK: Tracks

    /// The events and the window title for a track that becomes current or better known; `index` counts from 1.
    func announce(_ pass: Pass, index: Int) -> [PlayerEffect] {
        let tags = pass.tags
        let title = tags.title ?? pass.track.location.name
        let source = pass.isLive ? pass.station?.name.flatMap { $0 == title ? nil : $0 } : tags.artist
        return [trackEvent(pass, index: index), .setTitle(source.map { $0 + " – " + title } ?? title)]
    }

    func trackEvent(_ pass: Pass, index: Int) -> PlayerEffect {
        var report = PlayerEvent.TrackReport(index: index, source: pass.track.location.safeText)
        (report.tags, report.duration, report.isSeekable) = (pass.tags, pass.duration, pass.isSeekable)
        (report.isLive, report.station) = (pass.isLive, pass.station?.name)
        return .emit(.track(report))
    }

    /// Remembers the tags and length of a track, so that the queue shows them when another track is current.
    mutating func learn(from pass: Pass) {
        guard let info = pass.info, !pass.isLive else { return }
        // The length in the playlist is better than an estimate.
        let isBetter = info.isDurationExact || pass.track.duration == nil
        let new = TrackFacts(
            tags: pass.track.tags(with: info.tags),
            duration: isBetter ? pass.duration : pass.track.duration
        )
        if facts[pass.track.id] != new { facts[pass.track.id] = new }
    }

    /// `track` with all known tags and its length.
    func described(_ track: Track) -> Track {
        guard let facts = facts[track.id] else { return track }
        var track = track
        (track.tags, track.duration) = (facts.tags, facts.duration)
        return track
    }

    mutating func failed(_ track: Track.ID, because error: MediaError) {
        failures[track] = error
        note(error.safeText)
    }

    mutating func forgetFailure(of track: Track.ID) { failures[track] = nil }

    mutating func forgetFailures() { failures = [:] }

    // MARK: Positions

    mutating func positionReported() { lastPositionTime = now }

    /// The time until the next `position` event, one second after the last event with a position.
    var timeUntilPosition: Duration { lastPositionTime + .seconds(1) - now }
}

extension MediaError.Code {
    /// `true` if a notice with this code means that a part of the sources is not played.
    fileprivate var isLostSource: Bool {
        switch self {
        case .notFound, .unreadable, .emptyFolder, .emptyResource, .notAudio, .badPlaylist, .listTooLarge,
            .unsupportedScheme, .badURL, .refusedLocalFile, .unknownHost, .connectionRefused,
            .networkUnreachable, .connectionFailed, .badAnswer, .tlsFailed, .timedOut, .cut, .httpStatus,
            .tooManyRedirects, .offline, .missingLibrary:
            true
        case .leftOut, .resourceChanged, .notCached, .damaged, .damagedExtent, .damagedIndex, .badState,
            .cacheSecret,
            .decodingFailed, .audioServer, .audioLost, .sinkFailed, .sinkFormat, .internalError:
            false
        }
    }
}
