import Foundation
import Media
@testable import TerminalUI
import TestSupport
import Testing

struct ShellPartsTests {
    @Test func `snapshots are drawn at once, then at most ten times a second`() {
        var pacer = RedrawPacer()
        #expect(pacer.delay(at: .zero) == nil)
        pacer.snapshotArrived()
        #expect(pacer.delay(at: .zero) == .zero)
        pacer.drawn(at: .zero)
        #expect(pacer.delay(at: .milliseconds(10)) == nil)
        pacer.snapshotArrived()
        pacer.snapshotArrived()
        #expect(pacer.delay(at: .milliseconds(30)) == .milliseconds(70))
        #expect(pacer.delay(at: .milliseconds(130)) == .zero)
    }

    @Test func `standard error is appended to the log`() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write("before\n", to: "log")
        let redirect = StandardErrorRedirect(to: path)
        _ = write(STDERR_FILENO, "a library warns\n", 16)
        _ = consume redirect
        _ = write(STDERR_FILENO, "\n", 1)
        let log = try String(contentsOfFile: path, encoding: .utf8)
        #expect(log.hasPrefix("before\n") && log.contains("a library warns\n"))
        #expect(!log.hasSuffix("\n\n"), "then standard error is what it was")
    }

    @Test func `a second press soon at the same place is a double press, a third one a first again`() {
        var clicks = ClickCounter()
        let press = MouseEvent(.press, column: 3, row: 4)
        let double = MouseEvent(.doublePress, column: 3, row: 4)
        let other = MouseEvent(.press, column: 4, row: 4)
        let wheel = MouseEvent(.wheelUp, column: 4, row: 4)
        let release = MouseEvent(.release, column: 3, row: 4)
        for (event, milliseconds, expected) in [
            (press, 0, [press]), (release, 100, [release]), (press, 399, [press, double]),
            (press, 500, [press]), (press, 901, [press]),
            (other, 910, [other]), (wheel, 920, [wheel]), (other, 930, [other]),
        ] {
            #expect(clicks.events(for: event, at: .milliseconds(milliseconds)) == expected)
        }
    }

    @Test(
        arguments: [
            ("default", .standard), ("red", .index(1)), ("Bright-Red", .index(9)), ("208", .index(208)),
            ("256", nil), ("-1", nil), ("crimson", nil), ("bright-208", nil), ("", nil),
        ] as [(String, ColorChoice?)]
    )
    func `colours have names or numbers`(text: String, choice: ColorChoice?) {
        #expect(ColorChoice(parsing: text) == choice)
    }
}
