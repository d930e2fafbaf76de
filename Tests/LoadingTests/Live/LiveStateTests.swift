import Media
import TestSupport
import Testing

@testable import Loading

@Suite struct LiveStateTests {
    private func state(at offset: Int64 = 0, station: Station? = Station(), as type: String? = nil)
        -> LiveState
    {
        let answer = RangeAnswer(kind: .whole(length: nil), contentType: type, station: station)
        return LiveState(subject: "radio", offset: offset, answer: answer, retry: RetryState(seed: 1))
    }

    private func bytes(_ state: inout LiveState, at offset: Int64, count: Int = 1 << 20) -> [UInt8]? {
        if case .bytes(let bytes) = state.read(at: offset, count: count) { bytes } else { nil }
    }

    /// The error of a read at `offset`.
    private func failure(_ state: inout LiveState, at offset: Int64) -> MediaError.Code? {
        if case .failed(let error) = state.read(at: offset, count: 1) { error.code } else { nil }
    }

    private func offline(retryAt: Duration? = nil, isForced: Bool = false) -> ConnectivityReport {
        var network = ConnectivityReport()
        network.isOffline = true
        network.isForced = isForced
        network.retryAt = retryAt
        network.reason = MediaError(.unknownHost, "other", "cannot be found")
        return network
    }

