import Media
@testable import TerminalUI
import Testing

/// Keys in the views of the cache, the network and the messages.
struct CacheViewTests {
    private func state(_ keys: String) -> UIState {
        var state = fullState()
        state.type(keys)
        return state
    }

    @Test func `the cache is watched only while its view is open`() {
        var state = fullState()
        #expect(state.type("3") == [.watchCache(true)])
        #expect(state.type(":view cache\n").contains(.watchCache(true)))
        #expect(state.type("41") == [.watchCache(false)])
        #expect(state.type("3⎋") == [.watchCache(true), .watchCache(false)])
    }

    @Test func `the tab counts lists apart from tracks`() {
        var state = state("3")
        _ = state.apply(.resized(columns: 100, rows: 24))
        #expect(state.screen[0].hasSuffix("3 tracks · 7.6 MB"))
        state.showCache(sampleEntries(), lists: 1, revision: 2)
        #expect(state.screen[0].hasSuffix("2 tracks, 1 list · 7.6 MB"))
    }

    @Test func `the foot says what was saved, if there is a blank row for it`() {
        var state = state("3")
        #expect(!state.screen.contains { $0.contains("saved") })
        var report = CacheContents()
        report.revision = 2
        report.entries = sampleEntries()
        report.savings.month = HeardBytes(heard: 4_940_000_000, saved: 4_100_000_000)
        _ = state.apply(.cache(report))
        let foot = " 4.1 GB saved this month, 82 % of what you heard"
        #expect(state.screen.firstIndex(of: foot) == state.layout.footRow)
        _ = state.apply(.resized(columns: 80, rows: 15))
        #expect(!state.screen.contains(foot))
    }

    @Test func `a cached track is deleted only if the key is pressed twice`() {
        var state = state("3")
        #expect(state.type("d").isEmpty)
        #expect(state.answer?.text == "Press d again to delete 5.0 MB of 夜の音楽 – 東京アンサンブル")
        // Any other key cancels it.
        #expect(state.type("jkd").isEmpty)
        #expect(state.type("d") == [.evict(CachedItem.ID(7))])
        #expect(state.type("jd").isEmpty && state.answer?.isError == true)
        #expect(state.answer?.text == "Can't delete a pinned track – unpin it first")
        #expect(state.type("d").isEmpty)
    }

    @Test func `a message does not replace the question before a deletion`() {
        var state = state("3d")
        let question = state.answer
        var player = state.player
        player.messages.append(message(99, "Reconnected to music.example after 0:07"))
        #expect(state.apply(.snapshot(player)).isEmpty)
        #expect(state.answer == question && question?.text.string.hasPrefix("Press d again") == true)
        #expect(state.type("d") == [.evict(CachedItem.ID(7))])
        // The message is still news once the answer has gone.
        _ = state.apply(.noticeExpired)
        #expect(state.screen.last == " Reconnected to music.example after 0:07")
    }

    @Test func `a cached track is pinned, unpinned and added to the queue`() {
        var state = state("3")
        #expect(state.type("P") == [.setPinned(CachedItem.ID(7), true)])
        #expect(state.type("jP") == [.setPinned(CachedItem.ID(8), false)])
        #expect(state.type("\n") == [.send(.add("https://music.example/a/01%20Morning.mp3"))])
        // An incomplete address cannot be added.
        #expect(state.type("j\n").isEmpty && state.answer?.isError == true)
    }

    @Test func `the selection follows its track into another order, and a problem is shown`() {
        var state = state("3j")
        state.showCache(sampleEntries().reversed(), revision: 2, problem: "it is being played")
        #expect(state.cache.selected?.id == CachedItem.ID(8))
        #expect(state.answer?.text == "it is being played" && state.answer?.isError == true)
        state.showCache([], revision: 2)
        #expect(state.type("ddP\n").isEmpty)
    }

