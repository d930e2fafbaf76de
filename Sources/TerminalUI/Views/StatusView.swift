internal import Media

/// State, volume, network and modes in one line; the least needed words fall off at its end.
struct StatusView {
    var glyphs: Glyphs

    func draw(_ state: UIState, row: Int, into buffer: inout CellBuffer) {
        var column = 0
        for (index, text) in parts(of: state).enumerated() {
            let start = index == 0 ? 0 : column + 2
            guard index == 0 || start + text.columns <= buffer.columns else { return }
            let style = index == 0 ? Style.normal : .dim
            column = buffer.draw(text, column: start, row: row, style: style, ellipsis: glyphs.ellipsis)
        }
    }

    /// Why nothing is heard, counting down to the next attempt; nil while there is nothing of that kind to say.
    private func waiting(_ player: PlayerSnapshot) -> SafeText? {
        guard player.state == .opening || player.state == .buffering, let wait = player.load.wait,
            let left = player.retryIn
        else { return nil }
        let seconds = Int(max(0, left.seconds).rounded(.up))
        let attempt = wait.nextAttempt.map { " (" + $0 + ")" } ?? ""
        let next = seconds > 0 ? "again in \(seconds) s" : "trying again"
        return SafeText(next) + attempt + ": " + wait.error.cause
    }

    /// How the track is made as loud as others; nil while nothing of that kind is wanted.
    private func gain(_ player: PlayerSnapshot) -> SafeText? {
        guard player.gainMode != .off else { return nil }
        let mode = "gain \(player.gainMode.rawValue)"
        guard let decibels = player.gainDecibels else { return SafeText(mode) }
        // One digit behind the point, without the machinery of formatted numbers.
        let tenths = Int((min(abs(decibels), 99) * 10).rounded())
        return SafeText("\(mode) \(decibels < 0 ? "-" : "+")\(tenths / 10).\(tenths % 10) dB")
    }

    private func parts(of state: UIState) -> [SafeText] {
        let player = state.player
        var parts = [state.isLeaving ? "Quitting" + glyphs.more : glyphs.word(for: player.state)]
        if let waiting = waiting(player), !state.isLeaving { parts[0] = parts[0] + " " + waiting }
        if player.connectivity.isOffline { parts.append("offline") }
        if !state.queue.marks.isEmpty { parts.append(SafeText("\(state.queue.marks.count) marked")) }
        if let filter = state.queue.filter { parts.append(SafeText("filter \(filter.text)")) }
        parts.append(player.isMuted ? "muted" : SafeText("vol \(player.volume)%"))
        if player.isShuffled { parts.append("shuffle") }
        switch player.repeatMode {
        case .off: break
        case .one: parts.append("repeat one")
        case .all: parts.append("repeat all")
        }
        if let gain = gain(player) { parts.append(gain) }
        // How long the music goes on without the network comes before all that is known of the network.
        if player.buffered > .zero { parts.append(SafeText("ahead \(player.buffered.clockTime)")) }
        if let rate = player.load.bytesPerSecond, rate.isFinite, !player.load.inFlight.isEmpty {
            parts.append(SafeText("\(ByteText.text(Int64(max(0, min(rate, 1e15)))))/s"))
        }
        parts.append(SafeText("net \(ByteText.text(player.totalFetchedBytes))"))
        parts.append(SafeText("cache \(ByteText.text(player.totalCachedBytes))"))
        return parts
    }
}