    @Test func `a read ends before the offset of the next title`() {
        var state = state()
        state.received([1, 2, 3], title: "A")
        state.received([4, 5], title: nil)
        state.received([6], title: "B")
        #expect(bytes(&state, at: 0) == [1, 2, 3])
        #expect(bytes(&state, at: 1, count: 1) == [2])
        #expect(bytes(&state, at: 3) == [4, 5])
        #expect(state.report.readTo == 5)
        #expect(
            state.report.titles == [StreamTitle(offset: 0, text: "A"), StreamTitle(offset: 5, text: "B")]
        )
        #expect(state.read(at: 6, count: 1) == .missing)
    }

    @Test func `a repeated title is ignored, and the last 32 titles are kept`() {
        var state = state()
        for number in 1...50 {
            state.received([0], title: SafeText("Song \(number)"))
            state.received([0], title: SafeText("Song \(number)"))
        }
        #expect(state.report.titles.count == 32)
        #expect(state.report.titles.last == StreamTitle(offset: 98, text: "Song 50"))
    }

    @Test func `bytes that were read are dropped for new ones, and unread bytes pause the transfer`() {
        var state = state(at: 100)
        let chunk = [UInt8](repeating: 7, count: 1 << 16)
        while state.hasRoom { state.received(chunk, title: nil) }
        #expect(state.buffered.count == LiveState.mostUnread)
        #expect(state.buffered.lowerBound == 100, "no unread byte is dropped")
        var offset: Int64 = 100
        for _ in 0..<1_000 {
            guard let some = bytes(&state, at: offset) else { break }
            offset += Int64(some.count)
            while state.hasRoom { state.received(chunk, title: nil) }
            #expect(state.buffered.count <= LiveState.capacity + chunk.count)
        }
        #expect(state.buffered.lowerBound > 100)
        #expect(failure(&state, at: 100) == .cut)
    }

    @Test func `after the end of a connection it retries, offsets go on, and bytes restart the count`() {
        var state = state()
        state.received([1, 2], title: nil)
        let first = state.ended(nil, now: .seconds(10))
        #expect(first?.attempt == 1)
        #expect(first.map { $0.retryAt > .seconds(10) } == true)
        #expect(state.wait == first)
        let second = state.ended(MediaError(.connectionFailed, "radio", "is away"), now: .seconds(11))
        #expect(second?.attempt == 2)
        #expect(state.connected(RangeAnswer(kind: .whole(length: nil))) == nil)
        #expect(state.report.reconnections == 0, "it may end before it brings bytes")
        state.received([3], title: nil)
        state.received([4], title: nil)
        #expect(state.report.reconnections == 1)
        #expect(state.wait == nil)
        #expect(bytes(&state, at: 2) == [3])
        #expect(state.ended(nil, now: .seconds(20))?.attempt == 1)
    }

    @Test func `a station that is off the air is named by the status, not by its page, and asked again`() {
        var state = state()
        state.received([1], title: nil)
        _ = state.ended(nil, now: .zero)
        let page = RangeAnswer(kind: .refused(status: 404), contentType: "text/html")
        let wait = state.ended(state.connected(page), now: .seconds(1))
        #expect(wait?.error.cause == "off the air (404)" && wait?.attempt == 2)
    }

    @Test(arguments: [410, 403])
    func `a permanent refusal ends the stream`(status: Int) {
        var state = state()
        state.received([1], title: nil)
        _ = state.ended(nil, now: .zero)
        let refusal = state.connected(RangeAnswer(kind: .refused(status: status)))
        #expect(state.ended(refusal, now: .seconds(1)) == nil)
        #expect(state.isOver)
        #expect(bytes(&state, at: 0) == [1], "received bytes are still played")
        #expect(failure(&state, at: 1) == .httpStatus)
    }

    @Test func `a busy server is asked again at the time that it states`() {
        var state = state()
        let refusal = state.connected(RangeAnswer(kind: .refused(status: 503)))
        let wait = state.ended(refusal, retryAfter: .seconds(20), now: .seconds(1))
        #expect(wait?.retryAt == .seconds(21))
    }

    @Test func `a reader that skips beyond all buffered bytes does not pause the transfer`() {
        var state = state()
        while state.hasRoom { state.received([UInt8](repeating: 7, count: 1 << 16), title: nil) }
        let end = state.buffered.upperBound
        #expect(state.read(at: end + 1_000, count: 1) == .missing)
        #expect(state.report.readTo == end && state.hasRoom, "the transfer goes on")
        state.received([UInt8](repeating: 8, count: 2_000), title: nil)
        #expect(bytes(&state, at: end + 1_000)?.count == 1_000)
    }

    @Test func `a body of no station is complete when it ends without an error`() {
        var state = state(at: 100, station: nil)
        state.received([1, 2, 3], title: nil)
        #expect(state.length == nil)
        #expect(state.ended(nil, now: .zero) == nil)
        #expect(state.isOver && state.length == 103)
        #expect(bytes(&state, at: 101) == [2, 3])
        #expect(state.read(at: 103, count: 1) == .end)
    }

    @Test func `a body of no station that breaks off is retried like a stream`() {
        var state = state(station: nil)
        state.received([1], title: nil)
        #expect(state.ended(MediaError(.cut, "radio", "broke off"), now: .zero)?.attempt == 1)
        #expect(!state.isOver && state.length == nil)
    }

    @Test func `only a response that may be the stream continues it`() {
        let dated = Validators(lastModified: "Sat, 01 Jan 2000 00:00:00 GMT")
        let page = RangeAnswer(kind: .whole(length: nil), contentType: "text/html", station: Station())
        for isStation in [true, false] {
            var state = state(station: isStation ? Station() : nil)
            #expect(state.connected(RangeAnswer(kind: .whole(length: nil))) == nil)
            let named = RangeAnswer(kind: .whole(length: nil), validators: dated, station: Station(name: "B"))
            #expect(state.connected(named) == nil && state.report.station.name == "B")
            let refusals = [page, RangeAnswer(kind: .whole(length: 5_000))].map { state.connected($0) }
            let codes = refusals.map { $0?.code }
            #expect(codes == [.badAnswer, .cut], "a web page, and a body with a length, are no stream")
            #expect(refusals.allSatisfy { $0?.isLasting == false }, "the stream may come back")
            let dropped = state.connected(RangeAnswer(kind: .whole(length: nil), validators: dated))
            #expect(dropped?.isLasting == (isStation ? nil : true))
        }
    }

    @Test(
        arguments: [
            ("text/html", true, "text/html", true, true), ("text/html", true, "text/html", false, false),
            ("text/html", false, "text/html", false, true), ("text/html", true, "audio/mpeg", true, true),
            ("audio/mpeg", true, "text/html", true, false), (nil, true, "text/html", true, false),
        ] as [(String?, Bool, String, Bool, Bool)]
    )
    func `a stream that came as a web page and played is a stream again when it comes so`(
        first: String?,
        isStation: Bool,
        second: String,
        isStationAgain: Bool,
        isTaken: Bool
    ) {
        var state = state(station: isStation ? Station() : nil, as: first)
        state.received([1], title: nil)
        _ = state.ended(MediaError(.cut, "radio", "broke off"), now: .zero)
        let station = isStationAgain ? Station() : nil
        let answer = RangeAnswer(kind: .whole(length: nil), contentType: second, station: station)
        #expect((state.connected(answer) == nil) == isTaken)
    }

    @Test func `the return of the network restarts the count of attempts`() {
        var state = state()
        for second in 1...5 { _ = state.ended(MediaError(.cut, "radio", "away"), now: .seconds(second)) }
        #expect(state.wait?.attempt == 5)
        state.networkReturned()
        #expect(state.ended(nil, now: .seconds(9))?.attempt == 1)
    }

    @Test func `while the network is unavailable, attempts do not count and their number is not limited`() {
        var state = state()
        for minute in 1...60 {
            let network = offline(retryAt: .seconds(minute * 60 + 30))
            let code = minute.isMultiple(of: 2) ? MediaError.Code.offline : .connectionRefused
            let error = MediaError(code, "radio", "the network is away")
            let wait = state.ended(error, network: network, now: .seconds(minute * 60))
            #expect(wait?.retryAt == network.retryAt && wait?.mostAttempts == nil)
            if code == .offline {
                #expect(wait?.error == MediaError(.unknownHost, "radio", "cannot be found"))
            }
        }
        #expect(!state.isOver)
        var forced = state
        let isForced = offline(isForced: true)
        #expect(
            forced.ended(MediaError(.offline, "radio", "asked for"), network: isForced, now: .zero) == nil
        )
        #expect(forced.isOver)
        // With any network, this error is permanent.
        let wrong = MediaError(.tlsFailed, "radio", "its certificate is not trusted")
        #expect(state.ended(wrong, network: offline(), now: .seconds(4_000)) == nil && state.isOver)
    }

    @Test(arguments: 0..<100 as Range<UInt64>)
    func `reads return every byte in order, whatever the sizes of reads and chunks`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var state = state()
        let all = ByteFixtures.bytes(count: 100_000, seed: seed)
        var sent = 0
        var received: [UInt8] = []
        while received.count < all.count {
            if sent < all.count, Bool.random(using: &random) {
                let end = min(all.count, sent + Int.random(in: 1...5_000, using: &random))
                state.received(Array(all[sent..<end]), title: Bool.random(using: &random) ? "T" : nil)
                sent = end
            } else if case .bytes(let some) = state.read(
                at: Int64(received.count),
                count: Int.random(in: 1...9_000, using: &random)
            ) {
                #expect(!some.isEmpty)
                received += some
            } else {
                #expect(received.count == sent, "only bytes that have not arrived are missing")
            }
        }
        #expect(received == all)
    }
}
