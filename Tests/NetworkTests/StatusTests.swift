import Foundation
import Media
import RepriseOrigin
import TestSupport
import Testing

/// Refusals, and the reactions to them.
@Suite struct StatusTests {
    @Test(arguments: [(401, 1), (403, 2), (404, 1), (410, 1), (500, 10), (502, 10), (503, 10), (429, 10)])
    func `a refusal is an error that names the URL and the status, after ten attempts if it is temporary`(
        status: Int,
        attempts: Int
    ) async throws {
        let chain = try Chain(["/song.mp3": [1, 2, 3]], faults: [.status(status)])
        let error = try #require(try await chain.play().error)
        #expect(error.code == .httpStatus && error.cause.string.contains("\(status)"))
        #expect(error.subject.string == chain.server.url("/song.mp3"))
        // The server may have refused only the range: then one more request is sent.
        let count = chain.server.log.requests.count
        #expect(attempts < 10 ? count <= 2 : (10...11).contains(count))
        if attempts < 10 { #expect(chain.clock.now == .zero, "waiting would change nothing") }
        try await chain.end(storing: nil)
    }

    @Test func `user name and password of the URL are sent, and appear in no error`() async throws {
        let song = try await Song.short()
        let chain = try Chain(
            ["/song.mp3": song.bytes],
            faults: [.demandsField("Authorization", "Basic bWU6c2VjcmV0")]
        )
        let url = chain.server.url("/song.mp3").replacingOccurrences(of: "//", with: "//me:secret@")
        #expect(isSame(try await chain.play(url).samples, song.pcm))
        let wrong = chain.server.url("/song.mp3?other").replacingOccurrences(of: "//", with: "//me:wrong@")
        let error = try #require(try await chain.play(wrong).error)
        #expect(error.cause == "the server refuses this user name or password (401)")
        #expect(!error.description.contains("wrong"))
        try await chain.end()
    }

    @Test(arguments: [403, 400, 501])
    func `a server that refuses every range is asked once without one`(status: Int) async throws {
        let (song, chain) = try await Chain.short([.refusesRanges(status: status)])
        #expect(try await chain.play().isAll(of: song))
        let asked = chain.server.log.askedRanges()
        #expect(asked.count { $0 == nil } == 1)
        if status == 403 { #expect(asked == ["bytes=0-65535", nil]) }
        try await chain.end(storing: song)
    }

    @Test(arguments: [429, 503])
    func `after the time in Retry-After the request is repeated, and the music goes on`(status: Int)
        async throws
    {
        let (song, chain) = try await Chain.short()
        chain.server.origin.script([[.status(status), .field("Retry-After", "20")]], for: "/song.mp3")
        let reader = try await chain.open()
        let read = Task { try await reader.read(at: 0, count: 1_000) }
        try await wait(for: "the wait") { reader.reader.report.wait != nil }
        #expect(reader.reader.report.wait?.retryAt == .seconds(20))
        chain.clock.advance(to: .milliseconds(19_999))
        #expect(chain.server.log.requests.count == 1)
        let bytes = try await chain.keepingTime { try await read.value }
        #expect(bytes.elementsEqual(song.bytes[..<bytes.count]))
        #expect(chain.server.log.requests.count == 2 && chain.clock.now >= .seconds(20))
        await chain.close(reader)
        #expect(try await chain.play().isAll(of: song))
        try await chain.end()
    }

    @Test func `failures that pass cost no music`() async throws {
        let (song, chain) = try await Chain.short()
        let bad = [Fault.status(500)]
        chain.server.origin.script([bad, bad, [], bad, [], bad, bad, bad, []], for: "/song.mp3")
        #expect(try await chain.play().isAll(of: song))
        try await chain.end(storing: song)
    }

    @Test func `a captive portal is an error, and nothing of it is cached`() async throws {
        let chain = try Chain(["/song.mp3": [1, 2, 3]], faults: [.htmlPage])
        let playing = try await chain.play()
        #expect(playing.error?.code == .notAudio && playing.error?.cause.string.contains("web page") == true)
        #expect(chain.server.log.requests.count == 1)
        try await chain.end(storing: nil)
    }

    @Test func `a captive portal in the middle changes no cached byte`() async throws {
        let (song, chain) = try await Chain.short()
        chain.server.origin.script([[]], thenAlways: [.htmlPage], for: "/song.mp3")
        let playing = try await chain.play()
        let error = try #require(playing.error)
        #expect(error.code == .badAnswer && error.cause.string.contains("sign in"))
        #expect(isSame(playing.samples, song.pcm.prefix(playing.samples.count)) && !playing.samples.isEmpty)
        chain.server.origin.setFaults([], for: "/song.mp3")
        #expect(isSame(try await chain.play().samples, song.pcm))
        #expect(chain.server.log.bytesSentAgain() == 0)
        try await chain.end()
        #expect(chain.notices.isEmpty)
    }
}
