import Media

/// The user names and passwords that the player keeps, in the form of `.netrc` (curl(1), `--netrc-file`).
///
/// The player writes the origin of a server for its machine: a password that was given for `https` is not
/// sent to the same host without it, nor to another port. A plain host, as in `.netrc`, stands for all its
/// origins. The user's own `.netrc` is read by libcurl, and never written.
struct NetrcFile: Sendable, Equatable {
    private struct Entry: Sendable, Equatable {
        /// An origin or a host.
        var machine: String
        var login = WebURL.UserInfo(user: "", password: "")
    }

    private var entries: [Entry] = []

    init() {}

    /// Returns `nil` if `text` does not have the form of the file, or has macros.
    init?(parsing text: String) {
        guard let words = Self.words(of: text) else { return nil }
        var rest = words[...]
        while let word = rest.popFirst() {
            // Entries for all other machines are not for a file that names each server.
            if word == "default" {
                entries.append(Entry(machine: ""))
                continue
            }
            guard let value = rest.popFirst() else { return nil }
            switch word {
            case "machine": entries.append(Entry(machine: value))
            case "login" where !entries.isEmpty: entries[entries.count - 1].login.user = value
            case "password" where !entries.isEmpty: entries[entries.count - 1].login.password = value
            case "account": break
            default: return nil
            }
        }
    }

    /// The words between blanks and line breaks, without comments; `nil` if a quotation has no end.
    private static func words(of text: String) -> [String]? {
        var words: [String] = []
        var rest = Substring(text)
        while let first = rest.first {
            if first.isWhitespace {
                rest.removeFirst()
            } else if first == "#" {
                rest = rest.drop { !$0.isNewline }
            } else if first == "\"" {
                guard let word = quotation(&rest) else { return nil }
                words.append(word)
            } else {
                let word = rest.prefix { !$0.isWhitespace }
                words.append(String(word))
                rest = rest[word.endIndex...]
            }
        }
        return words
    }

    /// Removes a quotation from the start of `rest`; `nil` if it has no end.
    private static func quotation(_ rest: inout Substring) -> String? {
        rest.removeFirst()
        var word = ""
        while let next = rest.popFirst() {
            if next == "\"" { return word }
            guard next == "\\" else {
                word.append(next)
                continue
            }
            guard let escaped = rest.popFirst() else { return nil }
            word.append(escaped)
        }
        return nil
    }

    /// The log-in for the origin of `url`, or else for its host; `nil` for none.
    func login(for url: WebURL) -> WebURL.UserInfo? {
        let entry = entries.first { $0.machine == url.origin } ?? entries.first { $0.machine == url.host }
        return entry?.login
    }

    /// Sets the log-in of `origin`.
    mutating func set(_ login: WebURL.UserInfo, for origin: String) {
        entries.removeAll { $0.machine == origin }
        entries.append(Entry(machine: origin, login: login))
    }

    /// The content of the file, one entry in each line.
    var text: String {
        entries.map { entry in
            let machine = entry.machine.isEmpty ? "default" : "machine \(Self.quoted(entry.machine))"
            let login = entry.login
            return "\(machine) login \(Self.quoted(login.user)) password \(Self.quoted(login.password))\n"
        }.joined()
    }

    private static func quoted(_ word: String) -> String {
        "\"" + word.flatMap { $0 == "\"" || $0 == "\\" ? ["\\", $0] : [$0] } + "\""
    }
}
