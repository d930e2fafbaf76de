import Media
@testable import TerminalUI
import Testing

struct MouseTests {
    private func state(_ count: Int = 50, columns: Int = 80) -> UIState {
        fullState(columns: columns, player: sampleSnapshot { $0.tracks = manyTracks(count) })
    }

    private func press(_ column: Int, _ row: Int, _ state: inout UIState) -> [UIAction] {
        state.apply(.mouse(MouseEvent(.press, column: column, row: row)))
    }

    private func click(_ column: Int, _ row: Int, _ state: inout UIState) -> [UIAction] {
        #expect(press(column, row, &state).isEmpty)
        return state.apply(.mouse(MouseEvent(.release, column: column, row: row)))
    }

    private func wheel(_ kind: MouseEvent.Kind, _ state: inout UIState) {
        _ = state.apply(.mouse(MouseEvent(kind, column: 5, row: 5)))
    }

    @Test(arguments: ViewName.queue.tabs)
    func `a click on a tab opens its view at every width`(view: ViewName) {
        for columns in [80, 46] {
            for open in ViewName.queue.tabs {
                var state = state(columns: columns)
                state.type("\(open.number)")
                let column = state.screen[0].map(String.init).firstIndex(of: "\(view.number)")
                _ = press(column ?? 0, 0, &state)
                #expect(column != nil && state.view == view)
            }
        }
    }

    @Test func `a click between tabs, and in an empty row, does nothing`() {
        var state = state(3)
        #expect(press(0, 0, &state).isEmpty && state.view == .queue)
        #expect(press(9, 0, &state).isEmpty && state.view == .queue)
        #expect(press(5, 12, &state).isEmpty && state.queue.list.selected == 1)
        #expect(press(5, 20, &state).isEmpty)
    }

    @Test func `a click selects the row under it, two play it`() {
        var state = state()
        state.type("G")
        let top = state.queue.list.top
        #expect(press(20, 4, &state).isEmpty)
        #expect(state.queue.list.selected == top + 2)
        let double = MouseEvent(.doublePress, column: 20, row: 4)
        #expect(state.apply(.mouse(double)) == [.send(.jump(top + 3))])
    }

    @Test func `in a table the rows are counted from below the titles`() {
        var state = state()
        state.type("3")
        // The titles, in row 1, are not a row of the list.
        for row in [3, 1] {
            _ = press(20, row, &state)
            #expect(state.cache.list.selected == 1)
        }
    }

    @Test func `the wheel scrolls the open view, and moves the selection only to keep it in view`() {
        var state = state()
        state.type("jjjj")
        wheel(.wheelDown, &state)
        #expect(state.queue.list.top == 3 && state.queue.list.selected == 5)
        wheel(.wheelDown, &state)
        #expect(state.queue.list.top == 6 && state.queue.list.selected == 6)
        for _ in 0..<3 { wheel(.wheelUp, &state) }
        #expect(state.queue.list.top == 0)
        state.type("6")
        wheel(.wheelDown, &state)
        #expect(state.help.list.top == 3 && state.queue.list.top == 0)
    }

    /// 240 seconds in 10,000 bytes, after 400 bytes of tags.
    private var measured: PlayerSnapshot {
        var info = StreamInfo(format: AudioFormat(sampleRate: 44_100, channelCount: 2), bytesPerSecond: 40)
        info.audioStart = 400
        return sampleSnapshot {
            ($0.info, $0.load.length, $0.duration) = (info, 10_000, .seconds(240))
            $0.timeMap = TimeMap(duration: .seconds(240), audio: 400..<10_000)
        }
    }

    @Test func `a click in the bar seeks to the position that the bar then shows`() {
        for columns in [17, 40, 80, 200] {
            var state = fullState(columns: columns, player: measured)
            for column in [0, 1, columns / 3, columns / 2, columns - 1] {
                guard case .send(.seek(.to(let time))) = click(column, 21, &state).first else {
                    Issue.record("no seek at \(column) of \(columns)")
                    return
                }
                var later = state
                later.show { ($0.position, $0.byteOffset) = (time, 400 + Int64(time.seconds * 40)) }
                let head = later.screen[21].map(String.init).firstIndex(of: "▌")
                #expect(head == min(max(1, column), columns - 2), "column \(column) of \(columns)")
            }
        }
    }

