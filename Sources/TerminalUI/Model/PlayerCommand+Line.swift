internal import Media

extension PlayerCommand {
    /// The command as it is typed; `PlayerCommand(parsing:)` gives it back.
    var line: String {
        switch self {
        case .play: "play"
        case .pause: "pause"
        case .toggle: "toggle"
        case .stop: "stop"
        case .next: "next"
        case .previous: "previous"
        case .jump(let number): "jump \(number)"
        case .seek(let target): "seek \(target.text)"
        case .volume(let percent): "volume \(percent)"
        case .changeVolume(let change): "volume \(change < 0 ? "" : "+")\(change)"
        case .mute: "mute"
        case .shuffle: "shuffle"
        case .shuffleNow: "shuffle now"
        case .setRepeat(let mode): mode.map { "repeat \($0.rawValue)" } ?? "repeat"
        case .setGain(let mode): mode.map { "gain \($0.rawValue)" } ?? "gain"
        case .add(let source): "add \(source)"
        case .remove(let tracks): "remove \(tracks.text)"
        case .move(let tracks, let target): "move \(tracks.text) \(target)"
        case .sort(let key): "sort \(key.rawValue)"
        case .undo: "undo"
        case .clear: "clear"
        case .save(let path): "save \(path)"
        case .reload: "reload"
        case .pin(let number): number.map { "pin \($0)" } ?? "pin"
        case .status: "status"
        case .quit: "quit"
        }
    }
}

extension TrackNumbers {
    fileprivate var text: String {
        places.ranges.map { range in
            range.count == 1 ? "\(range.upperBound)" : "\(range.lowerBound + 1)-\(range.upperBound)"
        }.joined(separator: " ")
    }
}

extension SeekTarget {
    fileprivate var text: String {
        switch self {
        case .by(let distance):
            (distance < .zero ? "-" : "+") + seconds(distance < .zero ? .zero - distance : distance)
        case .to(let time): seconds(time)
        case .percent(let share): Self.decimal(share) + "%"
        }
    }

    private func seconds(_ time: Duration) -> String { Self.decimal(time / .seconds(1)) }

    private static func decimal(_ number: Double) -> String {
        number == number.rounded() ? String(Int(number)) : String(number)
    }
}
