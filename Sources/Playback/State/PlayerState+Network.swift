import Media

// Live streams, waiting for bytes, being offline, and what is kept.
extension PlayerState {
    /// After a longer pause a live stream is connected to anew: what waits in the buffer is no longer live.
    static let longestLivePause = Duration.seconds(5)

    mutating func liveFound(_ id: PassID, _ station: Station) -> [PlayerEffect] {
        guard let place = passes.firstIndex(where: { $0.id == id }) else { return [] }
        let isNews = passes[place].station != station
        passes[place].station = station
        passes[place].isSeekable = false
        // Before it is ready there is more to come.
        return place == 0 && isNews && passes[place].stage != .opening ? announce(passes[0]) : []
    }

    /// A title is shown when it is heard, not when its bytes come.
    mutating func titleReached(_ id: PassID, _ title: SafeText, after frames: FrameCount) -> [PlayerEffect] {
        guard let place = passes.firstIndex(where: { $0.id == id }) else { return [] }
        if frames > 0, let segment = timeline.segments.last(where: { $0.pass == id }) {
            passes[place].comingTitles.append((segment.start + frames, title))
            return place == 0 ? showHeardTitle() : []
        }
        guard passes[place].streamTitle != title else { return [] }
        passes[place].streamTitle = title
        return place == 0 ? announce(passes[0]) : []
    }

    /// The newest title of which something was heard.
    mutating func showHeardTitle() -> [PlayerEffect] {
        guard let pass = passes.first, !pass.comingTitles.isEmpty else { return [] }
        let reached = pass.comingTitles.prefix { $0.frame < heard }
        guard let newest = reached.last else { return [] }
        passes[0].comingTitles.removeFirst(reached.count)
        guard pass.streamTitle != newest.text else { return [] }
        passes[0].streamTitle = newest.text
        return announce(passes[0])
    }

    /// Tells of each attempt that is waited for, once.
    mutating func loadWaits(_ id: PassID, _ wait: LoadWait?) -> [PlayerEffect] {
        guard id == passes.first?.id, let wait else { return [] }
        if let toldWait, toldWait.pass == id, toldWait.wait.attempt == wait.attempt,
            toldWait.wait.retryAt == wait.retryAt
        {
            return []
        }
        toldWait = (id, wait)
        let seconds = max(1, Int((wait.retryAt - now).seconds.rounded(.up)))
        let rest = SafeText("; trying again in \(seconds) s")
        let attempt = wait.nextAttempt.map { " (attempt " + $0 + ")" } ?? ""
        return [.emit(.remark(code: "reconnecting", message: wait.error.safeText + rest + attempt))]
    }

    mutating func networkChanged(_ report: ConnectivityReport) -> [PlayerEffect] {
        let before = connectivity
        connectivity = report
        guard before.isOffline != report.isOffline else { return [] }
        let message: SafeText
        if report.isOffline {
            let reason = report.reason.map { SafeText(": ") + $0.cause } ?? ""
            message = SafeText("the network is away") + reason + "; what is kept plays on"
        } else {
            message = "the network is back"
        }
        note(message)
        return [.emit(.remark(code: report.isOffline ? "offline" : "online", message: message))]
    }

    mutating func pinned(_ track: Track, _ isPinned: Bool) -> [PlayerEffect] {
        let name = track.tags.title ?? track.location.name
        let message =
            isPinned ? name + " stays in the cache, whatever its size" : name + " is no longer pinned"
        note(message)
        return [.emit(.remark(code: isPinned ? "pinned" : "unpinned", message: message))]
    }
}
