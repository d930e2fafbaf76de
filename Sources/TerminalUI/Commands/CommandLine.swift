package import Media

/// A line of text being edited, with the completion and the history of commands.
package struct CommandLine: Sendable {
    package enum Outcome: Sendable, Equatable {
        case editing
        case cancelled
        case entered(String)
        /// Completion needs the paths that begin with this text; pass them to `complete(_:with:)`.
        case wantsPaths(String)
        /// Completion needs the names of all themes; pass them to `complete(_:withThemes:)`.
        case wantsThemes(String)
        /// Completion needs the names of all sound devices; pass them to `complete(_:withDevices:)`.
        case wantsDevices(String)
    }

    /// The longest line by default: enough for a pasted list of URLs, and a limit for anything pasted by
    /// mistake.
    package static let longest = 65_536
    /// The most characters shown on one side of the cursor, more than fit into any window.
    static let longestShown = 1_000

    /// The most characters that the line takes.
    private let limit: Int
    // Two stacks, so that a key costs the same wherever the cursor is.
    private var before: [Character] = []
    /// The characters after the cursor, the last one first.
    private var after: [Character] = []
    /// The lines entered earlier, oldest first.
    private let history: [String]
    /// The index of the earlier line that is shown, or `history.count` while a new line is typed.
    private var place: Int
    /// The unfinished new line, saved while an earlier line is shown.
    private var draft = ""
    /// The candidates that `Tab`, and then `Up` and `Down`, cycle through until another key is pressed, and
    /// the one that is chosen.
    private var choices: (start: Int, candidates: [String], place: Int?)?

    package init(_ text: String = "", history: [String] = [], limit: Int = Self.longest) {
        self.history = history
        self.limit = limit
        place = history.count
        insert(text)
    }

    package var text: String { String(before) + String(after.reversed()) }

    /// The candidates for the word before the cursor, the best first, and the place of the one that `Tab` has
    /// chosen. Paths are listed only after `Tab`.
    var offer: (candidates: [String], place: Int?) {
        if let choices { return (choices.candidates, choices.place) }
        guard before.count <= Self.longestShown, case .words(let words) = completion.source else {
            return ([], nil)
        }
        return (words, nil)
    }

    /// The command whose argument is typed; `nil` while its name is typed or chosen.
    var command: CommandRow? {
        guard choices?.start != 0, let blank = before.firstIndex(where: \.isWhitespace) else { return nil }
        return CommandTable.row(named: String(before[..<blank]))
    }

    private var completion: CommandCompletion { CommandCompletion(of: String(before), after: history) }

    /// The number of characters before the cursor.
    package var cursor: Int { before.count }

    /// The text before and after the cursor, as much of each as a window can show.
    package var parts: (before: SafeText, after: SafeText) {
        (
            SafeText(String(before.suffix(Self.longestShown))),
            SafeText(String(after.suffix(Self.longestShown).reversed()))
        )
    }

    /// Applies one key; keys without a meaning here are ignored.
    package mutating func apply(_ key: Key) -> Outcome {
        let isMove = choices != nil && (key == .up || key == .down)
        if isMove || key == .tab || key == .backTab {
            return complete(backwards: key == .backTab || key == .up)
        }
        choices = nil
        switch key {
        case .character(let character): insert(String(character))
        case .enter: return .entered(text)
        case .escape, .control("c"), .control("g"): return .cancelled
        case .backspace, .control("h"):
            // Backspace in an empty line closes it, as in vi.
            guard !before.isEmpty || !after.isEmpty else { return .cancelled }
            _ = before.popLast()
        case .delete, .control("d"): _ = after.popLast()
        case .left, .control("b"): after += before.popLast().map { [$0] } ?? []
        case .right, .control("f"): before += after.popLast().map { [$0] } ?? []
        case .home, .control("a"):
            after += before.reversed()
            before = []
        case .end, .control("e"):
            before += after.reversed()
            after = []
        case .control("u"): before = []
        case .control("k"): after = []
        case .control("w"): removeWord()
        case .up, .control("p"): recall(-1)
        case .down, .control("n"): recall(1)
        case .control, .pageUp, .pageDown, .tab, .backTab, .function: break
        }
        return .editing
    }

    /// Inserts text at the cursor, as much as fits. Line breaks and tabs become spaces; other control
    /// characters are dropped.
    package mutating func insert(_ text: String) {
        let fitting = text.prefix(limit - before.count - after.count).compactMap { character -> Character? in
            if character.isWhitespace { return " " }
            return character.unicodeScalars.contains { $0.properties.generalCategory == .control }
                ? nil : character
        }
        before += fitting
    }

    /// Completes `word` with the paths that `wantsPaths` requested; ignored if the word before the cursor has
    /// changed since.
    package mutating func complete(_ word: String, with paths: [String]) {
        let completion = completion
        guard completion.source == .path(word: word) else { return }
        offer(paths.sorted(), from: completion.start)
    }

    /// Completes `word` with the names that `wantsThemes` requested; ignored like late paths.
    package mutating func complete(_ word: String, withThemes names: [String]) {
        let completion = completion
        guard completion.source == .theme(word: word) else { return }
        offer(names.filter { $0.hasPrefix(word) }, from: completion.start)
    }

    /// Completes `word` with the names that `wantsDevices` requested; ignored like late paths.
    package mutating func complete(_ word: String, withDevices names: [String]) {
        let completion = completion
        guard completion.source == .device(word: word) else { return }
        offer((names + ["default"]).filter { $0.hasPrefix(word) }, from: completion.start)
    }

    private mutating func complete(backwards: Bool) -> Outcome {
        if choices == nil {
            let completion = completion
            switch completion.source {
            case .nothing: return .editing
            case .path(let word): return .wantsPaths(word)
            case .theme(let word): return .wantsThemes(word)
            case .device(let word): return .wantsDevices(word)
            case .words(let words): choices = (completion.start, words, nil)
            }
        }
        choose(backwards: backwards)
        return .editing
    }

    /// Puts the next candidate into the line, or the one before.
    private mutating func choose(backwards: Bool) {
        guard var choices, !choices.candidates.isEmpty else { return }
        let count = choices.candidates.count
        let next = choices.place.map { ($0 + (backwards ? count - 1 : 1)) % count }
        choices.place = next ?? (backwards ? count - 1 : 0)
        put(choices.candidates[choices.place ?? 0], from: choices.start)
        // After the only candidate, `Tab` completes what follows it.
        self.choices = count == 1 ? nil : choices
    }

    /// Completes a path like a shell: first the common beginning, then one candidate after the other.
    private mutating func offer(_ candidates: [String], from start: Int) {
        choices = nil
        guard !candidates.isEmpty else { return }
        put(CommandCompletion.commonStart(candidates), from: start)
        if candidates.count > 1 { choices = (start, candidates, nil) }
    }

    private mutating func put(_ text: String, from start: Int) {
        before.removeSubrange(start...)
        insert(text)
    }

    /// Shows the line `step` places further in the history; after the newest one, the unfinished line.
    private mutating func recall(_ step: Int) {
        let target = place + step
        guard (0...history.count).contains(target) else { return }
        if place == history.count { draft = text }
        place = target
        before = []
        after = []
        insert(target < history.count ? history[target] : draft)
    }

    private mutating func removeWord() {
        while before.last == " " { before.removeLast() }
        while let last = before.last, last != " " { before.removeLast() }
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

/// The candidates for the word before the cursor.
private struct CommandCompletion: Equatable {
    enum Source: Equatable {
        case words([String])
        /// The folder must be read first; `word` is the beginning of the path.
        case path(word: String)
        case theme(word: String)
        case device(word: String)
        case nothing
    }

    /// The number of characters before the word that is completed.
    let start: Int
    let source: Source

    /// `history` has the lines entered earlier, oldest first: their commands come first.
    init(of typed: String, after history: [String]) {
        guard let blank = typed.firstIndex(where: \.isWhitespace) else {
            start = 0
            source = .words(Self.names(matching: typed, after: history))
            return
        }
        let word = typed[blank...].drop(while: \.isWhitespace)
        start = typed.count - word.count
        switch CommandTable.row(named: String(typed[..<blank]))?.completion {
        case .words(let words):
            source = .words(words.filter { $0.hasPrefix(word) } + words.filter { Self.hasGaps(word, $0) })
        case .path: source = word.contains("://") ? .nothing : .path(word: String(word))
        case .theme: source = .theme(word: String(word))
        case .device: source = .device(word: String(word))
        case .other, .some(.none), nil: source = .nothing
        }
    }

    /// The names of the commands that begin with `typed`, then of those that have its letters in this order;
    /// of each, first the ones that were entered, newest first. A blank follows the name if an argument can.
    private static func names(matching typed: String, after history: [String]) -> [String] {
        let rows = CommandTable.rows.filter { $0.reach != .lines }
        let names = Set(rows.map(\.name))
        var entered: [String] = []
        for line in history.reversed() {
            guard let name = line.split(whereSeparator: \.isWhitespace).first.map(String.init),
                names.contains(name), !entered.contains(name)
            else { continue }
            entered.append(name)
        }
        let recent = Set(entered)
        let ordered = entered + names.subtracting(recent).sorted()
        let matching = ordered.filter { $0.hasPrefix(typed) } + ordered.filter { hasGaps(typed, $0) }
        let plain = Set(rows.filter { $0.completion == .none }.map(\.name))
        return matching.map { plain.contains($0) ? $0 : $0 + " " }
    }

    /// `true` if `name` has the letters of `typed` in this order, but does not begin with them.
    private static func hasGaps(_ typed: some StringProtocol, _ name: String) -> Bool {
        var rest = typed[...]
        for letter in name where letter == rest.first { rest.removeFirst() }
        return rest.isEmpty && !name.hasPrefix(typed)
    }

    static func commonStart(_ candidates: [String]) -> String {
        guard var common = candidates.first else { return "" }
        for candidate in candidates.dropFirst() {
            common = String(zip(common, candidate).prefix { $0 == $1 }.map(\.0))
        }
        return common
    }
}
