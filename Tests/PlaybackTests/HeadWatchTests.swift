import Media
import System
import TestSupport
import Testing

@testable import Playback

/// Reading the tags of tracks that the screen shows.
@Suite struct HeadWatchTests {
    /// A server of files whose answers wait for the test.
    private final class Server: Sendable {
        struct State {
            var opened: [String] = []
            var running = 0
            var mostRunning = 0
            var announced: [ByteRange] = []
            var readEnds: [Int64] = []
            var stored: [TrackFacts] = []
            var found: [Track.ID] = []
        }

        let state = Locked(State())
        let clock = TestClock()
        /// The status with which it refuses everything.
        let refusal: MediaError?

        init(refusal: MediaError? = nil) { self.refusal = refusal }

        func open(_ url: WebURL) async throws -> (any ResourceReader)? {
            state.withLock { state in
                state.opened.append(url.path)
                state.running += 1
                state.mostRunning = max(state.mostRunning, state.running)
            }
            try? await clock.sleep(until: .seconds(1))
            if let refusal {
                state.withLock { $0.running -= 1 }
                throw refusal
            }
            return Head(server: self)
        }
    }

    private struct Head: ResourceReader {
        let server: Server
        var length: Int64? { 1_000_000 }
        var report: LoadReport { LoadReport() }

        func read(at offset: Int64, count: Int) async throws -> [UInt8] {
            server.state.withLock { $0.readEnds.append(offset + Int64(count)) }
            return [UInt8](repeating: 7, count: min(count, 40_000))
        }

        func isStored(_ range: ByteRange) -> Bool { false }
        func willRead(_ range: ByteRange) { server.state.withLock { $0.announced.append(range) } }
        func allowReadAhead(bytesPerSecond: Double) {}
        func fill() {}
        func reject() async {}
        func store(_ value: [UInt8], as fact: DerivedFact) {}
        func stored(_ fact: DerivedFact) -> [UInt8] { [] }
        func store(_ facts: TrackFacts) { server.state.withLock { $0.stored.append(facts) } }
        func close() async { server.state.withLock { $0.running -= 1 } }
    }

    /// Finds a title in the byte at `place`.
    private final class Decoder: AudioDecoder {
        let source: any ByteSource
        let place: Int64
        let info: StreamInfo

        init(_ source: any ByteSource, place: Int64) {
            self.source = source
            self.place = place
            var info = StreamInfo(
                format: AudioFormat(sampleRate: 1_000, channelCount: 1),
                bytesPerSecond: 2_000
            )
            info.tags.title = "River"
            self.info = info
        }

        func open() async throws { _ = try await source.read(at: place, count: 1) }
        func decode(into pcm: UnsafeMutableRawBufferPointer) async throws -> DecodeStep { .end }
        func seek(to time: Duration) async throws -> SeekLanding { SeekLanding(frame: 0, isExact: true) }
        func seekTable() -> [UInt8] { [] }
    }

    private func tracks(_ count: Int, _ site: String = "https://h/a/") -> [Track] {
        (1...count).compactMap { number in
            guard let url = WebURL(site + "\(number).mp3") else { return nil }
            var track = Track(id: Track.ID(UInt64(site.count * 1_000 + number)), location: .web(url))
            track.isListed = true
            return track
        }
    }

    private func watch(_ server: Server, place: Int64 = 0) -> HeadWatch {
        HeadWatch(
            open: { try await server.open($0) },
            makeDecoder: { reader, _ in Decoder(reader, place: place) }
        ) { track, facts in
            guard let facts else { return }
            #expect(facts.tags.title == "River")
            server.state.withLock { $0.found.append(track.id) }
        }
    }

    private static let none: [MediaError] = []

    @Test func `the tags of shown tracks are read, two at a time from one server, in order`() async throws {
        let server = Server()
        let watch = watch(server)
        let shown = tracks(5)
        watch.lookUp(shown, after: Self.none)
        try await wait(for: "two") { server.state.withLock { $0.opened.count } == 2 }
        // What is scrolled away is not read, and nothing twice.
        watch.lookUp(Array(shown[1..<4]), after: Self.none)
        watch.lookUp(Array(shown[1..<4]) + tracks(1, "https://other/"), after: Self.none)
        try await wait(for: "the other server") { server.state.withLock { $0.opened.count } == 3 }
        server.clock.advance(by: .seconds(1))
        try await wait(for: "all") { server.state.withLock { $0.found.count } == 5 }
        #expect(
            server.state.withLock { $0.opened.sorted() } == [
                "/1.mp3", "/a/1.mp3", "/a/2.mp3", "/a/3.mp3", "/a/4.mp3",
            ]
        )
        #expect(
            server.state.withLock { $0.mostRunning } == 3 && server.state.withLock { $0.stored.count } == 5
        )
        await watch.finish()
    }

    @Test(arguments: [(0, 1), (65_535, 1), (65_536, 0), (900_000, 0)] as [(Int64, Int)])
    func `at most 64 KiB of a file are read, and what is not in them stays unknown`(
        place: Int64,
        count: Int
    ) async throws {
        let server = Server()
        server.clock.advance(by: .seconds(1))
        let watch = watch(server, place: place)
        watch.lookUp(tracks(1), after: Self.none)
        try await wait(for: "the file") { server.state.withLock { $0.opened.count == 1 && $0.running == 0 } }
        await watch.finish()
        #expect(server.state.withLock { $0.found.count } == count)
        #expect(server.state.withLock { $0.announced } == [0..<65_536])
        #expect(server.state.withLock { $0.readEnds.max() } == 65_536)
    }

    @Test func `feeds, tracks with a title of their list and those of no folder are not read`() async throws {
        var odd = tracks(3)
        odd[0].isListed = false
        odd[1].tags.title = "River"
        odd[2].episode = Episode(feed: "f", guid: "g", date: nil, place: 0)
        let server = Server()
        let watch = watch(server)
        watch.lookUp(odd, after: Self.none)
        await watch.finish()
        #expect(server.state.withLock { $0.opened }.isEmpty)
    }

    @Test func `a server that refuses is not asked again, nor one that refused the music`() async throws {
        let refusal = MediaError(.httpStatus, "https://h/a/1.mp3", "the server does not allow it (403)")
        let server = Server(refusal: refusal)
        server.clock.advance(by: .seconds(1))
        let watch = watch(server)
        watch.lookUp(tracks(1), after: Self.none)
        try await wait(for: "the refusal") {
            server.state.withLock { $0.opened.count == 1 && $0.running == 0 }
        }
        await watch.finish()
        let other = self.watch(server)
        other.lookUp(tracks(9), after: [refusal])
        await other.finish()
        #expect(server.state.withLock { $0.opened.count } == 1)
    }
}
