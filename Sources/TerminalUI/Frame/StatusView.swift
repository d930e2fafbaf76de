internal import Media

/// The player's state, volume and modes in one line, and in its right corner the first that fits of: until
/// when the music plays without the network, the rate of the download, the legend of the bar. In a wide
/// window the legend stands beside the others.
///
/// A narrow window drops the traffic of the session, then the legend, then the last parts.
enum StatusView {
    /// A part of the line, and its place.
    private struct Part {
        var text: SafeText
        var columns: Range<Int>
    }

    /// A wider window has three blanks between the parts, and a bar for the volume.
    private static let leastForAir = 100
    /// The cells of the bar for the volume.
    private static let volumeCells = 10

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
            NoticeView.draw(
                answer.text,
                rows: rows,
                columns: state.layout.inner,
                style: answer.style,
                into: &buffer
            )
            return
        }
        let glyphs = buffer.glyphs
        let (parts, corner, legend) = places(of: state, timeOfDay, glyphs)
        for (index, part) in parts.enumerated() {
            let style = index == 0 ? Style.normal : .dim
            buffer.draw(part.text, column: part.columns.lowerBound, row: row, style: style)
        }
        if let corner { buffer.draw(corner.text, column: corner.columns.lowerBound, row: row) }
        if let legend { BarLegend.draw(at: legend, row: row, into: &buffer) }
        let player = state.player
        let volume = volume(of: state, glyphs)
        guard let place = parts.first(where: { $0.text == volume })?.columns, place.count > 10,
            !player.isMuted
        else { return }
        // The filled cells are brighter.
        for cell in 0..<filledCells(player) {
            buffer.restyle(column: place.lowerBound + 4 + cell, row: row, style: .normal)
        }
    }

    /// The columns of the volume in the status row; `nil` if the window is too narrow for it.
    static func volumeColumns(in state: UIState) -> Range<Int>? {
        let volume = volume(of: state, .unicode)
        // All times of day, and the symbols of both sets, have the same width.
        return places(of: state, { _ in "00:00:00" }, .unicode).parts.first { $0.text == volume }?.columns
    }

    /// The parts that fit into the window, the text in the right corner, and the column of the legend.
    private static func places(
        of state: UIState,
        _ timeOfDay: (Duration) -> SafeText,
        _ glyphs: Glyphs
    ) -> (parts: [Part], corner: Part?, legend: Int?) {
        let columns = state.layout.inner
        let gap = state.layout.columns >= leastForAir ? 3 : 2
        func place(_ texts: [SafeText], before end: Int) -> [Part] {
            var parts: [Part] = []
            for text in texts {
                let start = parts.last.map { $0.columns.upperBound + gap } ?? columns.lowerBound
                guard parts.isEmpty || start + text.columns <= end else { break }
                parts.append(Part(text: text, columns: start..<start + text.columns))
            }
            return parts
        }
        func end(_ parts: [Part]) -> Int { parts.last?.columns.upperBound ?? 0 }
        let (first, more) = parts(of: state, glyphs)
        let firstEnd = end(place(first, before: columns.upperBound))
        // Views without a list have the rate at the top.
        let hasRate =
            state.layout.tabRow != nil
            && state.lists.current.amounts(in: state.context, glyphs: glyphs).isEmpty
        let corner = [offlineTime(state.player, timeOfDay), hasRate ? nil : rate(state.player, glyphs)].lazy
            .compactMap { $0 }.first { firstEnd + gap + $0.columns <= columns.upperBound }
            .map { Part(text: $0, columns: columns.upperBound - $0.columns..<columns.upperBound) }
        let room = corner.map { $0.columns.lowerBound - gap } ?? columns.upperBound
        let legend = room - BarLegend.width
        let hasLegend =
            state.player.load.length != nil
            && end(place(first + more, before: columns.upperBound)) + gap <= legend
        let all = first + more + totals(of: state.player, glyphs)
        return (place(all, before: hasLegend ? legend - gap : room), corner, hasLegend ? legend : nil)
    }

    /// `vol 80%`, in a wide window with a bar.
    private static func volume(of state: UIState, _ glyphs: Glyphs) -> SafeText {
        let player = state.player
        guard !player.isMuted else { return "muted" }
        guard state.layout.columns >= leastForAir else { return SafeText("vol \(player.volume)%") }
        let filled = filledCells(player)
        let bar =
            String(repeating: glyphs.volume(isFilled: true).string, count: filled)
            + String(repeating: glyphs.volume(isFilled: false).string, count: volumeCells - filled)
        return SafeText("vol \(bar) \(player.volume)%")
    }

    private static func filledCells(_ player: PlayerSnapshot) -> Int {
        (player.volume * volumeCells + 50) / 100
    }

    /// The parts that go before what stands in the corner, and those that go after it.
    private static func parts(of state: UIState, _ glyphs: Glyphs) -> (first: [SafeText], more: [SafeText]) {
        let player = state.player
        var first = [
            state.isLeaving
                ? "Quitting" + glyphs.more : waiting(player, glyphs) ?? glyphs.word(for: player.state)
        ]
        if player.isReading {
            let key = state.backStopsReading ? state.keyMap.name(of: .back) : nil
            // A long name leaves room for the key.
            let name =
                player.awaitedSource.map { " " + $0.cut(toColumns: 30, ellipsis: glyphs.ellipsis) } ?? ""
            first.append("reading" + name + (key.map { " (" + $0 + " stops)" } ?? ""))
        }
        if let slow = slowLine(player) { first.append(slow) }
        if player.connectivity.isOffline { first.append("offline") }
        if !state.queue.marks.isEmpty { first.append(SafeText("\(state.queue.marks.count) marked")) }
        if let filter = state.queue.filter { first.append(SafeText("filter \(filter.text)")) }
        first.append(volume(of: state, glyphs))
        var more: [SafeText] = []
        if player.isShuffled { more.append("shuffle") }
        if player.repeatMode != .off { more.append(SafeText("repeat \(player.repeatMode.rawValue)")) }
        if let sleep = player.sleep {
            let after = sleep.point.map { " after \($0.rawValue)" } ?? ""
            more.append(SafeText("sleep" + after + (sleep.left.map { " " + $0.clockTime } ?? "")))
        } else if let point = player.stopPoint {
            more.append(SafeText("stops after \(point.rawValue)"))
        }
        if let gain = gain(player) { more.append(gain) }
        if player.buffered > .zero { more.append(SafeText("buffer \(player.buffered.clockTime)")) }
        return (first, more)
    }

    /// `↓ 412 kB/s` while something is downloaded, unless the line is slow.
    private static func rate(_ player: PlayerSnapshot, _ glyphs: Glyphs) -> SafeText? {
        guard slowLine(player) == nil, let rate = player.load.bytesPerSecond, !player.load.inFlight.isEmpty
        else { return nil }
        return glyphs.download + " " + SafeText(SizeText.rate(rate))
    }

    /// The traffic of the session.
    private static func totals(of player: PlayerSnapshot, _ glyphs: Glyphs) -> [SafeText] {
        [
            SafeText("fetched \(SizeText.text(player.totalFetchedBytes))"),
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