    @Test func `a live stream and a window without a bar cannot be clicked, music of unknown bit rate can`() {
        var live = fullState(player: measured)
        live.show { $0.load.live = LiveReport() }
        #expect(click(40, 21, &live).isEmpty)
        var tiny = fullState(columns: 10, rows: 3, player: measured)
        #expect(click(4, 1, &tiny).isEmpty)
        // Before the track is open, only its duration is known.
        var unmeasured = fullState(player: measured)
        unmeasured.show { ($0.info, $0.timeMap) = (nil, nil) }
        #expect(click(40, 21, &unmeasured) == [.send(.seek(.to(.milliseconds(120_001))))])
    }

    @Test func `a drag on the bar shows the time under the pointer, and its end seeks once`() {
        var state = fullState(player: measured)
        #expect(press(10, 21, &state).isEmpty && state.screen[23] == " To 0:27")
        for (column, row, time) in [(40, 20, " To 2:00"), (60, 3, " To 3:01"), (200, 30, " To 3:56")] {
            #expect(state.apply(.mouse(MouseEvent(.drag, column: column, row: row))).isEmpty)
            #expect(state.screen[23] == time)
            let head = state.screen[21].map(String.init).firstIndex(of: "▌")
            #expect(head == min(column, 78) && state.screen[20].contains("▌"))
        }
        _ = state.apply(.mouse(MouseEvent(.drag, column: 40, row: 21)))
        let release = UIEvent.mouse(MouseEvent(.release, column: 40, row: 21))
        #expect(state.apply(release) == [.send(.seek(.to(.milliseconds(120_001))))])
        #expect(state.apply(release).isEmpty, "the drag has ended")
    }

    @Test func `a key ends a drag, which then seeks nowhere`() {
        var state = fullState(player: measured)
        _ = press(10, 21, &state)
        state.type("t")
        #expect(state.apply(.mouse(MouseEvent(.drag, column: 40, row: 21))).isEmpty)
        #expect(state.apply(.mouse(MouseEvent(.release, column: 40, row: 21))).isEmpty)
        #expect(state.barPointer == nil)
    }

    @Test func `a release that got lost makes no later click seek`() {
        var state = fullState(player: measured)
        _ = press(10, 21, &state)
        _ = press(10, 5, &state)
        #expect(state.barPointer == nil)
        #expect(state.apply(.mouse(MouseEvent(.release, column: 10, row: 5))).isEmpty)
    }

    @Test func `a drag ends with its track, or with another size of the window`() {
        var state = fullState(player: measured)
        _ = press(10, 21, &state)
        state.show { $0.currentIndex = 2 }
        #expect(state.barPointer == nil)
        _ = press(10, 21, &state)
        #expect(state.barPointer == 9)
        _ = state.apply(.resized(columns: 8, rows: 24))
        #expect(state.apply(.mouse(MouseEvent(.release, column: 10, row: 21))).isEmpty)
    }

    @Test func `the wheel seeks on the bar, changes the volume on the volume, and scrolls elsewhere`() {
        var state = fullState(player: measured)
        func turn(_ kind: MouseEvent.Kind, _ column: Int, _ row: Int) -> [UIAction] {
            state.apply(.mouse(MouseEvent(kind, column: column, row: row)))
        }
        for row in [20, 21] {
            #expect(turn(.wheelUp, 5, row) == [.send(.seek(.by(.seconds(5))))])
            #expect(turn(.wheelDown, 70, row) == [.send(.seek(.by(.seconds(-5))))])
        }
        let volume = Array(state.screen[22]).firstIndex(of: "v") ?? 0
        #expect(turn(.wheelUp, volume, 22) == [.send(.changeVolume(by: 5))])
        #expect(turn(.wheelDown, volume + 6, 22) == [.send(.changeVolume(by: -5))])
        #expect(turn(.wheelUp, volume - 2, 22).isEmpty && turn(.wheelUp, volume + 7, 22).isEmpty)
    }
}
