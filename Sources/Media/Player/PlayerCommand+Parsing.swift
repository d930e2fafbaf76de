extension PlayerCommand {
    /// Why a line is no command, worded for the listener.
    package struct ParseError: Error, Equatable, CustomStringConvertible {
        package var message: SafeText
        package var description: String { message.string }

        package init(message: SafeText) { self.message = message }
    }

    /// Parses one line, as typed after `:` or sent on standard input.
    ///
    /// Words are separated by spaces; `add` and `save` take the rest of the line as it is.
    package init(parsing line: some StringProtocol) throws(ParseError) {
        let words = String(line).split(maxSplits: 1, whereSeparator: \.isWhitespace)
        let name = words.first.map { String($0) } ?? ""
        let rest = words.count > 1 ? Self.trimmed(words[1]) : ""
        if let plain = Self.plain[name] {
            guard rest.isEmpty else { throw Self.error("\(name) takes nothing after it") }
            self = plain
            return
        }
        switch name {
        case "jump":
            guard let number = Int(rest), number >= 1 else {
                throw Self.error("jump takes the number of a track, from 1")
            }
            self = .jump(number)
        case "remove":
            guard let numbers = TrackNumbers(parsing: rest.split(separator: " ")) else {
                throw Self.error("remove takes numbers of tracks, from 1, as in 3 5-7")
            }
            self = .remove(numbers)
        case "pin":
            guard rest.isEmpty || Int(rest).map({ $0 >= 1 }) == true else {
                throw Self.error("pin takes the number of a track, from 1, or nothing for the current one")
            }
            self = .pin(Int(rest))
        case "move":
            let words = rest.split(separator: " ")
            guard let numbers = TrackNumbers(parsing: words.dropLast()),
                let target = words.last.flatMap({ Int($0) }), target >= 1
            else { throw Self.error("move takes numbers of tracks and the place for them, as in 5-7 1") }
            self = .move(numbers, to: target)
        case "shuffle":
            guard rest.isEmpty || rest == "now" else {
                throw Self.error("shuffle takes now, to put the queue itself in a random order, or nothing")
            }
            self = rest.isEmpty ? .shuffle : .shuffleNow
        case "sort":
            guard let key = SortKey(rawValue: rest) else {
                throw Self.error("sort takes title, artist, duration or source")
            }
            self = .sort(key)
        case "seek":
            guard let target = SeekTarget(parsing: rest) else {
                throw Self.error("seek takes +S, -S, M:SS, H:MM:SS or N%")
            }
            self = .seek(target)
        case "volume":
            guard let number = Int(rest), (-100...100).contains(number) else {
                throw Self.error("volume takes 0 to 100, +N or -N")
            }
            self = rest.hasPrefix("+") || rest.hasPrefix("-") ? .changeVolume(by: number) : .volume(number)
        case "repeat":
            guard rest.isEmpty || RepeatMode(rawValue: rest) != nil else {
                throw Self.error("repeat takes off, one or all")
            }
            self = .setRepeat(RepeatMode(rawValue: rest))
        case "gain":
            guard rest.isEmpty || GainMode(rawValue: rest) != nil else {
                throw Self.error("gain takes off, track or album")
            }
            self = .setGain(GainMode(rawValue: rest))
        case "add", "save":
            guard !rest.isEmpty else { throw Self.error("\(name) needs a file or URL after it") }
            self = name == "add" ? .add(rest) : .save(rest)
        case "":
            throw Self.error("there is no command in an empty line")
        default:
            throw Self.error("\(name) is no command")
        }
    }

    private static let plain: [String: PlayerCommand] = [
        "play": .play, "pause": .pause, "toggle": .toggle, "stop": .stop, "next": .next,
        "previous": .previous,
        "mute": .mute, "clear": .clear, "undo": .undo, "reload": .reload, "status": .status,
        "quit": .quit,
    ]

    private static func error(_ text: String) -> ParseError { ParseError(message: SafeText(text)) }

    private static func trimmed(_ text: Substring) -> String {
        var text = text
        while text.first?.isWhitespace == true { text.removeFirst() }
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text)
    }
}

extension SeekTarget {
    /// Parses `+S`, `-S`, `S`, `M:SS`, `H:MM:SS` (with or without a sign, seconds with a fraction or
    /// without) or `N%`; nil for anything else. Without a sign it is a place, with one a distance.
    package init?(parsing text: some StringProtocol) {
        if text.last == "%" {
            guard let percent = Double(plainDecimal: text.dropLast()), (0...100).contains(percent) else {
                return nil
            }
            self = .percent(percent)
            return
        }
        let sign = text.first
        let isRelative = sign == "+" || sign == "-"
        guard let time = Duration(clockTime: isRelative ? text.dropFirst() : text[...]) else { return nil }
        guard isRelative else {
            self = .to(time)
            return
        }
        self = .by(sign == "-" ? .zero - time : time)
    }
}

extension Double {
    /// Digits and at most one point; not `1e3`, `0x10` or `inf`, which `Double` would take too.
    fileprivate init?(plainDecimal text: some StringProtocol) {
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x2E }) else { return nil }
        self.init(String(text))
    }
}

extension Duration {
    /// Parses `S`, `M:SS` or `H:MM:SS`, the seconds with a fraction or without; nil for anything else.
    package init?(clockTime text: some StringProtocol) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard (1...3).contains(parts.count) else { return nil }
        // A sign belongs before the whole, so no part has one.
        guard parts.allSatisfy({ (0x30...0x39).contains($0.utf8.first ?? 0) }) else { return nil }
        var total = Duration.zero
        for (index, part) in parts.enumerated() {
            let isLast = index == parts.count - 1
            guard let value = isLast ? Double(plainDecimal: part) : Int(part).map(Double.init),
                (0..<1e7).contains(value),
                index == 0 || value < 60
            else { return nil }
            total = total * 60 + .seconds(value)
        }
        self = total
    }

    /// `M:SS`, or `H:MM:SS` from an hour on; the fraction is dropped.
    package var clockTime: String {
        let seconds = max(0, components.seconds)
        let padded = { (number: Int64) in number < 10 ? "0\(number)" : "\(number)" }
        let minutes = seconds / 60
        if minutes < 60 { return "\(minutes):\(padded(seconds % 60))" }
        return "\(minutes / 60):\(padded(minutes % 60)):\(padded(seconds % 60))"
    }
}
