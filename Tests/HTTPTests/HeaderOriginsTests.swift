@testable import HTTP
import Media
import Testing

struct HeaderOriginsTests {
    @Test(
        arguments: [
            ("http://music.example/a.mp3", true),
            ("http://music.example:80/deep/b.mp3", true),
            ("https://music.example/a.mp3", false),
            ("http://music.example:8080/a.mp3", false),
            ("http://cdn.example/a.mp3", false),
        ]
    )
    func `headers go to the origins of the sources, and to no server that a playlist names`(
        text: String,
        isSent: Bool
    ) throws {
        var configuration = HTTPConfiguration()
        configuration.headers = [try #require(RequestHeader(parsing: "X-Token: secret"))]
        configuration.headerOrigins = [try #require(WebURL("http://music.example/list.m3u8"))]
        #expect(configuration.headers(for: try #require(WebURL(text))).isEmpty == !isSent)
    }

    @Test func `without a list of origins headers go with every request`() throws {
        var configuration = HTTPConfiguration()
        configuration.headers = [try #require(RequestHeader(parsing: "X-Token: secret"))]
        #expect(configuration.headers(for: try #require(WebURL("http://any.example/"))).count == 1)
    }
}