    @Test func `the selection follows new requests until it is moved, and stays on its row of a full ring`() {
        var state = state("4")
        #expect(state.network.list.selected == 5)
        let records = (0..<3).flatMap { _ in sampleRecords() }
        _ = state.apply(.requests(Array(records.prefix(8)), count: 8, underWay: []))
        #expect(state.network.list.selected == 7)
        state.type("kk")
        let looked = state.network.records[state.network.list.selected]
        // Two came, the two oldest were forgotten.
        _ = state.apply(.requests(Array(records[2..<10]), count: 10, underWay: []))
        #expect(state.network.list.selected == 3 && state.network.records[3] == looked)
    }

    @Test func `complete requests of one file for one purpose are one row if they are neighbours`() {
        func request(_ number: Int, _ change: (inout RequestRecord) -> Void = { _ in }) -> JournalRecord {
            let start = Int64(number) * 65_536
            var request = RequestRecord(
                number: number,
                urgency: .readAhead,
                asked: start..<start + 65_536,
                startedAt: .seconds(number)
            )
            request.status = 206
            request.end = "complete"
            request.bytes = 65_536
            request.firstByte = .milliseconds(20)
            request.duration = .milliseconds(1_020)
            change(&request)
            return record(60 + number, .request(request))
        }
        let records =
            (1...3).map { request($0) } + [request(4) { $0.end = "cancelled" }, request(5)]
            + [request(6), request(7) { $0.urgency = .demand }]
        var state = state("4")
        _ = state.apply(.requests(records, count: 7, underWay: []))
        let rows = state.screen[2..<7].map { $0.split(separator: " ").dropFirst().joined(separator: " ") }
        #expect(
            rows == [
                "read-ahead 197 kB 20 ms 66 kB/s 206 02.mp3 ×3",
                "read-ahead 66 kB 20 ms 66 kB/s 206 02.mp3 cancelled",
                "read-ahead 131 kB 20 ms 66 kB/s 206 02.mp3 ×2",
                "demand 66 kB 20 ms 66 kB/s 206 02.mp3", "",
            ]
        )
        // The selected row stays while the oldest records are forgotten and its own group grows.
        state.type("gj")
        #expect(state.network[state.network.list.selected].count == 1)
        _ = state.apply(.requests(Array(records[2...]) + [request(8)], count: 8, underWay: []))
        #expect(state.network[state.network.list.selected] == [records[3]])
        #expect(state.network.list.selected == 1)
    }

    @Test(
        arguments: [
            (206, "complete", .normal), (304, "complete", .dim), (404, "complete", .error),
            (503, "complete", .error), (206, "cancelled", .dim), (nil, "timed-out", .error),
        ] as [(Int?, String, Style)]
    )
    func `a request has the colour of the class of its status`(status: Int?, end: String, style: Style) throws
    {
        var request = RequestRecord(number: 1, urgency: .demand, asked: 0..<9, startedAt: .seconds(1))
        request.status = status
        request.end = end
        var state = state("4")
        _ = state.apply(.requests([record(61, .request(request))], count: 1, underWay: []))
        let frame = ScreenView(glyphs: .unicode, timeOfDay: minutes).draw(state)
        let row = try #require(frame.lines.firstIndex { $0.contains(" demand ") })
        let cells = frame[row: row].filter { !$0.text.allSatisfy(\.isWhitespace) }
        // The time is always grey.
        #expect(cells.first?.style == .dim && cells.last?.style == style)
    }

    @Test func `what was never played is shown as that`() {
        var state = state("3")
        state.showCache([CachedItem(CachedItem.ID(1), url: "http://h/a.mp3", lastPlayed: 0)], revision: 2)
        #expect(state.screen.contains { $0.contains(" never") && $0.contains("a.mp3") })
    }

    @Test func `a search in the cache and the network looks through the names that the rows show`() {
        for (keys, row) in [("3/01 morning\n", 1), ("3f01 morning\n", 0), ("3/music.example\n", 0)] {
            let state = state(keys)
            #expect(state.answer?.isError != true && state.cache.list.selected == row)
        }
    }

    @Test func `the selection follows new messages until it is moved`() {
        var state = state("5")
        state.show { $0.messages = (1...40).map { message($0, "reconnected") } }
        #expect(state.messages.list.selected == 39)
        state.type("kk")
        state.show { $0.messages.append(message(41, "reconnected")) }
        #expect(state.messages.list.selected == 37 && state.messages.list.count == 41)
    }
}
