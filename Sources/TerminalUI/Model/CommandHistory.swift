/// The lines that were entered behind `:`, and where among them the listener looks.
package struct CommandHistory: Sendable, Equatable {
    /// More than anybody goes back through key by key.
    package static let most = 500

    /// Oldest first.
    package private(set) var lines: [String]
    /// The place that is looked at; nil for the line that is typed.
    private var place: Int?
    /// What was typed before looking.
    private var draft = ""

    package init(_ lines: [String] = []) { self.lines = Array(lines.suffix(Self.most)) }

    /// The line before the one looked at; nil where there is none.
    mutating func older(than typed: String) -> String? {
        guard let target = place.map({ $0 - 1 }) ?? lines.indices.last, target >= 0 else { return nil }
        if place == nil { draft = typed }
        place = target
        return lines[target]
    }

    /// The line after the one looked at, at last what was typed; nil while nothing is looked at.
    mutating func newer() -> String? {
        guard let place else { return nil }
        guard place + 1 < lines.count else {
            self.place = nil
            return draft
        }
        self.place = place + 1
        return lines[place + 1]
    }

    /// The looking is over.
    mutating func rewind() { place = nil }

    /// Adds a line that was entered, unless it is the last one again.
    package mutating func add(_ line: String) {
        rewind()
        guard lines.last != line else { return }
        lines.append(line)
        if lines.count > Self.most { lines.removeFirst() }
    }

    /// Whether a line may be written down: it names no user of a server, and so no password.
    package static func mayBeKept(_ line: String) -> Bool {
        var rest = line[...]
        while let colon = rest.firstRange(of: "://") {
            let authority = rest[colon.upperBound...].prefix { !"/?#".contains($0) && !$0.isWhitespace }
            if authority.contains("@") { return false }
            rest = rest[colon.upperBound...]
        }
        return true
    }
}
