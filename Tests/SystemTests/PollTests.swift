import System
import Testing

struct PollTests {
    @Test func `each descriptor that was woken is found, in the order of the call, and the others are not`()
        throws
    {
        let pipes = try (0..<3).map { _ in try #require(WakePipe()) }
        pipes[1].wake(7)
        let found = try #require(Poll.wait(reading: pipes.map(\.readEnd), atMost: .zero))
        #expect(found.map { $0 != 0 } == [false, true, false])
        #expect(pipes[1].drain() == [7] && pipes[1].drain().isEmpty)
        #expect(Poll.wait(reading: pipes.map(\.readEnd), atMost: .zero) == [0, 0, 0])
    }

    @Test func `an empty pipe can be written, a negative descriptor is left out`() throws {
        let pipe = try #require(WakePipe())
        let found = try #require(Poll.wait(reading: [-1, pipe.readEnd], writing: [pipe.writeEnd]))
        #expect(found.map { $0 != 0 } == [false, false, true])
    }

    @Test(arguments: [Duration.zero, .microseconds(1), .milliseconds(3), .seconds(-1)])
    func `a wait ends at its limit`(limit: Duration) throws {
        let pipe = try #require(WakePipe())
        #expect(Poll.wait(reading: [pipe.readEnd], atMost: limit) == [0])
    }

    @Test func `a thread that waits without a limit is woken by another`() throws {
        let pipe = try #require(WakePipe())
        NamedThread.start("waker") { pipe.wake(1) }
        while Poll.wait(reading: [pipe.readEnd]) == nil {}
        #expect(pipe.drain() == [1])
    }
}
