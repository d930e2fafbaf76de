import Media
import Testing

@testable import Segments

/// A live stream followed through the lists that a server sends. Segments last 4 s, as does the target
/// duration.
@Suite
struct LiveWindowTests {
    private func window(_ sequence: Int64, count: Int, tags: String = "") throws(MediaError) -> LiveWindow {
        LiveWindow(try list(sequence, count: count, tags: tags).playlist, requestedAt: .seconds(100))
    }

    /// The numbers that are loaded until the list is needed again.
    private func load(_ window: inout LiveWindow) -> [Int64] {
        var numbers: [Int64] = []
        while case .load(let number) = window.next() {
            numbers.append(number)
            window.advance()
        }
        return numbers
    }

    private func receive(
        _ window: inout LiveWindow,
        _ sequence: Int64,
        count: Int,
        tags: String = "",
        before: [Int: String] = [:],
        isEnded: Bool = false,
        at seconds: Int
    ) throws -> LiveWindow.Outcome {
        let stored = try list(sequence, count: count, tags: tags, before: before, isEnded: isEnded)
        return window.receive(stored.playlist, requestedAt: .seconds(seconds))
    }

    // MARK: The start

    @Test(arguments: [(10, 7), (4, 1), (3, 0), (2, 0), (1, 0)])
    func `playing starts three target durations before the end`(count: Int, first: Int64) throws {
        var window = try window(50, count: count)
        #expect(window.next() == .load(50 + first))
        #expect(window.time(of: 50 + first) == .seconds(4 * first))
    }

    @Test(arguments: [("8.5", 52), ("0", 50), ("-20", 55), ("-1", 57), ("99", 57), ("-999", 50)])
    func `EXT-X-START is followed up to three target durations before the end`(offset: String, first: Int64)
        throws
    {
        let tag = "#EXT-X-START:TIME-OFFSET=\(offset)\n"
        #expect(try window(50, count: 10, tags: tag).position == first)
        let seconds = try #require(Double(offset))
        let plain = try list(50, count: 10).playlist
        let ofMaster = LiveWindow(plain, startOffset: .seconds(seconds), requestedAt: .zero)
        #expect(ofMaster.position == first)
    }

    @Test func `a list that is still empty starts with the first that is not`() throws {
        var window = try window(50, count: 0)
        #expect(window.next() == .reload && window.place(at: .seconds(5)) == (50, .zero))
        #expect(try receive(&window, 50, count: 0, at: 102) == .ignored)
        #expect(try receive(&window, 50, count: 1, at: 104) == .replaced)
        #expect(load(&window) == [50])
    }

    // MARK: One list after another

    @Test func `segments are followed by their numbers, whatever their URLs`() throws {
        var window = try window(50, count: 5)
        #expect(load(&window) == [52, 53, 54])
        let bytes = try list(51, count: 5).bytes
        let tokens = try StoredPlaylist(
            String(decoding: bytes, as: UTF8.self).replacing(".ts", with: ".ts?token=2")
        )
        #expect(window.receive(tokens.playlist, requestedAt: .seconds(104)) == .replaced)
        #expect(load(&window) == [55])
        let segment = try window.segment(55) { range in tokens.read(range) }
        #expect(segment.location == web("http://h/a/55.ts?token=2") && segment.start == .seconds(20))
        #expect(window.numbers == 51..<56 && window.time(of: 51) == .seconds(4))
    }

    @Test func `the list is asked for after a target duration, or half of one if nothing was new`() throws {
        var window = try window(50, count: 5)
        #expect(window.clock.nextReload == .seconds(104))
        #expect(try receive(&window, 50, count: 5, at: 105) == .replaced)
        #expect(window.clock.nextReload == .seconds(107) && window.clock.lastChange == .seconds(100))
        window.receiveUnchanged(requestedAt: .seconds(107))
        #expect(window.clock.nextReload == .seconds(109))
        #expect(try receive(&window, 51, count: 5, at: 109) == .replaced)
        #expect(window.clock.nextReload == .seconds(113) && window.clock.lastChange == .seconds(109))
    }

    @Test(arguments: [(0, 1), (1, 1), (6, 6), (100_000, 120)])
    func `a target duration has bounds`(stated: Int, seconds: Int) throws {
        let playlist = try list(0, count: 1, target: stated).playlist
        let window = LiveWindow(playlist, requestedAt: .zero)
        #expect(window.clock.nextReload == .seconds(seconds))
    }

