import Foundation
import HTTP
import Media
import RepriseOrigin
import TestSupport
import Testing

/// The targets of redirects, and redirects that are refused.
@Suite struct RedirectionTests {
    @Test(arguments: [301, 302, 303, 307, 308])
    func `a redirect is followed, and later requests go to its target`(status: Int) async throws {
        let song = try await Song.short()
        let chain = try Chain(["/music/song.mp3": song.bytes])
        chain.server.origin.setResource(OriginResource(text: ""), at: "/song.mp3")
        chain.redirect("/song.mp3", to: "music/song.mp3", status: status)
        let playing = try await chain.play()
        #expect(playing.isAll(of: song))
        #expect(chain.server.log.requests(for: "/song.mp3").count == 1, "later requests go to the target")
        #expect(chain.server.log.requests(for: "/music/song.mp3").count > 1)
        #expect(playing.report.requestCount == chain.server.log.requests.count)
        try await chain.end(storing: song)
    }

    @Test func `ten redirects in a row are followed, and eleven refused`() async throws {
        let song = try await Song.short()
        let chain = try Chain(["/10": song.bytes, "/11": song.bytes])
        for step in 0..<10 {
            chain.redirect("/\(step)", to: "/\(step + 1)")
        }
        #expect(isSame(try await chain.play("/0").samples, song.pcm))
        chain.redirect("/10", to: "/11")
        chain.redirect("/start", to: "/0")
        let playing = try await chain.play("/start")
        #expect(playing.error?.code == .tooManyRedirects)
        #expect(playing.error?.subject.string.contains("/start") == true)
        try await chain.end()
    }

    @Test func `a loop is refused after one round`() async throws {
        let chain = try Chain()
        chain.redirect("/a", to: "/b")
        chain.redirect("/b", to: "/a")
        let playing = try await chain.play("/a")
        #expect(playing.error?.code == .tooManyRedirects)
        #expect(chain.server.log.requests.map(\.path) == ["/a", "/b"], "refused at once, and not retried")
        try await chain.end()
    }

    @Test func `another host gets neither the password nor the header`() async throws {
        let song = try await Song.short()
        let other = try TestOrigin(["/song.mp3": song.bytes])
        let server = try TestOrigin()
        let target = other.url("/song.mp3").replacingOccurrences(of: "127.0.0.1", with: "me:too@localhost")
        server.origin.setFaults([.redirect(status: 302, location: target)], for: "/song.mp3")
        let chain = try Chain(server: server) { configuration in
            configuration.headers = [RequestHeader(parsing: "X-Key: secret")].compactMap { $0 }
        }
        let url = server.url("/song.mp3").replacingOccurrences(of: "127.0.0.1", with: "me:secret@127.0.0.1")
        let playing = try await chain.play(url)
        #expect(playing.isAll(of: song))
        let first = try #require(server.log.requests.first)
        #expect(first.fields["Authorization"] != nil && first.fields["X-Key"] == "secret")
        #expect(!other.log.requests.isEmpty)
        for request in other.log.requests {
            #expect(request.fields["Authorization"] == nil && request.fields["X-Key"] == nil)
        }
        try await chain.end()
        await other.stop()
    }

    @Test(arguments: ["file:///etc/passwd", "ftp://127.0.0.1/a.mp3"])
    func `a redirect out of the web is refused`(location: String) async throws {
        let chain = try Chain()
        chain.redirect("/song.mp3", to: location)
        let playing = try await chain.play()
        #expect(playing.error?.code == .unsupportedScheme)
        #expect(chain.server.log.requests.count == 1)
        try await chain.end()
    }

    @Test(arguments: [401, 403, 404, 410])
    func `a target that has expired is found again through the original`(status: Int) async throws {
        let song = try await Song.short()
        let chain = try Chain(["/signed.mp3": song.bytes])
        let sign = { (token: Int) in
            chain.redirect("/song.mp3", to: "/signed.mp3?token=\(token)")
            chain.server.origin.setFaults(
                [.demandsQuery("token=\(token)", status: status)],
                for: "/signed.mp3"
            )
        }
        sign(1)
        let reader = try await chain.openWithFirstWindow()
        sign(2)
        let rest = try await chain.bytes(reader, from: 1_000)
        #expect(rest.elementsEqual(song.bytes[1_000...]))
        let log = chain.server.log
        #expect(log.requests(for: "/song.mp3").count == 2)
        #expect(log.requests(for: "/signed.mp3").filter { $0.status == status }.count == 1)
        #expect(log.bytesSentAgain(for: "/signed.mp3") == 0)
        try await chain.end(storing: song)
    }

    @Test func `a target that is still refused after a new redirect is an error`() async throws {
        let song = try await Song.short()
        let chain = try Chain(["/signed.mp3": song.bytes])
        chain.redirect("/song.mp3", to: "/signed.mp3")
        chain.server.origin.script([[]], thenAlways: [.status(403)], for: "/signed.mp3")
        let playing = try await chain.play()
        #expect(playing.error?.subject.string.contains("/song.mp3") == true)
        #expect(playing.error?.code == .httpStatus && !playing.samples.isEmpty)
        #expect(chain.server.log.requests(for: "/song.mp3").count <= 6)
        try await chain.end()
    }
}

extension Chain {
    fileprivate func redirect(_ path: String, to location: String, status: Int = 302) {
        server.origin.setFaults([.redirect(status: status, location: location)], for: path)
    }
}
