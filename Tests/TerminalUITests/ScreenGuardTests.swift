import Foundation
import Glibc
import Synchronization
import TestSupport
import System
import Testing

@testable import TerminalUI

/// The thread that gives up a screen whose terminal takes no output.
@Suite struct ScreenGuardTests {
    @Test func `other signals do not shorten the time that a screen has to end`() async throws {
        // A full pipe takes no output, as a stopped terminal does.
        let terminal = try #require(WakePipe())
        let zeros = [UInt8](repeating: 0, count: 4_096)
        while write(terminal.writeEnd, zeros, zeros.count) > 0 {}
        let signals = try #require(WakePipe())
        let given = Atomic<Int32>(0)
        let screen = try #require(
            ScreenGuard(passingTo: signals, terminal: terminal.writeEnd, modes: termios()) {
                given.store($0, ordering: .releasing)
            }
        )
        let start = ContinuousClock.now
        screen.caught.wake(UInt8(SIGTERM))
        var passed: [UInt8] = []
        try await wait(for: "the end of the patience") {
            screen.caught.wake(UInt8(SIGWINCH))
            passed += signals.drain()
            return given.load(ordering: .acquiring) != 0
        }
        #expect(ContinuousClock.now - start >= .milliseconds(600))
        #expect(given.load(ordering: .acquiring) == SIGTERM)
        #expect(passed.first == UInt8(SIGTERM) && passed.contains(UInt8(SIGWINCH)))
        screen.end()
    }
}
