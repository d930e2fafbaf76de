@testable import HTTP
import Media
import Testing

/// Who is asked for a log-in, and who is not.
struct LoginStateTests {
    private static let song = "http://music.example:8000/song.mp3"
    private let login = WebURL.UserInfo(user: "me", password: "word")

    private func refusal(
        _ text: String = song,
        over target: String? = nil,
        typed: String? = song,
        status: Int = 401,
        challenge: String = "Basic realm=\"Music\"",
        sent: WebURL.UserInfo? = nil,
        isAwaited: Bool = true,
        header: String = "X-Token: secret"
    ) throws -> LoginRefusal? {
        var configuration = HTTPConfiguration()
        configuration.headers = [try #require(RequestHeader(parsing: header))]
        configuration.secretOrigins = SecretOrigins(typed.flatMap { WebURL($0) }.map { [$0] } ?? [])
        var request = RangeRequest(url: try #require(WebURL(text)), range: nil)
        request.mayAskUser = isAwaited
        let route = Route(target: try #require(WebURL(target ?? text)))
        var wire = WireRequest(request, over: route, configuration: configuration)
        wire.credentials = sent ?? wire.credentials
        let head = try ResponseHead.made(of: ["HTTP/1.1 \(status) X", "WWW-Authenticate: \(challenge)"])
        return LoginRefusal(request, over: route, sent: wire, head, configuration)
    }

    @Test func `a server that the user has named asks, with its origin and its realm`() throws {
        var state = LoginState(asks: true)
        #expect(state.refused(try #require(try refusal())) == .ask(1))
        #expect(
            state.question
                == LoginQuestion(
                    number: 1,
                    origin: "http://music.example:8000",
                    realm: "Music",
                    isRefused: false,
                    canBeKept: true
                )
        )
    }

    @Test func `neither a redirect, a server from a list, nor another scheme or port may ask`() throws {
        #expect(try refusal(over: "http://other.example/song.mp3") == nil)
        #expect(try refusal(over: "https://music.example:8000/song.mp3") == nil)
        #expect(try refusal(typed: nil) == nil)
        for typed in ["http://music.example/", "https://music.example:8000/", "http://a.example:8000/"] {
            #expect(try refusal(typed: typed) == nil)
        }
    }

    @Test func `nobody is asked if a log-in would not help`() throws {
        #expect(try refusal(status: 403) == nil)
        #expect(try refusal(challenge: "Bearer realm=\"Music\"") == nil)
        #expect(try refusal("http://me:word@music.example:8000/song.mp3") == nil)
        #expect(try refusal(header: "authorization: Bearer x") == nil)
    }

    @Test func `what nobody waits for asks nothing, but the next request that is awaited does`() throws {
        var state = LoginState(asks: true)
        #expect(state.refused(try #require(try refusal(isAwaited: false))) == .askLater)
        #expect(state.question == nil)
        #expect(state.refused(try #require(try refusal())) == .ask(1))
    }

    @Test func `without a screen nobody is asked`() throws {
        var state = LoginState(asks: false)
        #expect(state.refused(try #require(try refusal())) == .giveUp)
        #expect(state.refused(try #require(try refusal(isAwaited: false))) == .giveUp)
        #expect(state.question == nil)
    }

    @Test func `all requests for a server share one question, and the answer`() throws {
        var state = LoginState(asks: true)
        let refused = try #require(try refusal())
        let other = try #require(try refusal("http://music.example:8000/other.mp3"))
        #expect(state.refused(refused) == .ask(1) && state.refused(other) == .ask(1))
        #expect(state.answered(1, .login(login, isKept: false)) == "http://music.example:8000")
        #expect(state.login(for: other.url) == login && state.question == nil)
        #expect(state.answered(1, .declined) == nil, "it has its answer")
        // Sent before the answer.
        #expect(state.refused(other) == .retry)
        #expect(state.login(for: try #require(WebURL("https://music.example:8000/"))) == nil)
    }

    @Test
    func `a log-in that is refused is asked for again, and one that was declined only once named again`()
        throws
    {
        var state = LoginState(asks: true)
        let first = try #require(try refusal())
        _ = state.refused(first)
        _ = state.answered(1, .login(login, isKept: false))
        #expect(state.refused(try #require(try refusal(sent: login))) == .ask(2))
        #expect(state.question?.isRefused == true)
        _ = state.answered(2, .declined)
        #expect(state.login(for: first.url) == nil)
        #expect(state.refused(first) == .giveUp)
        #expect(state.refused(try #require(try refusal(isAwaited: false))) == .giveUp)
        state.named(first.url)
        #expect(state.refused(first) == .ask(3))
    }

    @Test func `a kept log-in is tried before anyone is asked, once, also without a screen`() throws {
        var kept = NetrcFile()
        kept.set(login, for: "http://music.example:8000")
        for asks in [true, false] {
            var state = LoginState(asks: asks, kept: kept)
            let refused = try #require(try refusal(isAwaited: false))
            #expect(state.refused(refused) == .retry && state.login(for: refused.url) == login)
            #expect(state.refused(try #require(try refusal(sent: login))) == (asks ? .ask(1) : .giveUp))
        }
    }

    @Test(arguments: [
        ("Basic realm=\"Music\"", "Music"), ("basic", ""), ("Basic realm=\"a \\\"b\\\", c\"", "a \"b\", c"),
        ("Digest nonce=\"x\", realm=\"R\"", "R"), ("Bearer realm=\"y\", Basic realm=\"R\"", "R"),
        ("Bearer realm=\"R\"", nil), ("Negotiate", nil), ("Basically realm=\"R\"", nil),
    ])
    func `the realm is that of a challenge that can be answered`(challenge: String, realm: String?) throws {
        let head = try ResponseHead.made(of: ["HTTP/1.1 401 U", "WWW-Authenticate: \(challenge)"])
        #expect(head.loginRealm == realm)
    }

    @Test func `a long realm is cut, and what could reverse the text of the screen removed`() throws {
        var state = LoginState(asks: true)
        let realm = "\u{202E}" + String(repeating: "x", count: 500)
        _ = state.refused(try #require(try refusal(challenge: "Basic realm=\"\(realm)\"")))
        #expect(state.question?.realm.columns == 60)
        #expect(state.question?.realm.string.contains("\u{202E}") == false)
    }
}
