internal import Media

/// The line that answers a command for the player. Pure: it is worded from the snapshot before the command.
enum CommandReply {
    /// An error if the player would refuse the command, which then need not be sent. `nil` if the player
    /// reports the result itself, or if a change of the snapshot shows it (`change(from:to:)`).
    static func answer(to command: PlayerCommand, in player: PlayerSnapshot, keys: KeyMap) -> CommandAnswer? {
        if command == .stopReading {
            return player.isReading ? .notice("Stopped reading") : .error("Nothing is being read")
        }
        let count = player.tracks.count
        // The player holds such commands back until the tracks are known.
        if count == 0, player.state == .opening { return nil }
        let undo = keys.name(of: .player(.undo)).map { " · " + $0 + " undo" } ?? ""
        switch command {
        case .undo, .add, .open, .stopReading, .stopAfter, .sleep, .save, .pin, .setPinned, .download,
            .changeDownloads, .setPosition, .setAhead, .setPlayed, .listDevices, .setDevice, .quit:
            return nil
        case .status: return .notice(time(of: player, glyphs: .unicode))
        case .volume(let percent):
            return unchanged(player.volume == percent && !player.isMuted, volume(percent))
        case .changeVolume(let change):
            let percent = max(0, min(100, player.volume + change))
            return unchanged(player.volume == percent && !player.isMuted, volume(percent))
        case .setShuffle(let isOn?): return unchanged(player.isShuffled == isOn, shuffled(isOn))
        case .setRepeat(let mode?): return unchanged(player.repeatMode == mode, repeated(mode))
        case .setGain(let mode?): return unchanged(player.gainMode == mode, gain(mode))
        case .mute, .setShuffle, .setRepeat, .setGain: return nil
        case _ where count == 0: return .error("The queue is empty")
        case .list: return .notice(SafeText("The queue has \(CountText.of(count, "track"))"))
        case .play: return .notice("Playing")
        case .pause: return isActive(player) ? .notice("Paused") : nothingPlays
        case .toggle:
            return .notice(isActive(player) && player.state != .paused ? "Paused" : "Playing")
        case .stop: return isActive(player) ? .notice("Stopped") : nothingPlays
        case .next: return .notice(next(of: player))
        case .previous: return .notice(player.previousRestarts ? "From the beginning" : "Previous track")
        case .jump(let number): return numbered(number, in: player) { "Track \(number)" }
        case .seek(let target):
            guard isActive(player) else { return nothingPlays }
            // The player refuses to seek in a live stream, and reports the reason.
            if player.load.live != nil {
                guard case .by = target, player.info?.isRewindable == true else { return nil }
            }
            if case .by(let distance) = target, let duration = player.duration,
                player.position + distance >= duration
            {
                return .notice(next(of: player))
            }
            return .notice(seek(target))
        case .chapter: return isActive(player) ? nil : nothingPlays
        case .reload:
            return isActive(player) ? .notice("Downloading this track again if it has changed") : nothingPlays
        case .remove(let numbers):
            return numbered(numbers.highest, in: player) {
                "Removed \(CountText.of(numbers.count, "track"))" + undo.string
            }
        case .move(let numbers, let target):
            return numbered(max(numbers.highest, target), in: player) {
                "Moved \(CountText.of(numbers.count, "track")) to position \(target)" + undo.string
            }
        case .playNext(let numbers, let point):
            let tracks = CountText.of(numbers.count, "track")
            return numbered(numbers.highest, in: player) {
                point == .track ? "Next: \(tracks)" : "After this album: \(tracks)"
            }
        case .sort(let key): return .notice(SafeText("Sorted by \(key.rawValue)") + undo)
        case .shuffleNow: return .notice(SafeText("Shuffled \(CountText.of(count, "track"))") + undo)
        case .clear: return .notice(SafeText("Cleared \(CountText.of(count, "track"))") + undo)
        case .clearOthers:
            let others = player.currentIndex == nil ? count : count - 1
            return others == 0
                ? .error("There are no other tracks")
                : .notice(SafeText("Cleared \(CountText.of(others, "track"))") + undo)
        }
    }

    /// The line for each setting that differs between two snapshots, for whatever reason.
    static func changes(from before: PlayerSnapshot, to now: PlayerSnapshot) -> [SafeText] {
        var lines: [SafeText] = []
        if before.volume != now.volume { lines.append(volume(now.volume)) }
        if before.isMuted != now.isMuted { lines.append(now.isMuted ? "Muted" : "Unmuted") }
        if before.isShuffled != now.isShuffled { lines.append(shuffled(now.isShuffled)) }
        if before.repeatMode != now.repeatMode { lines.append(repeated(now.repeatMode)) }
        if before.gainMode != now.gainMode { lines.append(gain(now.gainMode)) }
        return lines
    }

    /// The current position: `Playing 2 of 9: River – Reprise, 0:06 of 0:15`.
    static func time(of player: PlayerSnapshot, glyphs: Glyphs) -> SafeText {
        let state = player.state.rawValue
        let word = SafeText(state.prefix(1).uppercased() + state.dropFirst())
        guard let index = player.currentIndex, let name = QueueRow.currentName(in: player, glyphs: glyphs)
        else { return word }
        let time = (player.isExact ? "" : "about ") + player.position.clockTime
        let whole = player.duration.map { " of " + $0.clockTime } ?? ""
        return word + SafeText(" \(index + 1) of \(player.tracks.count): ") + name
            + SafeText(", \(time)\(whole)")
    }

    private static let nothingPlays = CommandAnswer.error("Nothing is playing")

    private static func isActive(_ player: PlayerSnapshot) -> Bool {
        switch player.state {
        case .opening, .playing, .paused, .buffering: true
        case .stopped, .ended: false
        }
    }

    private static func unchanged(_ isUnchanged: Bool, _ text: SafeText) -> CommandAnswer? {
        isUnchanged ? .notice(text) : nil
    }

    private static func numbered(
        _ number: Int,
        in player: PlayerSnapshot,
        _ text: () -> String
    ) -> CommandAnswer {
        guard (1...player.tracks.count).contains(number) else {
            return .error(SafeText("No track \(number) (there are \(player.tracks.count))"))
        }
        return .notice(SafeText(text()))
    }

    private static func volume(_ percent: Int) -> SafeText { SafeText("Volume \(percent) %") }

    private static func shuffled(_ isOn: Bool) -> SafeText { isOn ? "Shuffle on" : "Shuffle off" }

    private static func repeated(_ mode: RepeatMode) -> SafeText { SafeText("Repeat \(mode.rawValue)") }

    private static func gain(_ mode: GainMode) -> SafeText { SafeText("Gain \(mode.rawValue)") }

    private static func next(of player: PlayerSnapshot) -> SafeText {
        player.hasNext ? "Next track" : "End of the queue"
    }

    private static func seek(_ target: SeekTarget) -> SafeText {
        switch target {
        case .by(let distance) where distance < .zero: SafeText("Back " + span(.zero - distance))
        case .by(let distance): SafeText("Forward " + span(distance))
        case .to(let time): SafeText("To " + time.clockTime)
        case .percent(let share): SafeText("To \(Int(share.rounded())) %")
        }
    }

    private static func span(_ time: Duration) -> String {
        let seconds = time.components.seconds
        return seconds >= 60 && seconds % 60 == 0 ? "\(seconds / 60) min" : "\(seconds) s"
    }
}
