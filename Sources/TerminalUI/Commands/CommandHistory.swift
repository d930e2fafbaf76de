/// The command lines entered so far, and the one that Up and Down have brought back.
package struct CommandHistory: Sendable, Equatable {
    /// The most lines, more than anyone steps through key by key.
    package static let most = 500

    /// Oldest first.
    package private(set) var lines: [String]
    /// The line that is shown again; `nil` while a new one is typed.
    private var place: Int?
    /// The new line, as far as it was typed before an old one was shown.
    private var draft = ""

    package init(_ lines: [String] = []) { self.lines = Array(lines.suffix(Self.most)) }

    /// Steps to the previous line; `nil` at the oldest. `typed` is restored after the newest one.
    mutating func older(than typed: String) -> String? {
        guard let target = place.map({ $0 - 1 }) ?? lines.indices.last, target >= 0 else { return nil }
        if place == nil { draft = typed }
        place = target
        return lines[target]
    }

    /// Steps to the next line, and after the newest one to the unfinished line; `nil` if that is already
    /// shown.
    mutating func newer() -> String? {
        guard let place else { return nil }
        guard place + 1 < lines.count else {
            self.place = nil
            return draft
        }
        self.place = place + 1
        return lines[place + 1]
    }

    /// Adds an entered line, unless it repeats the last one.
    package mutating func add(_ line: String) {
        place = nil
        guard lines.last != line else { return }
        lines.append(line)
        if lines.count > Self.most { lines.removeFirst() }
    }

    /// `true` if a line may be saved: no URL in it names a user, so it holds no password.
    package static func maySave(_ line: String) -> Bool {
        var rest = line[...]
        while let colon = rest.firstRange(of: "://") {
            let authority = rest[colon.upperBound...].prefix { !"/?#".contains($0) && !$0.isWhitespace }
            if authority.contains("@") { return false }
            rest = rest[colon.upperBound...]
        }
        return true
    }
}
