internal import Media

/// What can be done in the open view, with the keys that do it, while there is nothing else to say. Pure.
struct HintLine {
    private static func commands(in view: ViewName) -> [(UICommand, SafeText)] {
        let own: [(UICommand, SafeText)]
        switch view {
        case .queue:
            own = [
                (.playSelected, "play"), (.search(nil), "search"), (.filter(nil), "filter"),
                (.toggleMark, "mark"),
                (.removeSelected, "remove"),
            ]
        case .cache:
            own = [(.playSelected, "add to queue"), (.removeSelected, "delete"), (.pinSelected, "pin")]
        case .playing: own = [(.player(.toggle), "pause"), (.player(.pin(nil)), "pin")]
        case .network, .messages, .help: own = [(.selectBy(1), "down"), (.selectBy(-1), "up")]
        }
        let help: [(UICommand, SafeText)] = view == .help ? [] : [(.toggleHelp, "help")]
        let leave: (UICommand, SafeText) = view == .queue ? (.nextView(by: 1), "views") : (.back, "back")
        return help + own + [leave, (.player(.quit), "quit")]
    }

    /// As many as fit, each as key and word; what has no key is left out.
    static func parts(in view: ViewName, keyMap: KeyMap, columns: Int) -> [(key: SafeText, word: SafeText)] {
        var parts: [(key: SafeText, word: SafeText)] = []
        var end = 0
        for (command, word) in commands(in: view) {
            guard let key = keyMap.name(of: command), !parts.contains(where: { $0.key == key }) else {
                continue
            }
            end += key.columns + word.columns + (parts.isEmpty ? 1 : 4)
            guard end <= columns else { break }
            parts.append((key, word))
        }
        return parts
    }
}
