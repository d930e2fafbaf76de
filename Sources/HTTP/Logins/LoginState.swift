import Media

/// A request that a server refused because it asks for a user name and a password (401).
struct LoginRefusal: Sendable, Equatable {
    /// The requested URL, whose origin has refused.
    let url: WebURL
    let realm: String
    /// The log-in of this session that was sent; `nil` for none, or for that of the user's `.netrc`.
    let sent: WebURL.UserInfo?
    /// `true` if the user waits for the response.
    let isAwaited: Bool

    /// `nil` unless another log-in may be sent for `request`. So the answer is that of its own origin, which
    /// the user has named as a source, and not of the target of a redirect; the challenge is one that libcurl
    /// can answer; and the user has not stated the log-in in the URL or in a header.
    init?(
        _ request: RangeRequest,
        over route: Route,
        sent wire: WireRequest,
        _ head: ResponseHead,
        _ configuration: HTTPConfiguration
    ) {
        guard head.status == 401, let realm = head.loginRealm, request.url.userInfo == nil,
            route.target.hasSameOrigin(as: request.url), configuration.maySendSecrets(to: request.url),
            !configuration.headers.contains(where: { $0.name.lowercased() == "authorization" })
        else { return nil }
        url = request.url
        self.realm = realm
        sent = wire.credentials
        isAwaited = request.mayAskUser
    }
}

/// The log-ins of a session by origin, and whom to ask for them. Pure.
struct LoginState: Sendable {
    enum Step: Sendable, Equatable {
        /// There is a log-in that was not tried yet: send the request again.
        case retry
        /// The user is asked the question of this number; send the request again after the answer.
        case ask(Int)
        /// Nobody waits for the response; the next request for which the user waits asks.
        case askLater
        case giveUp
    }

    /// The longest realm that is shown, in characters.
    private static let longestRealm = 60

    /// `true` if there is a screen to ask on.
    private let asks: Bool
    private let canKeep: Bool
    /// The log-ins of earlier sessions. They are tried after those of `.netrc`, once these are refused.
    private let kept: NetrcFile
    private var logins: [String: WebURL.UserInfo] = [:]
    /// The origins whose question was declined.
    private var declined: Set<String> = []
    /// The questions without an answer, oldest first.
    private var questions: [LoginQuestion] = []
    private var lastNumber = 0

    init(asks: Bool, canKeep: Bool = true, kept: NetrcFile = NetrcFile()) {
        self.asks = asks
        self.canKeep = canKeep
        self.kept = kept
    }

    var question: LoginQuestion? { questions.first }

    /// `true` until the question `number` has an answer.
    func isAsking(_ number: Int) -> Bool { questions.contains { $0.number == number } }

    /// The log-in to send to the origin of `url`; `nil` for that of `.netrc`.
    func login(for url: WebURL) -> WebURL.UserInfo? { logins[url.origin] }

    mutating func refused(_ refusal: LoginRefusal) -> Step {
        let origin = refusal.url.origin
        // The request was sent before the answer to another one.
        if let login = logins[origin], login != refusal.sent { return .retry }
        if refusal.sent == nil, let login = kept.login(for: refusal.url) {
            logins[origin] = login
            return .retry
        }
        guard asks, !declined.contains(origin) else { return .giveUp }
        guard refusal.isAwaited else { return .askLater }
        if let asked = questions.first(where: { $0.origin == origin }) { return .ask(asked.number) }
        lastNumber += 1
        questions.append(
            LoginQuestion(
                number: lastNumber,
                origin: origin,
                realm: SafeText(refusal.realm.prefix(Self.longestRealm)),
                isRefused: refusal.sent != nil,
                canBeKept: canKeep
            )
        )
        return .ask(lastNumber)
    }

    /// Takes over the answer to the question `number`, and returns its origin; `nil` if it has an answer.
    mutating func answered(_ number: Int, _ answer: LoginAnswer) -> String? {
        guard let place = questions.firstIndex(where: { $0.number == number }) else { return nil }
        let origin = questions.remove(at: place).origin
        switch answer {
        case .declined:
            declined.insert(origin)
            logins[origin] = nil
        case .login(let login, isKept: _): logins[origin] = login
        }
        return origin
    }

    /// The user has named `url` as a source again: its server may ask once more.
    mutating func named(_ url: WebURL) { declined.remove(url.origin) }
}
