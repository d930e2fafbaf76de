import Media
import Testing

@testable import TerminalUI

/// The view of downloads, the line about them, and the keys of the queue.
struct DownloadsViewTests {
    private static let address = "https://music.example/d/"

    private func download(
        _ id: UInt64,
        _ phase: DownloadReport.Phase,
        _ change: (inout DownloadReport) -> Void = { _ in }
    ) -> DownloadReport {
        let tags = TrackTags(title: SafeText("Song \(id)"))
        let track = track(id, Self.address + "\(id).mp3", tags, seconds: 60)
        var report = DownloadReport(track, phase: phase)
        change(&report)
        return report
    }

    private func state(_ downloads: [DownloadReport]) -> UIState {
        screenState(
            sampleSnapshot {
                $0.tracks.append(track(9, Self.address + "1.mp3", seconds: 60))
                $0.downloads = downloads
            }
        )
    }

    private var four: [DownloadReport] {
        [
            download(1, .running) {
                $0.length = 8_000_000
                $0.stored = ByteRangeSet(0..<4_000_000)
                $0.inFlight = [4_000_000..<6_000_000]
                $0.rate = 1_000_000
            },
            download(2, .failed(MediaError(.httpStatus, "2.mp3", "HTTP 404"))), download(3, .paused),
            download(4, .waiting),
        ]
    }

