import Media

/// Words messages and events, and remembers the reported failures, tags and lengths of the tracks. Pure.
struct Announcer: Sendable {
    /// The newest messages, oldest first.
    private(set) var messages: [PlayerMessage] = []
    /// The tracks that failed, with their errors.
    private(set) var failures: [Track.ID: MediaError] = [:]
    /// Tags and lengths of the tracks that were opened, or looked up before that.
    private(set) var facts = LearnedFacts()
    private var now = Duration.zero
    private var messageCount = 0
    private var lastPositionTime = Duration.zero
    /// The time of the last report that a resource has changed, by resource.
    private var reportedChanges: [SafeText: Duration] = [:]
    private var reportedWait: (pass: PassID, wait: LoadWait)?
    /// The tracks that were added, those that the queue had already, and the sources that failed, since
    /// additions began to be read.
    private var additions = Additions()
    /// The number of the message with these counts; `nil` after the last addition.
    private var sumOfAdditions: Int?

    private struct Additions {
        var added = 0
        var known = 0
        var failures: [MediaError] = []
    }

    private static let mostMessages = 100
    /// The least time between two reports that one resource has changed: a recording in progress changes all
    /// the time.
    private static let changePause = Duration.seconds(60)

    /// Sets the time of the next messages and events.
    mutating func advance(to now: Duration) { self.now = now }

    // MARK: Messages

    /// Adds a message; one with a command that `failed` is an error, too.
    mutating func note(_ message: SafeText, failed: PlayerCommand? = nil, isError: Bool = false) {
        messageCount += 1
        messages.append(
            PlayerMessage(
                number: messageCount,
                time: now,
                text: message,
                failed: failed,
                isError: isError || failed != nil
            )
        )
        if messages.count > Self.mostMessages { messages.removeFirst() }
    }

    mutating func notice(_ error: MediaError, failed: PlayerCommand? = nil) -> [PlayerEffect] {
        if error.code == .resourceChanged {
            if let last = reportedChanges[error.subject], now - last < Self.changePause { return [] }
            reportedChanges = reportedChanges.filter { now - $0.value < Self.changePause }
            reportedChanges[error.subject] = now
        }
        note(TrackName.place(error.subject) + ": " + error.cause, failed: failed, isError: true)
        return [.emit(.notice(code: error.code.rawValue, message: error.safeText))]
    }

    /// Reports a source, or an entry of a list, that is not played.
    mutating func problem(_ error: MediaError, failed: PlayerCommand? = nil) -> [PlayerEffect] {
        (error.code.isLostSource ? [.countLostSource] : []) + notice(error, failed: failed)
    }

    /// Reports the problems of the sources of the command line. If none brought a track, `source` is the last
    /// of them.
    mutating func launched(with problems: [MediaError], of source: String?) -> [PlayerEffect] {
        let failed = source.map { PlayerCommand.add($0) }
        let effects = problems.flatMap { problem($0, failed: failed) }
        let lost = problems.filter(\.code.isLostSource)
        if lost.count > 1 { note(SafeText("Failed: ") + Self.names(of: lost), failed: failed, isError: true) }
        return effects
    }

    /// Reports how many tracks the additions that are being read have brought so far, and how many of theirs
    /// the queue had already. After the last of them, also names the sources that failed, since this message
    /// hides theirs.
    mutating func added(
        _ count: Int,
        known: Int,
        _ problems: [MediaError],
        isLast: Bool,
        failed: PlayerCommand?
    ) -> [PlayerEffect] {
        additions.added += count
        additions.known += known
        additions.failures += problems.filter(\.code.isLostSource)
        let sum = additions
        if isLast { additions = Additions() }
        let failures: SafeText = sum.failures.isEmpty ? "" : "failed: " + Self.names(of: sum.failures)
        guard sum.added + sum.known > 0 else {
            if isLast, sum.failures.count > 1 { note("All " + failures, failed: failed, isError: true) }
            return []
        }
        guard count + known > 0 || (isLast && !sum.failures.isEmpty) else { return [] }
        // Each such message replaces the one before it.
        if let place = messages.lastIndex(where: { $0.number == sumOfAdditions }) {
            messages.remove(at: place)
        }
        let known = SafeText(sum.known > 0 ? ", \(sum.known) already in the queue" : "")
        let added = SafeText(
            sum.added > 0 ? "Added " + CountText.of(sum.added, "track") : "Added nothing new"
        )
        let text = added + known + (sum.failures.isEmpty ? "" : "; " + failures)
        var effects: [PlayerEffect] = []
        if sum.known > 0 { effects = [remark("already-queued", text)] } else { note(text) }
        sumOfAdditions = isLast ? nil : messageCount
        return effects
    }