    @Test func `a list that stands still is asked for again and again`() throws {
        var window = try window(50, count: 3)
        #expect(load(&window) == [50, 51, 52])
        for turn in 1...1_000 {
            #expect(try receive(&window, 50, count: 3, at: 102 + turn * 2) == .replaced)
            #expect(window.next() == .reload && window.clock.nextReload == .seconds(104 + turn * 2))
        }
        #expect(try receive(&window, 51, count: 3, at: 3_000) == .replaced)
        #expect(load(&window) == [53])
    }

    @Test func `a list that stands still may bring new tokens`() throws {
        var window = try window(50, count: 3)
        let tokens = try StoredPlaylist(
            String(decoding: list(50, count: 3).bytes, as: UTF8.self).replacing(".ts", with: ".ts?t=2")
        )
        #expect(window.receive(tokens.playlist, requestedAt: .seconds(102)) == .replaced)
        #expect(window.clock.nextReload == .seconds(104))
        let segment = try window.segment(50) { range in tokens.read(range) }
        #expect(segment.location == web("http://h/a/50.ts?t=2"))
    }

    @Test func `a list from a server that is late is passed over`() throws {
        var window = try window(50, count: 5)
        #expect(load(&window).last == 54)
        #expect(try receive(&window, 49, count: 5, at: 104) == .ignored)
        #expect(try receive(&window, 48, count: 5, at: 106) == .ignored)
        #expect(try receive(&window, 51, count: 5, at: 108) == .replaced)
        #expect(load(&window) == [55])
    }

    @Test func `an encoder that was restarted goes on behind a discontinuity`() throws {
        var window = try window(50, count: 5)
        #expect(load(&window).last == 54)
        let start = window.time(of: 55)
        #expect(try receive(&window, 0, count: 2, at: 108) == .restarted)
        // Nothing that the new encoder made is lost.
        #expect(window.numbers == 55..<57 && window.time(of: 55) == start)
        let stored = try list(0, count: 2)
        let segment = try window.segment(55) { range in stored.read(range) }
        #expect(segment.mediaSequence == 0 && segment.discontinuity == 1 && segment.start == start)
        #expect(load(&window) == [55, 56])
        #expect(try receive(&window, 0, count: 3, at: 112) == .replaced)
        #expect(load(&window) == [57])
    }

    @Test func `numbers that go back into the known window are believed after three target durations`() throws
    {
        var window = try window(2, count: 5)
        #expect(load(&window).last == 6)
        #expect(try receive(&window, 0, count: 3, at: 109) == .ignored)
        #expect(try receive(&window, 0, count: 3, at: 111) == .ignored)
        #expect(try receive(&window, 0, count: 4, at: 113) == .restarted)
        #expect(load(&window) == [7, 8, 9, 10])
    }

    @Test func `after a restart a window of hours is not played from its beginning`() throws {
        var window = try window(5_000, count: 1_000)
        #expect(load(&window).last == 5_999)
        #expect(try receive(&window, 100, count: 1_000, at: 104) == .restarted)
        // It goes on three target durations before the end.
        #expect(window.position == 6_000 + 997)
        // A listener who has gone back stays back.
        window.move(to: 6_400)
        #expect(try receive(&window, 90_000, count: 1_000, at: 108) == .restarted)
        #expect((7_395...7_400).contains(window.position))
    }

    @Test func `a list that went on without us goes on at its oldest segment, and the loss is said once`()
        throws
    {
        var window = try window(50, count: 5)
        #expect(load(&window).last == 54)
        #expect(try receive(&window, 60, count: 5, at: 150) == .restarted)
        #expect(window.next() == .lost(5))
        #expect(load(&window) == [55, 56, 57, 58, 59])
    }

    // MARK: Discontinuities

    @Test func `a discontinuity keeps its number when its tag leaves the window uncounted`() throws {
        var window = try window(50, count: 5)
        let tag = [55: "#EXT-X-DISCONTINUITY"]
        var newest = try list(52, count: 5, before: tag)
        let number = { (window: LiveWindow, number: Int64) in
            try window.segment(number) { range in newest.read(range) }.discontinuity
        }
        _ = window.receive(newest.playlist, requestedAt: .seconds(104))
        #expect(try number(window, 54) == 0 && number(window, 55) == 1)
        // The tag has gone; EXT-X-DISCONTINUITY-SEQUENCE is missing.
        newest = try list(55, count: 5)
        _ = window.receive(newest.playlist, requestedAt: .seconds(108))
        #expect(try number(window, 55) == 1 && number(window, 59) == 1)
        // Another server counts it.
        newest = try list(56, count: 5, tags: "#EXT-X-DISCONTINUITY-SEQUENCE:1\n")
        _ = window.receive(newest.playlist, requestedAt: .seconds(112))
        #expect(try number(window, 56) == 1 && number(window, 60) == 1)
        // The next list begins where this one ends, and counts the tag before its first segment.
        newest = try list(61, count: 5, tags: "#EXT-X-DISCONTINUITY-SEQUENCE:2\n")
        _ = window.receive(newest.playlist, requestedAt: .seconds(116))
        #expect(try number(window, 61) == 2)
        // The same with the tag itself, and a count that is lost once more.
        newest = try list(66, count: 5, before: [66: "#EXT-X-DISCONTINUITY"])
        _ = window.receive(newest.playlist, requestedAt: .seconds(120))
        #expect(try number(window, 66) == 3)
    }

