@testable import HTTP
import Media
import Testing

struct NetrcFileTests {
    private let login = WebURL.UserInfo(user: "me", password: "a \"quoted\" \\ # word")

    private func url(_ text: String) throws -> WebURL { try #require(WebURL(text)) }

    @Test func `a log-in is read as it was written, and only for its own scheme, host and port`() throws {
        var file = NetrcFile()
        file.set(login, for: "https://music.example:8443")
        let read = try #require(NetrcFile(parsing: file.text))
        #expect(read == file)
        #expect(read.login(for: try url("https://music.example:8443/a/b.mp3")) == login)
        for other in [
            "http://music.example:8443/", "https://music.example/", "https://a.music.example:8443/",
        ] {
            #expect(read.login(for: try url(other)) == nil)
        }
    }

    @Test func `a new log-in replaces that of its origin, and leaves the others`() throws {
        let text = "# by hand\nmachine a.example\n  login you password there\ndefault login x password y\n"
        var file = try #require(NetrcFile(parsing: text))
        file.set(.init(user: "old", password: "old"), for: "http://a.example")
        file.set(login, for: "http://a.example")
        let read = try #require(NetrcFile(parsing: file.text))
        #expect(read.login(for: try url("http://a.example/")) == login)
        #expect(read.login(for: try url("https://a.example:7/")) == .init(user: "you", password: "there"))
        #expect(read.login(for: try url("http://b.example/")) == nil, "there is no log-in for all others")
        #expect(!file.text.contains("old") && file.text.contains("default"))
    }

    @Test(arguments: [
        "machine", "login me", "machine a.example login", "machine a.example pasword word",
        "machine a.example password \"word", "macdef init\ncd /\n\n", "<html>",
    ])
    func `a file in another form is not taken for one without log-ins`(text: String) {
        #expect(NetrcFile(parsing: text) == nil)
    }

    @Test(arguments: ["", "\n\n", "# nothing yet", "machine a.example"])
    func `an empty file has no log-ins`(text: String) {
        #expect(NetrcFile(parsing: text) != nil)
    }
}
