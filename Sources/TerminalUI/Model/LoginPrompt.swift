internal import Media

/// A user name and a password while they are typed, for a server that asks for them. Pure.
///
/// What is typed stays here until it is answered: it enters no history, and the password is only shown as
/// bullets.
struct LoginPrompt: Sendable {
    private enum Step: Sendable {
        case user
        case password(user: String)
        /// The log-in is complete; the next key says if it is kept.
        case keep(WebURL.UserInfo)
    }

    /// The most characters of a name or a password.
    private static let longest = 1_024

    let question: LoginQuestion
    private var step = Step.user
    private var line = CommandLine(limit: Self.longest)

    init(_ question: LoginQuestion) { self.question = question }

    /// The server that asks and, without encryption, a warning; last its own words, which may be cut off.
    var text: SafeText {
        let verb: SafeText = question.isRefused ? " refused the log-in" : " wants a log-in"
        let warning: SafeText =
            question.isEncrypted ? "" : " – not encrypted: others on the way can read the password"
        let realm: SafeText = question.realm.isEmpty ? "" : " – for “" + question.realm + "”"
        return SafeText(question.origin) + verb + warning + realm
    }

    /// The label, and the line without secrets.
    var shown: (sign: SafeText, line: CommandLine) {
        switch step {
        case .user: return ("User name: ", line)
        case .password:
            var bullets = CommandLine(String(repeating: "•", count: line.text.count))
            for _ in line.cursor..<line.text.count { _ = bullets.apply(.left) }
            return ("Password: ", bullets)
        case .keep: return ("Enter: until you quit   k: keep it in a file   Esc: cancel ", CommandLine())
        }
    }

    /// Applies a key; returns the answer once it is complete.
    mutating func apply(_ key: Key) -> LoginAnswer? {
        if case .keep(let login) = step {
            switch key {
            case .enter: return .login(login, isKept: false)
            case .character("k"), .character("K"): return .login(login, isKept: true)
            case .escape, .control("c"), .control("g"): return .declined
            default: return nil
            }
        }
        // There is nothing to complete.
        guard key != .tab, key != .backTab else { return nil }
        switch line.apply(key) {
        case .editing, .wantsPaths, .wantsThemes, .wantsDevices: return nil
        case .cancelled: return .declined
        case .entered(let text): return entered(text)
        }
    }

    private mutating func entered(_ text: String) -> LoginAnswer? {
        switch step {
        case .user where text.isEmpty: return nil
        case .user:
            step = .password(user: text)
            line = CommandLine(limit: Self.longest)
        case .password(let user):
            let login = WebURL.UserInfo(user: user, password: text)
            guard question.canBeKept else { return .login(login, isKept: false) }
            step = .keep(login)
            line = CommandLine()
        case .keep: break
        }
        return nil
    }

    /// Inserts pasted text without the line break that a copied line often ends with.
    mutating func paste(_ text: String) {
        if case .keep = step { return }
        line.insert(text.filter { !$0.isNewline })
    }
}
