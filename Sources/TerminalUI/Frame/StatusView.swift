internal import Media

/// The player's state, volume, modes and network traffic in one line; a narrow window drops the last parts.
enum StatusView {
    static func draw(_ state: UIState, row: Int, into buffer: inout CellBuffer) {
        // The line of the answer is still being edited below.
        if state.typed != nil, let answer = state.answer, answer.isError {
            buffer.draw(answer.text, column: 0, row: row, style: answer.style)
            return
        }
        var column = 0
        for (index, text) in parts(of: state, buffer.glyphs).enumerated() {
            let start = index == 0 ? 0 : column + 2
            guard index == 0 || start + text.columns <= buffer.columns else { return }
            let style = index == 0 ? Style.normal : .dim
            column = buffer.draw(text, column: start, row: row, style: style)
        }
    }

    private static func parts(of state: UIState, _ glyphs: Glyphs) -> [SafeText] {
        let player = state.player
        var parts = [
            state.isLeaving
                ? "Quitting" + glyphs.more : waiting(player, glyphs) ?? glyphs.word(for: player.state)
        ]
        if player.connectivity.isOffline { parts.append("offline") }
        if !state.queue.marks.isEmpty { parts.append(SafeText("\(state.queue.marks.count) marked")) }
        if let filter = state.queue.filter { parts.append(SafeText("filter \(filter.text)")) }
        parts.append(player.isMuted ? "muted" : SafeText("vol \(player.volume)%"))
        if player.isShuffled { parts.append("shuffle") }
        if player.repeatMode != .off { parts.append(SafeText("repeat \(player.repeatMode.rawValue)")) }
        if let gain = gain(player) { parts.append(gain) }
        // The buffered time matters more than the network traffic, so it comes first.
        if player.buffered > .zero { parts.append(SafeText("buffer \(player.buffered.clockTime)")) }
        if let rate = player.load.bytesPerSecond, rate.isFinite, !player.load.inFlight.isEmpty {
            parts.append(SafeText("\(ByteText.text(Int64(max(0, min(rate, 1e15)))))/s"))
        }
        parts.append(glyphs.download + " " + SafeText(ByteText.text(player.totalFetchedBytes)))
        parts.append(SafeText("from cache \(ByteText.text(player.totalCachedBytes))"))
        return parts
    }

    /// The reason why playback waits: no audio server, or a failure to load, with the countdown to the next
    /// attempt. `nil` if it waits for neither.
    private static func waiting(_ player: PlayerSnapshot, _ glyphs: Glyphs) -> SafeText? {
        guard player.state == .opening || player.state == .buffering else { return nil }
        if player.isOutputLost { return "No sound server, waiting" }
        guard let wait = player.load.wait, let left = player.retryIn else { return nil }
        let seconds = Int(max(0, left.seconds).rounded(.up))
        let attempt = wait.nextAttempt.map { " (" + $0 + ")" } ?? ""
        let next = seconds > 0 ? SafeText("Retry in \(seconds) s") : "Retrying"
        return next + attempt + " " + glyphs.dot + " " + wait.error.reason
    }

    /// The gain mode and the gain of the current track; `nil` if gain is off.
    private static func gain(_ player: PlayerSnapshot) -> SafeText? {
        guard player.gainMode != .off else { return nil }
        let mode = "gain \(player.gainMode.rawValue)"
        guard let decibels = player.gainDecibels else { return SafeText(mode) }
        // One decimal, without Foundation's number formatting.
        let tenths = Int((min(abs(decibels), 99) * 10).rounded())
        return SafeText("\(mode) \(decibels < 0 ? "-" : "+")\(tenths / 10).\(tenths % 10) dB")
    }
}