    /// The names of at most five sources that failed.
    private static func names(of errors: [MediaError]) -> SafeText {
        let names = errors.prefix(5).map { short(TrackName.file(at: $0.subject)).string }.joined(
            separator: ", "
        )
        return SafeText(errors.count > 5 ? names + " and \(errors.count - 5) more" : names)
    }

    mutating func remark(_ code: String, _ message: SafeText) -> PlayerEffect {
        note(message)
        return .emit(.remark(code: code, message: message))
    }

    /// Reports that `source` takes long to read; `count` tracks were read so far.
    mutating func reading(_ count: Int, of source: SafeText) -> PlayerEffect {
        let known = count > 0 ? " (" + CountText.of(count, "track") + " so far)" : ""
        return remark("reading", "Reading " + Self.short(TrackName.place(source)) + SafeText(known))
    }

    mutating func passedOver(_ source: SafeText) -> PlayerEffect {
        remark("reading", "Playing what was read – " + Self.short(source) + " follows when it is read")
    }

    /// A name that leaves room for a sentence in a line of 80 columns.
    private static func short(_ name: SafeText) -> SafeText {
        name.string.count <= 30 ? name : SafeText(name.string.prefix(29) + "…")
    }

    /// The code of the notice that refuses a command.
    static let refusalCode = "bad-command"
    /// The code of the notice that refuses a seek in a live stream.
    static let notSeekableCode = "not-seekable"

    mutating func badCommand(_ text: String) -> PlayerEffect {
        let message = SafeText(text)
        note(message, isError: true)
        return .emit(.notice(code: Self.refusalCode, message: message))
    }

    /// Reports that the track at which to start, counted from 1, is beyond the last one.
    mutating func noStart(_ start: Int, of count: Int) -> [PlayerEffect] {
        let cause: SafeText = "there is no such track; playing the last one, "
        return notice(MediaError(.notFound, SafeText("--start \(start)"), cause + SafeText("\(count)")))
    }

    static func savedText(_ count: Int, _ path: String) -> SafeText {
        SafeText("Saved \(CountText.of(count, "track")) as \(path)")
    }

    /// Reports that `tracks` were pinned or unpinned, and begins or ends their downloads.
    mutating func pinned(_ tracks: [Track], _ isPinned: Bool) -> [PlayerEffect] {
        guard isPinned else {
            return [remark("unpinned", "Unpinned " + name(of: tracks)), .stopDownload(tracks)]
        }
        let text = "Pinned " + name(of: tracks) + " (never evicted), downloading what is missing"
        return [remark("pinned", text), .download(tracks, answers: false)]
    }

    /// The title of one track in quotation marks, or the number of several.
    private func name(of tracks: [Track]) -> SafeText {
        tracks.count == 1
            ? SafeText("\"") + title(of: tracks[0]) + "\""
            : SafeText(CountText.of(tracks.count, "track"))
    }

    // MARK: Downloads

    mutating func aheadSet(to goal: AheadGoal?) -> PlayerEffect {
        remark("ahead", goal.map { "Downloading ahead: " + $0.text } ?? "Downloading nothing ahead")
    }

    mutating func aheadStopped(_ stop: DownloadQueue.Ahead.Stop) -> PlayerEffect {
        switch stop {
        case .full:
            remark(
                "ahead-full",
                "No more music fits into the cache – remove some, or raise --cache-size"
            )
        case .failures: remark("ahead-failed", "Too many tracks can't be downloaded ahead – stopped")
        }
    }

    mutating func downloadsHeld(_ isHeld: Bool) -> PlayerEffect {
        isHeld
            ? remark("metered", "This network is metered – downloads wait (--metered use: they don't)")
            : remark("unmetered", "This network is not metered – downloads go on")
    }

    mutating func downloadsAdded(_ tracks: [Track]) -> PlayerEffect {
        remark("download", tracks.isEmpty ? "Already being downloaded" : "Downloading " + name(of: tracks))
    }