    @Test func `each download has its state, rate, time left and title, and a failed one its cause`() {
        var state = state(four)
        state.type(ViewName.downloads.keys)
        let rows = state.screen
        #expect(rows[0].hasSuffix("7 Downloads"))
        let running = rows.first { $0.hasPrefix(" ↓  Song 1 ") } ?? ""
        for part in ["8.0 MB", "50 %", "1.0 MB/s", "0:04"] { #expect(running.contains(part), "\(running)") }
        #expect(rows.contains { $0.hasPrefix(" ✗  Song 2   HTTP 404  ") && $0.hasSuffix("  failed") })
        #expect(rows.contains { $0.hasPrefix(" ‖  Song 3  ") && $0.contains("  paused") })
        #expect(rows.contains { $0.hasPrefix(" ◌  Song 4  ") && $0.contains("  waiting") })
    }

    @Test func `keys pause, continue, try again and cancel the selected download`() {
        var state = state(four)
        state.type(ViewName.downloads.keys)
        func command(_ keys: String, _ row: Int) -> PlayerCommand? {
            state.type("g" + String(repeating: "j", count: row))
            guard case .send(let command)? = state.type(keys).last else { return nil }
            return command
        }
        for (keys, row, change) in [
            ("D", 0, .pause), ("D", 1, .retry), ("D", 2, .resume), ("D", 3, .pause), ("\n", 1, .retry),
            ("d", 0, .cancel), ("d", 1, .cancel),
        ] as [(String, Int, DownloadChange)] {
            let expected = PlayerCommand.changeDownloads(change, .at(four[row].track.location))
            #expect(command(keys, row) == expected)
        }
    }

    @Test func `all that is known of the selected download is shown, in the queue or not`() {
        var state = state(four)
        state.type(ViewName.downloads.keys + "I")
        #expect(state.view == .facts)
        #expect(state.screen.contains { $0.contains("Address") && $0.contains(Self.address + "1.mp3") })
        #expect(state.screen.contains { $0.contains("Length") })
        state.type("IjI")
        #expect(state.screen.contains { $0.contains("Address") && $0.contains(Self.address + "2.mp3") })
        #expect(!state.screen.contains { $0.contains("Length") })
    }

    @Test func `the selection stays on its download while others end`() {
        var state = state(four)
        state.type(ViewName.downloads.keys + "jj")
        state.show { $0.downloads.removeFirst() }
        #expect(state.type("D") == [.send(.changeDownloads(.resume, .at(four[2].track.location)))])
    }

    @Test func `a view without downloads says how to begin one, and its keys say that none is selected`() {
        var state = state([])
        state.type(ViewName.downloads.keys)
        #expect(state.screen.contains { $0.contains("No downloads – D in the queue downloads tracks") })
        #expect(state.type("D").isEmpty && state.answer?.isError == true)
    }

    @Test func `a line below the list sums up the downloads while any run`() {
        let sum = "↓ 1 downloading · 1 waiting · 1 failed · 1.0 MB/s · 0:04 left"
        var state = state(four)
        let row = state.layout.listRows.upperBound
        #expect(state.screen[row].hasSuffix("   " + sum))
        // Also in a view with a word of its own there.
        var report = CacheContents()
        report.revision = 2
        report.entries = sampleEntries()
        report.savings.total = HeardBytes(heard: 1_000_000_000_000, saved: 1_000_000_000_000)
        _ = state.apply(.cache(report))
        state.type("3")
        #expect(state.screen[row].hasSuffix("   " + sum))
        state.type("1")
        // One that the music keeps from the connection only waits.
        state.show { player in
            player.downloads = player.downloads.filter(\.isAwaited)
            player.downloads[0].inFlight = []
            player.downloads[0].rate = 20
        }
        #expect(state.screen[row].hasSuffix("   ↓ 2 waiting for the connection"))
        state.show { $0.downloads = [self.download(3, .paused)] }
        #expect(state.screen[row].isEmpty)
    }

    @Test func `the row of a track that is downloaded shows what is stored and on its way`() {
        let player = state(four).player
        let place = player.tracks.count - 1
        let row = QueueRow(player, index: place, isMarked: false, glyphs: .unicode)
        let expected = RangeBar.parts(
            ByteRangeSet(0..<4_000_000),
            inFlight: [4_000_000..<6_000_000],
            length: 8_000_000
        )
        #expect(row.map == expected)
    }

    @Test func `D in the queue downloads the marked tracks, or the selected one`() {
        var state = queueState(4)
        #expect(state.type("jD") == [.send(.download(2))])
        #expect(state.type("gxxD") == [.send(.download(TrackNumbers(places: RangeSet(0..<2))))])
        #expect(state.queue.marks.isEmpty)
        #expect(state.type("2D").isEmpty && state.answer?.isError == true)
    }

    @Test func `the status line says until when the music lasts without the network`() {
        func status(_ state: PlayerSnapshot.State, left: Int, isEstimate: Bool = false) -> String {
            let player = sampleSnapshot { player in
                player.state = state
                player.offlineTime = OfflineTime(
                    left: .seconds(left),
                    end: .seconds(67_320 + left),
                    isEstimate: isEstimate
                )
            }
            let state = fullState(player: player)
            return ScreenView(glyphs: .unicode).draw(state).lines[state.layout.statusRow ?? 0]
        }
        #expect(status(.playing, left: 0).hasSuffix("  offline until 18:42"))
        #expect(
            status(.playing, left: 6_120, isEstimate: true).hasSuffix("  offline until ~20:24")
        )
        #expect(status(.paused, left: 6_120).hasSuffix("  offline for 1:42:00"))
        // A time of day means the next one.
        #expect(status(.playing, left: 90_000).hasSuffix("  offline for 25:00:00"))
    }

    @Test(
        arguments: [
            (SleepReport(left: .seconds(1_752)), "  sleep 29:12"),
            (SleepReport(left: .seconds(190), point: .track), "  sleep after track 3:10"),
            (SleepReport(left: nil, point: .album), "  sleep after album"),
        ]
    )
    func `the status line says how long the music plays until it sleeps`(report: SleepReport, text: String) {
        let player = sampleSnapshot { player in
            player.sleep = report
            player.stopPoint = report.point
        }
        let state = fullState(player: player)
        let line = ScreenView(glyphs: .unicode).draw(state).lines[state.layout.statusRow ?? 0]
        #expect(line.contains(text) && !line.contains("stops after"))
    }
}
