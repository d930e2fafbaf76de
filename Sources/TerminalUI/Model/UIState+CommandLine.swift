internal import Media

// What is typed behind `:`, and what is pasted.
extension UIState {
    /// More lines at once are a slip of the hand.
    private static let mostPastedLines = 1_000

    mutating func edit(_ key: Key) -> [UIAction] {
        switch commandLine?.apply(key) {
        case .entered(let line):
            commandLine = nil
            return enter(line)
        case .wantsPaths(let word): return [.listPaths(word)]
        case .cancelled: commandLine = nil
        case .editing, nil: break
        }
        return []
    }

    private mutating func enter(_ line: String) -> [UIAction] {
        guard !line.allSatisfy(\.isWhitespace) else { return [] }
        // A mistyped line can be mended, in this session.
        history.add(line)
        do {
            let actions = run(try UICommand(parsing: line))
            return CommandHistory.maySave(line) ? [.remember(line)] + actions : actions
        } catch {
            let help = error.isUnknownName ? keyMap.name(of: .toggleHelp) : nil
            answer = Answer(
                text: error.message + (help.map { " (" + $0 + " lists them)" } ?? ""),
                isError: true
            )
            return []
        }
    }

    /// Pasted text is never taken for keys. Without a command line it is what is to be played.
    mutating func paste(_ text: String) -> [UIAction] {
        guard commandLine == nil else {
            commandLine?.insert(text)
            return []
        }
        let lines = text.split(whereSeparator: \.isNewline).compactMap { line in
            let line = line.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            return line.isEmpty || line.hasPrefix("#") ? nil : line
        }
        guard lines.count <= Self.mostPastedLines else {
            answer = Answer(text: "too many lines were pasted; save them as a playlist", isError: true)
            return []
        }
        return lines.map { .send(.add($0)) }
    }
}
