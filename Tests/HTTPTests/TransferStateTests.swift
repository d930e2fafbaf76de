@testable import HTTP
import Media
import Testing

struct TransferStateTests {
    private let second = Duration.seconds(1)

    @Test func `a piece that would exceed the bound is left to the sender until half is taken`() throws {
        var state = try inBody()
        let piece = [UInt8](repeating: 7, count: 16 * 1024)
        var taken = 0
        while receive(piece, &state) == .taken { taken += piece.count }
        #expect(taken == TransferState.buffered)
        #expect(receive(piece, &state) == .pause)
        var resumedAt: Int?
        while resumedAt == nil, case .chunk(let bytes, let resumes) = state.takeChunk(now: .zero) {
            taken -= bytes.count
            if resumes { resumedAt = taken }
        }
        #expect(resumedAt == TransferState.buffered / 2)
        #expect(receive(piece, &state) == .taken)
    }

    @Test func `a body that shares its connection is not paused before it is out of bounds`() throws {
        var state = try inBody(version: "HTTP/2")
        let piece = [UInt8](repeating: 7, count: 1024 * 1024)
        for _ in 0..<16 { #expect(receive(piece, &state) == .taken) }
        #expect(receive(piece, &state) == .pause)
    }

    @Test func `a paused transfer is never late, and has its idle time again once resumed`() throws {
        var state = try inBody()
        let piece = [UInt8](repeating: 7, count: 64 * 1024)
        while receive(piece, &state) == .taken {}
        #expect(look(&state, at: second * 1_000) == .look(at: second * 1_010))
        for _ in 0..<2 { _ = state.takeChunk(now: second * 2_000) }
        #expect(look(&state, at: second * 2_009) == .look(at: second * 2_010))
        guard case .expired(let error) = state.timePassed(now: second * 2_010) else {
            Issue.record("the idle time has passed")
            return
        }
        #expect(error.code == .timedOut)
        #expect(look(&state, at: second * 2_010) == .over)
    }

    @Test func `who was never connected to cannot be reached, and who was is late`() {
        for isConnected in [false, true] {
            var state = TransferState(subject: "a", timeouts: Timeouts(), now: .zero)
            if isConnected { state.connected(at: .zero) }
            guard case .expired(let error) = state.timePassed(now: second * 15) else {
                Issue.record("the time has passed")
                continue
            }
            #expect(error.code == (isConnected ? .timedOut : .connectionFailed))
        }
    }

    @Test func `each stage has its own deadline, and no look is longer than the shortest of them`() throws {
        var state = TransferState(subject: "a", timeouts: Timeouts(), now: .zero)
        #expect(look(&state, at: second * 9) == .look(at: second * 10))
        state.connected(at: second * 9)
        #expect(look(&state, at: second * 10) == .look(at: second * 20))
        state.headReceived(try .made(of: ["HTTP/2 200"]), owed: nil, at: second * 11)
        #expect(look(&state, at: second * 20) == .look(at: second * 21))
        #expect(look(&state, at: second * 21) != .over)
        #expect(state.isOver)
    }

    @Test func `the end comes with the last promised byte, not with the sender's last word`() throws {
        var state = try inBody(owed: 3)
        #expect(receive([1, 2, 3], &state) == .taken)
        #expect(chunk(&state) == [1, 2, 3])
        #expect(isEnd(&state))
        // A later failure does not affect the announced bytes.
        state.finished(failure: MediaError(.cut, "a", "late"))
        #expect(isEnd(&state))
    }

    @Test func `surplus ends the transfer and is dropped`() throws {
        var state = try inBody(owed: 3)
        #expect(receive([1, 2], &state) == .taken)
        #expect(receive([3, 4], &state) == .refused)
        #expect(chunk(&state) == [1, 2, 3])
        #expect(isEnd(&state))
    }

    @Test func `what came before a cancel is handed out, and whatever comes after it is late`() throws {
        var state = try inBody()
        #expect(receive([1], &state) == .taken)
        #expect(cancel(&state))
        #expect(!cancel(&state))
        #expect(receive([2], &state) == .refused)
        state.finished(failure: nil)
        state.failed(MediaError(.cut, "a", "late"))
        #expect(state.hasAnswer(to: .chunk))
        #expect(chunk(&state) == [1])
        for _ in 0..<2 { #expect(isCancelled(state.takeChunk(now: .zero))) }
    }

    @Test func `a full buffer outlives a cancel, and nothing is resumed for it`() throws {
        var state = try inBody()
        let piece = [UInt8](repeating: 7, count: 64 * 1024)
        while receive(piece, &state) == .taken {}
        #expect(cancel(&state))
        var taken = 0
        while case .chunk(let bytes, let resumes) = state.takeChunk(now: .zero) {
            taken += bytes.count
            #expect(!resumes)
        }
        #expect(taken == TransferState.buffered)
        #expect(isCancelled(state.takeChunk(now: .zero)))
    }

    @Test func `a cancel takes the head back, whatever of the body came`() throws {
        var state = try inBody()
        #expect(receive([1], &state) == .taken)
        #expect(cancel(&state))
        #expect(isCancelled(state.takeHead()))
    }

    @Test func `what a released body had not handed out is freed`() throws {
        var state = try inBody()
        #expect(receive([1], &state) == .taken)
        #expect(release(&state))
        #expect(!release(&state))
        #expect(isCancelled(state.takeChunk(now: .zero)))
    }

    private func inBody(owed: Int64? = nil, version: String = "HTTP/1.1") throws -> TransferState {
        var state = TransferState(subject: "a", timeouts: Timeouts(), now: .zero)
        state.connected(at: .zero)
        state.headReceived(try .made(of: ["\(version) 200"]), owed: owed, at: .zero)
        return state
    }

    private func receive(_ bytes: [UInt8], _ state: inout TransferState) -> TransferState.Intake {
        bytes.withUnsafeBytes { state.received($0, at: .zero) }
    }

    private func look(_ state: inout TransferState, at now: Duration) -> TransferState.TimeCheck {
        state.timePassed(now: now)
    }

    private func cancel(_ state: inout TransferState) -> Bool { state.cancelled() }

    private func release(_ state: inout TransferState) -> Bool { state.released() }

    private func isCancelled(_ delivery: TransferState.Delivery) -> Bool {
        guard case .failure(let error) = delivery else { return false }
        return error is CancellationError
    }

    private func chunk(_ state: inout TransferState) -> [UInt8]? {
        guard case .chunk(let bytes, _) = state.takeChunk(now: .zero) else { return nil }
        return bytes
    }

    private func isEnd(_ state: inout TransferState) -> Bool {
        guard case .end = state.takeChunk(now: .zero) else { return false }
        return true
    }
}
