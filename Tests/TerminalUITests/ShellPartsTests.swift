import Foundation
import Media
import TerminalUI
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
        let said = Array("a library warns\n".utf8)
        _ = write(STDERR_FILENO, said, said.count)
        _ = consume redirect
        let after = Array("\n".utf8)
        _ = write(STDERR_FILENO, after, after.count)
        let log = try String(contentsOfFile: path, encoding: .utf8)
        #expect(log.hasPrefix("before\n") && log.contains("a library warns\n"))
        #expect(!log.hasSuffix("\n\n"), "then standard error is what it was")
    }

    @Test func `a second press soon at the same place is a double press, and a third one counts as a first`()
    {
        var clicks = ClickCounter()
        let press = MouseEvent(.press, column: 3, row: 4)
        let double = MouseEvent(.doublePress, column: 3, row: 4)
        #expect(clicks.events(for: press, at: .zero) == [press])
        #expect(clicks.events(for: press, at: .milliseconds(399)) == [press, double])
        #expect(clicks.events(for: press, at: .milliseconds(500)) == [press])
        #expect(clicks.events(for: press, at: .milliseconds(901)) == [press])
        let other = MouseEvent(.press, column: 4, row: 4)
        #expect(clicks.events(for: other, at: .milliseconds(910)) == [other])
        _ = clicks.events(for: MouseEvent(.wheelUp, column: 4, row: 4), at: .milliseconds(920))
        #expect(clicks.events(for: other, at: .milliseconds(930)) == [other])
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

    @Test func `every style has a name of its own, in small letters`() {
        #expect(Style.inFlight.name == "in-flight")
        #expect(Set(Style.allCases.map(\.name)).count == Style.allCases.count)
    }
}
