package import System

/// A server asks for a user name and a password, and the user is to enter them.
package struct LoginQuestion: Sendable, Equatable {
    /// Unique among the questions of a session.
    package let number: Int
    /// Scheme, host and port (`WebURL.origin`) of the server that asks: one that the user named as a source.
    package let origin: String
    /// What the server calls the place that needs the log-in; may be empty. Not to be trusted.
    package let realm: SafeText
    /// `true` if the server has refused a user name and a password already.
    package let isRefused: Bool
    /// `true` if the answer can be kept for later sessions.
    package let canBeKept: Bool

    package init(number: Int, origin: String, realm: SafeText, isRefused: Bool, canBeKept: Bool) {
        self.number = number
        self.origin = origin
        self.realm = realm
        self.isRefused = isRefused
        self.canBeKept = canBeKept
    }

    /// `false` if anyone on the way to the server can read the password.
    package var isEncrypted: Bool { origin.hasPrefix("https://") }
}

/// The user's answer to a `LoginQuestion`.
package enum LoginAnswer: Sendable, Equatable {
    /// The server is not asked for again: what it refuses fails.
    case declined
    /// For this session; `isKept` if for later ones too.
    case login(WebURL.UserInfo, isKept: Bool)
}

/// The log-ins of a session, as a screen sees them.
package protocol LoginControl: Sendable {
    /// The oldest question without an answer; `nil` for none.
    var question: LoginQuestion? { get }

    /// Answers the question `number`. To keep the log-in, blocks the calling thread, a named one, until it is
    /// on the disk; throws if it can't be kept, and then it still counts for this session.
    func answer(_ number: Int, _ answer: LoginAnswer) throws(MediaError)

    /// Calls `observer` after each change of `question`, from any thread.
    func observe(_ observer: @escaping @Sendable () -> Void) -> Observation
}
