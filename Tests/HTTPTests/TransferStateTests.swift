@testable import HTTP
import Media
import Testing

struct TransferStateTests {
    /// A state whose steps can be written as expectations.
    private final class Stage {
        var state: TransferState

        init() {
            guard let url = WebURL("http://b/a.mp3") else { preconditionFailure("the URL is valid") }
            let plain = RangeRequest(url: url, range: nil)
            let request = WireRequest(plain, over: Route(target: url), configuration: HTTPConfiguration())
            state = TransferState(request: request, timeouts: Timeouts(), now: .zero)
        }

        /// Takes pieces until the state has enough.
        func fill(pieces count: Int) {
            let piece = [UInt8](repeating: 7, count: count)
            while receive(piece) == .taken {}
        }

        func receive(_ bytes: [UInt8]) -> TransferState.Intake {
            bytes.withUnsafeBytes { state.received($0, at: .zero) }
        }

        /// The next time to look at the clock, in seconds; `nil` if the transfer is over or has failed.
        func look(at seconds: Int) -> Duration? {
            if case .look(let time) = state.timePassed(now: .seconds(seconds)) { time } else { nil }
        }

        func cancel() -> Bool { state.cancelled() }
        func release() -> Bool { state.released() }

        /// The next piece of the body, `end`, the code of the error, or `cancelled`.
        func take(at seconds: Int = 0) -> String {
            do {
                switch try state.takeChunk(now: .seconds(seconds)) {
                case .chunk(let bytes, let resumes): return "\(bytes.count)\(resumes ? " resumes" : "")"
                case .end: return "end"
                case .wait: return "wait"
                }
            } catch {
                return (error as? MediaError)?.code.rawValue ?? "cancelled"
            }
        }
    }

    private func inBody(owed: Int64? = nil, version: String = "HTTP/1.1") throws -> Stage {
        let stage = Stage()
        stage.state.connected(at: .zero)
        stage.state.headReceived(try .made(of: ["\(version) 200"]), owed: owed, at: .zero)
        return stage
    }

    @Test func `a transfer is paused at 256 KiB and resumed at half of that, with HTTP/2 at 16 MiB`() throws {
        let stage = try inBody()
        let piece = [UInt8](repeating: 7, count: 64 * 1024)
        for _ in 0..<4 { #expect(stage.receive(piece) == .taken) }
        #expect(stage.receive(piece) == .pause)
        #expect((1...2).map { _ in stage.take() } == ["65536", "65536 resumes"])
        #expect(stage.receive(piece) == .taken)

        let shared = try inBody(version: "HTTP/2")
        let large = [UInt8](repeating: 7, count: 1024 * 1024)
        for _ in 0..<16 { #expect(shared.receive(large) == .taken) }
        #expect(shared.receive(large) == .pause)
    }

    @Test func `small pieces are merged up to 64 KiB`() throws {
        let stage = try inBody()
        stage.fill(pieces: 16 * 1024)
        #expect((1...4).map { _ in stage.take() } == ["65536", "65536 resumes", "65536", "65536"])
    }

    @Test func `a paused transfer is never late, and has its idle time again once resumed`() throws {
        let stage = try inBody()
        stage.fill(pieces: 64 * 1024)
        #expect(stage.look(at: 1_000) == .seconds(1_010))
        for _ in 0..<2 { _ = stage.take(at: 2_000) }
        #expect(stage.look(at: 2_009) == .seconds(2_010))
        #expect(stage.look(at: 2_010) == nil)
        for _ in 0..<2 { _ = stage.take() }
        #expect(stage.take() == "timed-out")
        #expect(stage.state.timePassed(now: .seconds(2_010)) == .over)
    }

    @Test
    func `a name without an answer is a fault of the network, an address without one can't be reached`() {
        for (step, code) in ["network-unreachable", "connection-failed", "timed-out"].enumerated() {
            let stage = Stage()
            if step > 0 { stage.state.lookedUp() }
            if step > 1 { stage.state.connected(at: .zero) }
            // Sockets for other addresses change nothing.
            if step > 1 { stage.state.lookedUp() }
            #expect(stage.look(at: 15) == nil)
            #expect(stage.take() == code)
        }
    }

    @Test func `each stage has its own deadline, and no look is longer than the shortest of them`() throws {
        let stage = Stage()
        #expect(stage.look(at: 9) == .seconds(10))
        stage.state.connected(at: .seconds(9))
        #expect(stage.look(at: 10) == .seconds(20))
        stage.state.headReceived(try .made(of: ["HTTP/2 200"]), owed: nil, at: .seconds(11))
        #expect(stage.look(at: 20) == .seconds(21))
        #expect(stage.look(at: 21) == nil)
        #expect(stage.state.isOver)
    }

    @Test func `a body ends with its last promised byte; surplus is dropped, and a later failure ignored`()
        throws
    {
        let stage = try inBody(owed: 3)
        #expect(stage.receive([1, 2]) == .taken)
        #expect(stage.receive([3, 4]) == .refused)
        #expect(stage.take() == "3")
        #expect(stage.take() == "end")
        let exact = try inBody(owed: 3)
        #expect(exact.receive([1, 2, 3]) == .taken)
        #expect((1...2).map { _ in exact.take() } == ["3", "end"])
        exact.state.finished(failure: MediaError(.cut, "a", "late"))
        #expect(exact.take() == "end")
    }

    @Test func `after a cancel the head is gone, bytes that had arrived are delivered, and events are late`()
        throws
    {
        let stage = try inBody()
        stage.fill(pieces: 64 * 1024)
        #expect(stage.cancel())
        #expect(!stage.cancel())
        #expect(stage.receive([2]) == .refused)
        stage.state.finished(failure: nil)
        stage.state.failed(MediaError(.cut, "a", "late"))
        #expect(stage.state.hasAnswer(to: .chunk))
        #expect(throws: CancellationError.self) { try stage.state.receivedHead() }
        // Nothing is resumed for them.
        #expect((1...4).map { _ in stage.take() } == Array(repeating: "65536", count: 4))
        for _ in 0..<2 { #expect(stage.take() == "cancelled") }
    }

    @Test func `bytes of a released body are freed`() throws {
        let stage = try inBody()
        #expect(stage.receive([1]) == .taken)
        #expect(stage.release())
        #expect(!stage.release())
        #expect(stage.take() == "cancelled")
    }
}