    mutating func downloadsChanged(_ change: DownloadChange, _ count: Int) -> PlayerEffect {
        guard count > 0 else { return badCommand("No download to \(change.rawValue)") }
        let done =
            switch change {
            case .pause: "Paused"
            case .resume: "Continued"
            case .retry: "Trying again:"
            case .cancel: "Cancelled"
            }
        return remark("download", SafeText("\(done) \(CountText.of(count, "download"))"))
    }

    /// The one message after downloads. A failure is named if it is the only one.
    mutating func downloadsFinished(_ sum: DownloadSum) -> PlayerEffect {
        var parts: [SafeText] = []
        if sum.downloaded > 0 {
            parts.append(SafeText("\(CountText.of(sum.downloaded, "track")) downloaded"))
        }
        if sum.present > 0 {
            parts.append(SafeText("\(CountText.of(sum.present, "track")) cached already"))
        }
        if sum.failed == 1, let error = sum.firstFailure {
            let name = Self.short(TrackName.file(at: error.subject))
            parts.append("1 failed (" + name + ": " + error.cause + ")")
        } else if sum.failed > 0 {
            parts.append(SafeText("\(sum.failed) failed"))
        }
        return remark("downloaded", SafeText(parts.map(\.string).joined(separator: ", ")))
    }

    /// The title that the queue shows.
    private func title(of track: Track) -> SafeText {
        (facts[track.id]?.tags ?? track.tags).title ?? track.location.name
    }

    mutating func networkChanged(to report: ConnectivityReport) -> PlayerEffect {
        guard report.isOffline else { return remark("online", "Online again") }
        let cause: SafeText =
            switch report.reason {
            case nil: "Offline"
            case let reason? where reason.code == .unknownHost:
                SafeText(reason.cause.string.prefix(1).uppercased() + reason.cause.string.dropFirst())
            case let reason?: "Offline: " + reason.reason
            }
        return remark("offline", cause + " (cached music keeps playing)")
    }

    /// Reports an error that interrupts the sound until the audio server is back.
    mutating func soundLost(because error: MediaError) -> [PlayerEffect] {
        guard error.code == .audioLost else { return notice(error) }
        let message: SafeText = "Sound server lost – waiting"
        note(message)
        return [.emit(.notice(code: error.code.rawValue, message: message))]
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

    /// The events, and the title in the sound server's mixer, for a track that becomes current or better
    /// known. `index` counts from 1.
    func announce(_ pass: Pass, index: Int, isPlayed: Bool) -> [PlayerEffect] {
        let tags = tags(of: pass)
        let title = tags.title ?? pass.track.location.name
        let source = pass.isLive ? pass.station?.name.flatMap { $0 == title ? nil : $0 } : tags.artist
        return [
            trackEvent(pass, index: index, isPlayed: isPlayed),
            .setTitle(SoundTitle(title, by: source)),
        ]
    }

    func trackEvent(_ pass: Pass, index: Int, isPlayed: Bool) -> PlayerEffect {
        var report = PlayerEvent.TrackReport(index: index, source: pass.track.location.safeText)
        report.duration = pass.duration ?? (pass.isLive ? nil : facts[pass.track.id]?.duration)
        report.tags = tags(of: pass)
        report.isSeekable = pass.isSeekable
        report.isLive = pass.isLive
        report.station = pass.station?.name
        report.chapters = pass.info?.chapters.count ?? 0
        report.episode = pass.track.episode
        report.isPlayed = isPlayed
        return .emit(.track(report))
    }

    /// The tags of `pass`; before it is opened, those that are known from an earlier playing or from a lookup
    /// (`TagWatch`).
    private func tags(of pass: Pass) -> TrackTags {
        guard pass.info == nil, !pass.isLive, let facts = facts[pass.track.id] else { return pass.tags }
        return pass.track.tags(with: facts.tags)
    }

    /// Remembers the tags and length of a track, so that the queue shows them when another track is current.
    mutating func learn(from pass: Pass) {
        guard let info = pass.info, !pass.isLive else { return }
        facts[pass.track.id] = TrackFacts(of: info, for: pass.track)
    }

    /// Remembers `found`, tags and lengths of tracks that were not opened yet; opening a track gives better
    /// ones.
    mutating func learn(_ found: [Track.ID: TrackFacts]) {
        for (track, new) in found where facts[track] == nil || new.isExact && facts[track]?.isExact == false {
            facts[track] = new
        }
    }

    mutating func failed(_ track: Track.ID, because error: MediaError) {
        failures[track] = error
        note((facts[track]?.tags.title ?? TrackName.place(error.subject)) + ": " + error.cause)
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
