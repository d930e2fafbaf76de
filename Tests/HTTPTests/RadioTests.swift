import HTTP
import Media
import TestSupport
import Testing

/// A real radio station: Icecast, fed by curl.
struct RadioTests {
    @Test func `a station's name, its titles and nothing but its music come through`() async throws {
        let icecast = try await IcecastServer()
        let options = MP3Fixtures.Options(seconds: 40)
        let file = try await MP3Fixtures.bytes(options)
        let source = try await icecast.broadcast(
            MP3Fixtures.file(options),
            at: "/live.mp3",
            name: "Rádió Ő"
        )
        try await icecast.announce("Björk - It's; not up to you", at: "/live.mp3")
        try await TransportFixture().run { transport in
            let url = try #require(WebURL(icecast.url("/live.mp3")))
            let response = try await transport.send(
                RangeRequest(url: url, range: 0..<65_536, wantsTitles: true)
            )
            let answer = response.answer
            #expect(answer.kind == .whole(length: nil))
            #expect(answer.station == Station(name: "Rádió Ő", bytesPerSecond: 16_000))
            #expect(answer.contentType == "audio/mpeg")
            var music: [UInt8] = []
            var titles: [String] = []
            // The second title is announced once the first was heard, and ends the listening.
            while titles.last != "Two", let chunk = try await response.body.next() {
                music += chunk
                guard let title = response.body.takeTitle(), !title.isEmpty else { continue }
                if titles.isEmpty { try await icecast.announce("Two", at: "/live.mp3") }
                titles.append(title.string)
            }
            #expect(titles == ["Björk - It's; not up to you", "Two"])
            // One uninterrupted piece of the file: no byte of a title among the music, and none is missing.
            let start = try #require(
                file.indices.first { file[$0...].starts(with: music.prefix(64)) },
                "the music is found in what was broadcast"
            )
            #expect(music.count > 16_000)
            #expect(file[start...].starts(with: music))
        }
        source.signal(15)
        try await source.waitForExit()
    }

    @Test func `a station that is off the air says so`() async throws {
        let icecast = try await IcecastServer()
        try await TransportFixture().run { transport in
            let url = try #require(WebURL(icecast.url("/live.mp3")))
            let answer = try await transport.send(RangeRequest(url: url, range: nil, wantsTitles: true))
                .answer
            #expect(answer.kind == .refused(status: 404))
            #expect(answer.station == nil)
        }
    }
}