    @Test func `hostile counts do not overflow`() throws {
        let most = "99999999999999999999"
        var window: LiveWindow?
        for turn in 0..<60 {
            let known = window.map { $0.playlist.mediaSequence + Int64($0.playlist.count) } ?? 0
            let sequence = ["0", "\(known)", "\(known)", most, "7", "\(known)"][turn % 6]
            let stored = try StoredPlaylist(
                "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-MEDIA-SEQUENCE:\(sequence)\n"
                    + "#EXT-X-DISCONTINUITY-SEQUENCE:\(turn % 2 == 0 ? most : "0")\na\nb\n"
            )
            let time = Duration.seconds(100 * turn)
            guard var next = window else {
                window = LiveWindow(stored.playlist, requestedAt: time)
                continue
            }
            #expect(next.receive(stored.playlist, requestedAt: time) != .ignored)
            for number in next.numbers {
                #expect(try next.segment(number) { range in stored.read(range) }.discontinuity > 0)
            }
            window = next
        }
    }

    // MARK: The end

    @Test func `an ENDLIST that appears ends the stream behind the rest`() throws {
        var window = try window(50, count: 5)
        #expect(load(&window) == [52, 53, 54])
        #expect(try receive(&window, 51, count: 5, isEnded: true, at: 104) == .replaced)
        #expect(window.clock.nextReload == nil)
        #expect(window.next() == .load(55))
        window.advance()
        #expect(window.next() == .end)
        // Nothing follows an end.
        #expect(try receive(&window, 60, count: 5, at: 108) == .ignored)
        #expect(window.next() == .end)
    }

    @Test(arguments: [(50, 5), (49, 5), (50, 4)])
    func `an ENDLIST behind known segments ends the stream too`(sequence: Int64, count: Int) throws {
        var window = try window(50, count: 5)
        _ = load(&window)
        _ = try receive(&window, sequence, count: count, isEnded: true, at: 104)
        #expect(window.next() == .end && window.clock.nextReload == nil)
    }

    // MARK: Positions

    @Test func `a window that left the position behind goes on at its oldest segment, said once`() throws {
        var window = try window(50, count: 5)
        #expect(window.next() == .load(52))
        #expect(try receive(&window, 54, count: 5, at: 104) == .replaced)
        #expect(window.next() == .lost(2))
        #expect(window.next() == .load(54) && window.next() == .load(54))
        #expect(window.time(of: 54) == .seconds(16))
    }

    @Test func `a place is in a segment of the window, or at the beginning of the nearest one`() throws {
        var window = try window(50, count: 10)
        #expect(window.place(at: .seconds(17)) == (54, .seconds(17)))
        #expect(window.place(at: .seconds(-5)) == (50, .zero))
        #expect(window.place(at: .seconds(1_000)) == (59, .seconds(36)))
        #expect(try receive(&window, 53, count: 10, at: 104) == .replaced)
        #expect(window.place(at: .seconds(3)) == (53, .seconds(12)))
        window.move(to: 54)
        #expect(load(&window) == Array(54..<63))
    }

    @Test func `a list is stale once two target durations have passed since it was due`() throws {
        var window = try window(50, count: 5)
        #expect(!window.isStale(at: .seconds(111)) && window.isStale(at: .seconds(112)))
        #expect(try receive(&window, 51, count: 5, isEnded: true, at: 112) == .replaced)
        #expect(!window.isStale(at: .seconds(10_000)))
    }

    @Test func `a segment before the oldest of the first list is not played, so no position is negative`()
        throws
    {
        var window = try window(50, count: 5)
        #expect(try receive(&window, 40, count: 16, at: 104) == .replaced)
        #expect(window.numbers == 50..<56 && window.place(at: .seconds(-100)) == (50, .zero))
    }

    @Test func `GAP segments are passed over`() throws {
        let gap = "#EXT-X-GAP"
        let playlist = try list(50, count: 6, before: [53: gap, 55: gap]).playlist
        var window = LiveWindow(playlist, requestedAt: .zero)
        #expect(load(&window) == [54])
        #expect(window.next() == .reload && window.position == 56)
    }
}
