import Foundation
import Media
import TestSupport
import Testing

@testable import TerminalUI

/// The moving picture of the README: the real player in a terminal, and how it is written.
@Suite struct RecordingTests {
    private static let size = (columns: 100, rows: 28)
    private static let length = 10.0

    private func moment(_ time: Double, _ rows: String...) -> ScreenAnimation.Moment {
        ScreenAnimation.Moment(
            time: time,
            rows: ScreenPicture.rows(ofStyled: rows.joined(separator: "\n"))
        )
    }

    @Test func `an element is written once, and is there at its times`() {
        let picture = ScreenPicture(palette: Palette(colors: 256))
        let animation = ScreenAnimation(picture: picture, columns: 9, rows: 2, length: Self.length)
        let drawn = animation.svg(of: [
            moment(0, "same", "one"), moment(2.5, "same", "two"), moment(5, "same", "one"),
        ])
        let texts = drawn.split(separator: "\n").filter { $0.hasPrefix("<text") }
        #expect(texts.map { $0.contains("same") } == [true, false, false])
        let times = drawn.matches(of: /<g( opacity="0")?><animate attributeName="opacity" (.*?) dur="10.0s"/)
        #expect(times.map { $0.1 == nil } == [true, false])
        #expect(
            times.map { $0.2 } == [
                "values=\"1;0;1\" keyTimes=\"0;.25;.5\"", "values=\"0;1;0\" keyTimes=\"0;.25;.5\"",
            ]
        )
    }

    @Test func `the colours and attributes of a terminal's text are read`() {
        let rows = ScreenPicture.rows(
            ofStyled: "\u{1B}[1mab\u{1B}[0m夜c\u{1B}[38;5;114;48;2;1;2;3m█\n\u{1B}[7;39md"
        )
        let runs = rows.joined()
        #expect(runs.map(\.text) == ["ab", "夜", "c", "█", "d"])
        #expect(runs.map(\.column) == [0, 2, 4, 5, 0])
        let plain = Rendition()
        var bold = plain
        bold.isBold = true
        let colored = Rendition(ink: .index(114), paper: .exact(ScreenColor(0x010203)))
        // What was set in a row holds in the next.
        let reversed = Rendition(isReversed: true, paper: .exact(ScreenColor(0x010203)))
        #expect(runs.map(\.rendition) == [bold, plain, plain, colored, reversed])
    }

    /// Records `assets/demo.svg`, for `make screenshot`: it differs each time, so no test compares it.
    @Test(.enabled(if: ProcessInfo.processInfo.environment["REPRISE_RECORD"] == "1"))
    func `the plug is pulled, and the music goes on`() async throws {
        let folder = try TemporaryFolder()
        // In a network of its own, whose only address goes with the server, as if a cable were pulled.
        let script = """
            cd "$1"; ip link set lo up
            "$2" "$3" --port 8765 --bandwidth 100000 --round-trip 40 >/dev/null & origin=$!
            (until [ -e pulled ]; do sleep 0.05; done; kill -9 $origin; sleep 0.05; ip address flush dev lo) &
            until (exec 3<>/dev/tcp/127.0.0.1/8765) 2>/dev/null; do sleep 0.05; done
            exec "$4" --sink null --cache-dir cache --ahead all http://127.0.0.1:8765/demo.m3u8 2>errors
            """
        let assets = ScreenCapture.asset("").path
        let words = [
            "unshare", "-rn", "bash", "-c", script, "bash", folder.path, BuiltProducts.origin, assets,
        ]
        let terminal = try await TmuxSession(
            words + [BuiltProducts.reprise],
            columns: Self.size.columns,
            rows: Self.size.rows,
            environment: [
                "COLORTERM": "truecolor", "XDG_STATE_HOME": folder.path("state"),
                "XDG_CONFIG_HOME": folder.path("config"), "DBUS_SESSION_BUS_ADDRESS": SessionBus.noAddress,
            ]
        )
        try await terminal.wait(for: "0:01 / 1:18")
        let start = ContinuousClock.now
        var moments: [ScreenAnimation.Moment] = []
        var caption = "A server at 100 kB/s. Whatever arrives is cached."
        func record(_ keys: String..., seconds: Double) async throws {
            if !keys.isEmpty { try await terminal.sendKeys(keys) }
            let end = ContinuousClock.now + .seconds(seconds)
            while ContinuousClock.now < end {
                let time = (ContinuousClock.now - start).seconds
                let screen = try await terminal.captureStyled()
                var rows = ScreenPicture.rows(ofStyled: screen).prefix(Self.size.rows) + [[]]
                let column = (Self.size.columns - caption.count) / 2
                let look = Rendition(isBold: true, ink: .index(180))
                rows.append([.init(column: column, columns: caption.count, text: caption, rendition: look)])
                moments.append(ScreenAnimation.Moment(time: moments.isEmpty ? 0 : time, rows: Array(rows)))
                try await Task.sleep(for: .milliseconds(200))
            }
        }
        try await record(seconds: 2.4)
        try await record("2", seconds: 0.5)
        try await record("v", seconds: 2)
        try await record("}", seconds: 1.4)
        try await record("}", seconds: 1.6)
        try folder.write("", to: "pulled")
        caption = "The plug is pulled. The music goes on."
        try await record(seconds: 4.4)
        try await record("1", seconds: 1.4)
        try await record(">", seconds: 4)
        let animation = ScreenAnimation(
            picture: ScreenPicture(palette: Palette(colors: 256)),
            columns: Self.size.columns,
            rows: Self.size.rows + 2,
            length: (ContinuousClock.now - start).seconds
        )
        let drawn = animation.svg(of: moments)
        #expect(animation.length <= 20 && drawn.utf8.count <= 300_000)
        try drawn.write(to: ScreenCapture.asset("demo.svg"), atomically: true, encoding: .utf8)
        try await terminal.sendKeys("q")
    }
}
