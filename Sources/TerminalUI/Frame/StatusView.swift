internal import Media

/// The player's state, volume, modes and network traffic in one line, with the legend of the bar at the
/// right. A narrow window drops the traffic of the session, then the legend, then the last parts.
enum StatusView {
    /// `timeOfDay` is that of `ScreenView`.
    static func draw(
        _ state: UIState,
        timeOfDay: (Duration) -> SafeText,
        row: Int,
        into buffer: inout CellBuffer
    ) {
        // The bottom row shows the line being edited, so the answer to it takes the place of the status.
        if state.typed != nil, let answer = state.answer {
            let rows = (state.layout.barRows.last ?? row)...row
            NoticeView.draw(answer.text, rows: rows, style: answer.style, into: &buffer)
            return
        }
        var column = 0
        for (index, part) in places(of: state, timeOfDay, buffer.glyphs).enumerated() {
            let style = index == 0 ? Style.normal : .dim
            column = buffer.draw(part.text, column: part.columns.lowerBound, row: row, style: style)
        }
        if state.player.load.length != nil { BarLegend.draw(from: column + gap, row: row, into: &buffer) }
    }

    /// The columns before the legend.
    private static let gap = 3
    /// A narrower window has no room for the traffic beside the legend.
    private static let leastForLegend = 100

    /// The columns of the volume in the status row; `nil` if the window is too narrow for it.
    static func volumeColumns(in state: UIState) -> Range<Int>? {
        // All times of day have the same width.
        places(of: state, { _ in "00:00:00" }, .unicode).first { $0.text == volume(state.player) }?.columns
    }

    /// The parts that fit into the window, and their columns.
    private static func places(
        of state: UIState,
        _ timeOfDay: (Duration) -> SafeText,
        _ glyphs: Glyphs
    ) -> [(text: SafeText, columns: Range<Int>)] {
        var places: [(text: SafeText, columns: Range<Int>)] = []
        let parts = parts(of: state, timeOfDay, glyphs)
        let columns = state.layout.columns
        let isExplained = state.player.load.length != nil && columns >= leastForLegend
        let endOfTotals = isExplained ? columns - BarLegend.width - gap : columns
        for (index, text) in (parts + totals(of: state.player, glyphs)).enumerated() {
            let start = places.last.map { $0.columns.upperBound + 2 } ?? 0
            let end = index < parts.count ? columns : endOfTotals
            guard index == 0 || start + text.columns <= end else { break }
            places.append((text, start..<start + text.columns))
        }
        return places
    }

    private static func volume(_ player: PlayerSnapshot) -> SafeText {
        player.isMuted ? "muted" : SafeText("vol \(player.volume)%")
    }

    private static func parts(
        of state: UIState,
        _ timeOfDay: (Duration) -> SafeText,
        _ glyphs: Glyphs
    ) -> [SafeText] {
        let player = state.player
        var parts = [
            state.isLeaving
                ? "Quitting" + glyphs.more : waiting(player, glyphs) ?? glyphs.word(for: player.state)
        ]
        if player.isReading {
            let key = state.backStopsReading ? state.keyMap.name(of: .back) : nil
            // A long name leaves room for the key.
            let name =
                player.awaitedSource.map { " " + $0.cut(toColumns: 30, ellipsis: glyphs.ellipsis) } ?? ""
            parts.append("reading" + name + (key.map { " (" + $0 + " stops)" } ?? ""))
        }
        let slow = slowLine(player)
        if let slow { parts.append(slow) }
        if player.connectivity.isOffline { parts.append("offline") }
        if let offline = offlineTime(player, timeOfDay) { parts.append(offline) }
        if !state.queue.marks.isEmpty { parts.append(SafeText("\(state.queue.marks.count) marked")) }
        if let filter = state.queue.filter { parts.append(SafeText("filter \(filter.text)")) }
        parts.append(volume(player))
        if player.isShuffled { parts.append("shuffle") }
        if player.repeatMode != .off { parts.append(SafeText("repeat \(player.repeatMode.rawValue)")) }
        if let point = player.stopPoint { parts.append(SafeText("stops after \(point.rawValue)")) }
        if let gain = gain(player) { parts.append(gain) }
        // The buffered time matters more than the network traffic, so it comes first.
        if player.buffered > .zero { parts.append(SafeText("buffer \(player.buffered.clockTime)")) }
        if slow == nil, let rate = player.load.bytesPerSecond, !player.load.inFlight.isEmpty {
            parts.append(SafeText(SizeText.rate(rate)))
        }
        return parts
    }

    /// The traffic of the session.
    private static func totals(of player: PlayerSnapshot, _ glyphs: Glyphs) -> [SafeText] {
        [
            glyphs.download + " " + SafeText(SizeText.text(player.totalFetchedBytes)),
            SafeText("from cache \(SizeText.text(player.totalCachedBytes))"),
        ]
    }

    /// The reason why playback waits: no audio server, or a failure to load, with the countdown to the next
    /// attempt. `nil` if it waits for neither.
    private static func waiting(_ player: PlayerSnapshot, _ glyphs: Glyphs) -> SafeText? {
        guard player.state == .opening || player.state == .buffering else { return nil }
        if player.isOutputLost { return "No sound server, waiting" }
        guard let wait = player.load.wait, let left = player.retryIn else { return nil }
        let seconds = Int(max(0, left.seconds).rounded(.up))
        let next = seconds > 0 ? SafeText("Retry in \(seconds) s") : "Retrying"
        return next + " " + glyphs.dot + " " + wait.error.reason
    }

    /// `offline until 18:42` while the music plays, if that is within a day; else `offline for 1:42:00`. `~`
    /// says that a length is an estimate. `nil` if nothing is downloaded ahead.
    private static func offlineTime(_ player: PlayerSnapshot, _ timeOfDay: (Duration) -> SafeText)
        -> SafeText?
    {
        guard let offline = player.offlineTime else { return nil }
        let sign = offline.isEstimate ? "~" : ""
        guard player.state == .playing, offline.left < .seconds(86_400) else {
            return SafeText("offline for \(sign)\(offline.left.clockTime)")
        }
        // Without the seconds.
        return SafeText("offline until \(sign)\(timeOfDay(offline.end).string.prefix(5))")
    }

    /// Both rates while the line is slower than the music; otherwise `nil`.
    private static func slowLine(_ player: PlayerSnapshot) -> SafeText? {
        guard let line = player.load.bytesPerSecond, let music = player.info?.bytesPerSecond, line < music,
            !player.load.inFlight.isEmpty
        else { return nil }
        return SafeText("line \(SizeText.rate(line)), music \(SizeText.rate(music))")
    }

    /// The gain mode and the gain of the current track; `nil` if gain is off.
    private static func gain(_ player: PlayerSnapshot) -> SafeText? {
        guard player.gainMode != .off else { return nil }
        let mode = "gain \(player.gainMode.rawValue)"
        return SafeText(mode) + (Fact.gain(player).map { " " + $0 } ?? "")
    }
}
