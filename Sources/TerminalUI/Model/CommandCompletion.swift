/// What `Tab` finds for the word before the cursor.
struct CommandCompletion: Sendable, Equatable {
    enum Source: Sendable, Equatable {
        case words([String])
        /// The names in a folder must be read; the word is what was typed of the path.
        case path(word: String)
        case nothing
    }

    /// How many characters of the line stand before the word that is completed.
    let start: Int
    let source: Source

    init(of typed: String) {
        let blank = typed.firstIndex(where: \.isWhitespace)
        guard let blank else {
            start = 0
            source = .words(
                UICommand.arguments.filter { $0.key.hasPrefix(typed) }
                    .map { $0.value == .none ? $0.key : $0.key + " " }.sorted()
            )
            return
        }
        let word = typed[blank...].drop(while: \.isWhitespace)
        start = typed.count - word.count
        switch UICommand.arguments[String(typed[..<blank])] {
        case .words(let words): source = .words(words.filter { $0.hasPrefix(word) })
        case .path: source = word.contains("://") ? .nothing : .path(word: String(word))
        case .other, .some(.none), nil: source = .nothing
        }
    }

    /// What all `candidates` begin with.
    static func commonStart(_ candidates: [String]) -> String {
        guard var common = candidates.first else { return "" }
        for candidate in candidates.dropFirst() {
            common = String(zip(common, candidate).prefix { $0 == $1 }.map(\.0))
        }
        return common
    }
}
