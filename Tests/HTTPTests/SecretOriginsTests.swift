@testable import HTTP
import Media
import Testing

struct SecretOriginsTests {
    @Test(
        arguments: [
            ("http://music.example/a.mp3", true),
            ("http://music.example:80/deep/b.mp3", true),
            ("https://music.example/a.mp3", false),
            ("http://music.example:8080/a.mp3", false),
            ("http://cdn.example/a.mp3", false),
        ]
    )
    func `secrets go to the origins of the sources, and to no server that a playlist names`(
        text: String,
        isSent: Bool
    ) throws {
        var configuration = try configuration()
        configuration.secretOrigins = SecretOrigins([try #require(WebURL("http://music.example/list.m3u8"))])
        let wire = try wire(text, configuration)
        #expect(wire.headerLines.contains("X-Token: secret") == isSent)
        #expect(wire.usesNetrc == isSent)
        // Not even those that the playlist itself has for its own entry.
        let named = text.replacing("://", with: "://their:own@")
        #expect((try self.wire(named, configuration).credentials != nil) == isSent)
        #expect(configuration.withholdsUserInfo(of: try #require(WebURL(named))) == !isSent)
        #expect(!configuration.withholdsUserInfo(of: try #require(WebURL(text))))
    }

    @Test func `a source that is added later gets the secrets too`() throws {
        let origins = SecretOrigins([])
        var configuration = try configuration()
        configuration.secretOrigins = origins
        let text = "http://me:word@music.example/a.mp3"
        #expect(try wire(text, configuration).credentials == nil)
        origins.insert(try #require(WebURL("http://music.example/")))
        #expect(try wire(text, configuration).credentials?.user == "me")
    }

    @Test(arguments: [("", nil), ("me:word@", WebURL.UserInfo(user: "me", password: "word"))])
    func `without a list of origins secrets go with every request, a user name in the URL before netrc`(
        userInfo: String,
        credentials: WebURL.UserInfo?
    ) throws {
        let wire = try wire("http://\(userInfo)any.example/", try configuration())
        #expect(wire.headerLines.contains("X-Token: secret"))
        #expect(wire.credentials == credentials && wire.usesNetrc == (credentials == nil))
    }

    @Test(
        arguments: [
            ([:], false),
            (["http_proxy": ""], false),
            (["no_proxy": "a.example"], false),
            (["HTTP_PROXY": "http://a.example"], false),
            (["http_proxy": "http://a.example"], true),
            (["HTTPS_PROXY": "http://a.example"], true),
            (["all_proxy": "socks5://a.example"], true),
        ] as [([String: String], Bool)]
    )
    func `a proxy is named by the variables that curl looks at`(
        environment: [String: String],
        expected: Bool
    ) {
        #expect(HTTPConfiguration.namesProxy { environment[$0] } == expected)
    }

    private func configuration() throws -> HTTPConfiguration {
        var configuration = HTTPConfiguration()
        configuration.headers = [try #require(RequestHeader(parsing: "X-Token: secret"))]
        configuration.netrcFile = "/nowhere"
        return configuration
    }

    private func wire(_ text: String, _ configuration: HTTPConfiguration) throws -> WireRequest {
        let url = try #require(WebURL(text))
        return WireRequest(
            RangeRequest(url: url, range: nil),
            over: Route(target: url),
            configuration: configuration
        )
    }
}
