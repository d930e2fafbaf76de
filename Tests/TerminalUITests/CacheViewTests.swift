import Media
import TerminalUI
import Testing

/// Keys in the views of the cache, the network and the messages.
struct CacheViewTests {
    private func state() -> UIState {
        var state = fullState(columns: 80, rows: 24)
        state.type("3")
        return state
    }

    @Test func `the cache is watched only while its view is open`() {
        var state = fullState(columns: 80, rows: 24)
        #expect(state.type("3") == [.watchCache(true)])
        #expect(state.type(":view cache\n").contains(.watchCache(true)))
        #expect(state.type("4") == [.watchCache(false)])
        #expect(state.type("1").isEmpty)
        state.type("3")
        #expect(state.apply(.key(.escape)) == [.watchCache(false)])
    }

    @Test func `a cached track is deleted only if the key is pressed twice`() {
        var state = state()
        #expect(state.type("d").isEmpty)
        #expect(state.answer?.text == "Press d again to delete 5.0 MB of 夜の音楽 - 東京アンサンブル")
        // Any other key cancels it.
        #expect(state.type("jkd").isEmpty)
        #expect(state.type("d") == [.evict(CachedTrack.ID(7))])
        #expect(state.type("jd").isEmpty)
        #expect(
            state.answer?.text == "Can't delete a pinned track – unpin it first"
                && state.answer?.isError == true
        )
        #expect(state.type("d").isEmpty)
    }

    @Test func `a cached track is pinned, unpinned and added to the queue`() {
        var state = state()
        #expect(state.type("P") == [.setPinned(CachedTrack.ID(7), true)])
        #expect(state.type("jP") == [.setPinned(CachedTrack.ID(8), false)])
        #expect(state.type("\n") == [.send(.add("https://music.example/a/01%20Morning.mp3"))])
        // An incomplete address cannot be added.
        #expect(state.type("j\n").isEmpty)
        #expect(state.answer?.isError == true)
    }

    @Test func `the selection follows its track into another order, and a problem is shown`() {
        var state = state()
        state.type("j")
        var report = CacheContents()
        (report.revision, report.entries) = (2, sampleEntries().reversed())
        report.problem = "it is being played"
        _ = state.apply(.cache(report))
        #expect(state.cache.selected?.id == CachedTrack.ID(8))
        #expect(state.answer?.text == "it is being played" && state.answer?.isError == true)
        report.entries = []
        _ = state.apply(.cache(report))
        #expect(state.type("ddP\n").isEmpty)
    }

    @Test
    func `the selection follows new requests until it is moved, and stays on its row of a full ring`() {
        var state = fullState(columns: 80, rows: 24)
        state.type("4")
        #expect(state.network.list.selected == 5)
        _ = state.apply(.requests(sampleRecords() + sampleRecords(), count: 8, underWay: []))
        #expect(state.network.list.selected == 7)
        state.type("kk")
        let looked = state.network.records[state.network.list.selected]
        // Two came, the two oldest were forgotten.
        let next = Array((sampleRecords() + sampleRecords() + sampleRecords()).dropFirst(2).prefix(8))
        _ = state.apply(.requests(next, count: 10, underWay: []))
        #expect(state.network.list.selected == 3)
        #expect(state.network.records[3] == looked)
    }

    @Test func `the selection follows new messages until it is moved`() {
        var player = sampleSnapshot()
        var state = fullState(columns: 80, rows: 24)
        state.type("5")
        player.messages = (1...40).map { message($0, "reconnected") }
        _ = state.apply(.snapshot(player))
        #expect(state.messages.list.selected == 39)
        state.type("kk")
        player.messages.append(message(41, "reconnected"))
        _ = state.apply(.snapshot(player))
        #expect(state.messages.list.selected == 37 && state.messages.list.count == 41)
    }
}
