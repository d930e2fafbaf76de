import Media
import System
import TestSupport
import Testing

@testable import Playback

/// Which tracks are downloaded when.
@Suite struct DownloadQueueTests {
    private func reports(_ numbers: some Sequence<Int>) -> [DownloadReport] {
        numbered(numbers).map { DownloadReport($0) }
    }

    /// A queue of tracks 1 to 4, of which the first two run as downloads 1 and 2.
    private func busy() -> DownloadQueue {
        var queue = DownloadQueue()
        _ = queue.add(reports(1...4))
        return queue
    }

    private func phases(_ queue: DownloadQueue) -> [DownloadReport.Phase] { queue.items.map(\.phase) }

    private func location(_ number: Int) -> ResourceLocation { numbered([number])[0].location }

    @Test func `two run at a time, in the order in which they were added`() {
        var queue = DownloadQueue()
        let tracks = numbered(1...4)
        let (added, outputs) = queue.add(reports(1...4))
        #expect(added == tracks && outputs == [.start(1, tracks[0]), .start(2, tracks[1])])
        #expect(queue.ended(2, .downloaded(isNew: true)) == [.start(3, tracks[2])])
        #expect(queue.items.map(\.track) == [tracks[0], tracks[2], tracks[3]])
    }

    @Test func `a track that is added twice is downloaded once`() {
        var queue = busy()
        let (added, outputs) = queue.add(reports([1, 4, 5, 5]))
        #expect(added == numbered([5]) && outputs.isEmpty && queue.items.count == 5)
    }

    @Test func `one message follows the last download, with what became of all`() {
        var queue = busy()
        let error = MediaError(.httpStatus, "3.mp3", "HTTP 404")
        #expect(queue.ended(1, .downloaded(isNew: true)).count == 1)
        #expect(queue.ended(3, .failed(error)).count == 1)
        #expect(queue.ended(2, .downloaded(isNew: false)).isEmpty)
        let sum = DownloadSum(downloaded: 2, present: 1, failed: 1, firstFailure: error)
        #expect(queue.ended(4, .downloaded(isNew: true)) == [.finished(sum)])
        #expect(phases(queue) == [.failed(error)])
        // The next ones count from zero.
        _ = queue.add(reports([9]))
        #expect(queue.ended(5, .downloaded(isNew: true)) == [.finished(DownloadSum(downloaded: 1))])
    }

    @Test func `a paused download makes room for the next one, and continues in its turn`() {
        var queue = busy()
        let (count, outputs) = queue.change(.pause, [location(1)])
        #expect(count == 1 && outputs == [.cancel(1)])
        // Its resource has to close first.
        #expect(queue.change(.resume, nil).1.isEmpty)
        #expect(phases(queue) == [.waiting, .running, .waiting, .waiting])
        #expect(queue.ended(1, .cancelled) == [.start(3, numbered([1])[0])])
    }

    @Test func `what is paused is not awaited by the message`() {
        var queue = busy()
        #expect(queue.change(.pause, [location(3), location(4)]).count == 2)
        _ = queue.ended(1, .downloaded(isNew: true))
        #expect(queue.ended(2, .downloaded(isNew: true)) == [.finished(DownloadSum(downloaded: 2))])
        #expect(phases(queue) == [.paused, .paused])
    }

    @Test func `a failed download is tried again by retry, or if it is added again`() {
        let error = MediaError(.cut, "1.mp3", "cut")
        for isAdded in [false, true] {
            var queue = DownloadQueue()
            _ = queue.add(reports([1]))
            #expect(queue.ended(1, .failed(error)).count == 1)
            #expect(queue.change(.resume, nil).count == 0)
            let outputs = isAdded ? queue.add(reports([1])).1 : queue.change(.retry, nil).1
            #expect(outputs == [.start(2, numbered([1])[0])])
        }
    }

    @Test func `cancelling forgets a download, whatever its phase, and the end of its task`() {
        var queue = busy()
        #expect(queue.change(.cancel, [location(1), location(3)]).count == 2)
        #expect(queue.ended(1, .downloaded(isNew: true)) == [.start(3, numbered([4])[0])])
        #expect(queue.items.map(\.track) == numbered([2, 4]))
    }

    @Test func `a track that is opened for playing waits again, and begins once its download has closed`() {
        var queue = busy()
        #expect(queue.giveBack(location(2)) == [.cancel(2)])
        #expect(phases(queue) == [.running, .waiting, .waiting, .waiting])
        #expect(queue.giveBack(location(2)).isEmpty && queue.giveBack(location(7)).isEmpty)
        #expect(queue.ended(2, .cancelled) == [.start(3, numbered([2])[0])])
    }

    @Test func `rate and time left follow from the bytes that were stored in between`() {
        var queue = busy()
        var report = LoadReport()
        report.length = 10_000
        for (second, stored) in [(0, 1_000), (1, 2_000), (2, 5_000)] as [(Int, Int64)] {
            report.stored = ByteRangeSet(0..<stored)
            queue.progressed(1, report, at: .seconds(second))
        }
        #expect(queue.items[0].rate == 2_000 && queue.items[0].timeLeft == .seconds(2.5))
        _ = queue.change(.pause, nil)
        queue.progressed(1, report, at: .seconds(3))
        #expect(queue.items[0].rate == nil && queue.items[0].length == 10_000)
    }

    @Test func `without a network nothing is on its way until a download progresses again`() {
        var queue = busy()
        var report = LoadReport()
        report.stored = ByteRangeSet(0..<1_000)
        report.inFlight = [1_000..<3_000]
        for second in [0, 1] { queue.progressed(1, report, at: .seconds(second)) }
        queue.networkLost()
        #expect(queue.items[0].inFlight.isEmpty && queue.items[0].rate == nil)
        #expect(queue.items[0].phase == .running && queue.items[0].stored == report.stored)
        queue.progressed(1, report, at: .seconds(9))
        #expect(queue.items[0].inFlight == report.inFlight)
    }

    @Test func `after the end nothing begins, and what is not finished stays`() {
        var queue = busy()
        queue.finish()
        #expect(queue.ended(1, .cancelled).isEmpty && queue.ended(2, .cancelled).isEmpty)
        #expect(phases(queue) == [.waiting, .waiting, .waiting, .waiting])
    }

    @Test(arguments: TestCount.seeds(200, full: 20_000))
    func `whatever happens, at most two run, never two of one resource, and all end`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var queue = DownloadQueue()
        var running: [Int: ResourceLocation] = [:]
        var cancelled: Set<Int> = []
        func carryOut(_ outputs: [DownloadQueue.Output]) {
            for output in outputs {
                switch output {
                case .start(let number, let track):
                    #expect(!running.values.contains(track.location))
                    running[number] = track.location
                case .cancel(let number):
                    #expect(running[number] != nil && cancelled.insert(number).inserted)
                case .finished: #expect(queue.items.filter { $0.isAwaited && !$0.isAhead }.isEmpty)
                case .stoppedAhead: #expect(queue.items.filter(\.isAhead).isEmpty)
                case .held(let isHeld): #expect(isHeld == (queue.cost == .metered))
                }
            }
            #expect(running.count <= 2 && queue.items.filter(\.isAhead).count <= 1)
            #expect(Set(queue.items.map(\.track.location)).count == queue.items.count)
            // None waits if one can run.
            if queue.cost != .unmetered {
                #expect(running.keys.allSatisfy(cancelled.contains))
            } else if running.count < 2 {
                let waiting = Set(queue.items.filter { $0.phase == .waiting }.map(\.track.location))
                #expect(waiting.isSubset(of: running.values))
            }
        }
        func endOne() {
            guard let number = running.keys.sorted().randomElement(using: &random) else { return }
            running[number] = nil
            let failure = MediaError(.cut, "x", "cut")
            let results: [DownloadQueue.Result] = [
                .downloaded(isNew: true), .downloaded(isNew: false), .failed(failure), .full,
            ]
            let isCancelled = cancelled.remove(number) != nil && Bool.random(using: &random)
            carryOut(queue.ended(number, isCancelled ? .cancelled : results.randomElement(using: &random)!))
        }
        for _ in 0..<60 {
            let number = Int.random(in: 1...6, using: &random)
            switch Int.random(in: 0..<10, using: &random) {
            case 8: carryOut(queue.goAhead(number < 5 ? track(number + 3) : nil))
            case 9 where number == 1: queue.restartAhead()
            case 9: carryOut(queue.costChanged(to: number < 4 ? .metered : .unmetered))
            case 0, 1: carryOut(queue.add(reports(number...number + 1)).1)
            case 2:
                let change = DownloadChange.allCases.randomElement(using: &random)!
                carryOut(queue.change(change, Bool.random(using: &random) ? nil : [location(number)]).1)
            case 3: carryOut(queue.giveBack(location(number)))
            default: endOne()
            }
        }
        carryOut(queue.costChanged(to: .unmetered))
        carryOut(queue.change(.resume, nil).1)
        while !running.isEmpty { endOne() }
        #expect(queue.items.filter(\.isAwaited).isEmpty)
    }

    // MARK: Ahead

    private let full = MediaError(.notCached, "1.mp3", "full")
    private let missing = MediaError(.httpStatus, "1.mp3", "HTTP 404")

    private func track(_ number: Int) -> Track { numbered([number])[0] }

    @Test func `one track is downloaded ahead, once nothing that the user wants waits`() {
        var queue = DownloadQueue()
        #expect(queue.goAhead(track(7)) == [.start(1, track(7))])
        _ = queue.add(reports(1...3))
        #expect(queue.ended(2, .downloaded(isNew: true)) == [.start(3, track(2))])
        // Another place in the queue is downloaded instead.
        #expect(queue.goAhead(track(8)) == [.cancel(1)])
        #expect(queue.goAhead(track(8)).isEmpty)
        #expect(queue.ended(1, .cancelled) == [.start(4, track(3))])
        #expect(queue.ended(3, .downloaded(isNew: true)) == [.start(5, track(8))])
        // The message is about what the user wanted.
        #expect(queue.ended(5, .downloaded(isNew: true)).isEmpty)
        #expect(queue.ended(4, .downloaded(isNew: true)) == [.finished(DownloadSum(downloaded: 3))])
        #expect(queue.settledAhead == Set([1, 2, 3, 8].map { location($0) }))
    }

    @Test func `what can't be downloaded ahead is passed over, and is no failed download`() {
        var queue = DownloadQueue()
        _ = queue.goAhead(track(1))
        #expect(queue.ended(1, .failed(missing)).isEmpty)
        #expect(queue.items.isEmpty && queue.settledAhead == [location(1)])
        // It was chosen once more before its end was known.
        #expect(queue.goAhead(track(1)).isEmpty && queue.items.isEmpty)
        queue.restartAhead()
        #expect(queue.settledAhead.isEmpty)
    }

    @Test func `after ten failures in a row nothing more is downloaded ahead until it is asked for again`() {
        var queue = DownloadQueue()
        var number = 0
        func fail(_ count: Int, _ error: MediaError) -> [DownloadQueue.Output] {
            (0..<count).flatMap { _ in
                number += 1
                return queue.goAhead(track(number)) + queue.ended(number, .failed(error))
            }
        }
        #expect(!fail(9, missing).contains(.stoppedAhead(.failures)))
        number += 1
        _ = queue.goAhead(track(number))
        _ = queue.ended(number, .downloaded(isNew: true))
        // Streams and lists are no failures of the server.
        #expect(!fail(9, missing).contains(.stoppedAhead(.failures)))
        #expect(!fail(9, full).contains(.stoppedAhead(.failures)))
        #expect(fail(1, missing).last == .stoppedAhead(.failures))
        #expect(queue.goAhead(track(99)).isEmpty && queue.items.isEmpty)
        queue.restartAhead()
        #expect(queue.goAhead(track(99)).count == 1)
    }

    @Test func `once the network is back, what failed is tried again, and what was downloaded is not`() {
        var queue = DownloadQueue()
        _ = queue.goAhead(track(1))
        _ = queue.ended(1, .downloaded(isNew: true))
        for number in 2...11 {
            _ = queue.goAhead(track(number))
            _ = queue.ended(number, .failed(missing))
        }
        #expect(queue.ahead.stop == .failures && queue.goAhead(track(12)).isEmpty)
        queue.networkReturned()
        #expect(queue.ahead.stop == nil && queue.settledAhead == [location(1)])
        #expect(queue.goAhead(track(2)) == [.start(12, track(2))])
    }

    @Test func `when no more fits, nothing more is downloaded ahead, but what the user wants`() {
        var queue = DownloadQueue()
        _ = queue.goAhead(track(1))
        #expect(queue.ended(1, .full) == [.stoppedAhead(.full)])
        #expect(queue.goAhead(track(2)).isEmpty && queue.items.isEmpty)
        #expect(queue.add(reports([2])).1 == [.start(2, track(2))])
    }

    @Test func `a track that the user wants, too, is the user's, and may evict more`() {
        var queue = DownloadQueue()
        _ = queue.goAhead(track(1))
        let (added, outputs) = queue.add(reports([1]))
        #expect(added == [track(1)] && outputs.isEmpty && !queue.items[0].isAhead)
        #expect(queue.goAhead(track(2)) == [.start(2, track(2))])
        #expect(queue.ended(1, .full) == [.start(3, track(1))])
        #expect(queue.ended(3, .downloaded(isNew: true)) == [.finished(DownloadSum(downloaded: 1))])
    }

    @Test func `a download ahead that the user cancels does not come back, and a paused one waits`() {
        var queue = DownloadQueue()
        _ = queue.goAhead(track(1))
        #expect(queue.change(.pause, nil).1 == [.cancel(1)])
        #expect(queue.ended(1, .cancelled).isEmpty && queue.goAhead(track(1)).isEmpty)
        #expect(phases(queue) == [.paused])
        #expect(queue.change(.cancel, nil).count == 1)
        #expect(queue.settledAhead == [location(1)])
    }

    // MARK: A metered network

    @Test func `on a metered network downloads wait, with one word, and go on after it`() {
        var queue = busy()
        let tracks = numbered(1...4)
        #expect(queue.costChanged(to: .metered) == [.cancel(1), .cancel(2), .held(true)])
        #expect(queue.costChanged(to: .metered).isEmpty)
        #expect(queue.ended(1, .cancelled).isEmpty && queue.ended(2, .cancelled).isEmpty)
        #expect(phases(queue) == [.waiting, .waiting, .waiting, .waiting])
        #expect(
            queue.costChanged(to: .unmetered) == [.start(3, tracks[0]), .start(4, tracks[1]), .held(false)]
        )
    }

    @Test func `what the user asks for on a metered network is answered each time`() {
        var queue = DownloadQueue()
        #expect(queue.costChanged(to: .metered).isEmpty)
        #expect(queue.add(reports([1])).1 == [.held(true)])
        #expect(queue.add(reports([1])).1.isEmpty)
        #expect(queue.add(reports([2])).1 == [.held(true)])
        #expect(queue.change(.cancel, nil).1.isEmpty)
        #expect(queue.costChanged(to: .unmetered) == [.held(false)])
    }

    @Test func `a plan that asks for nothing, or for the same again, is not made again`() {
        var queue = DownloadQueue()
        let revision = queue.revision
        #expect(queue.goAhead(nil).isEmpty && queue.revision == revision)
        _ = queue.goAhead(numbered([1])[0])
        let begun = queue.revision
        #expect(queue.goAhead(numbered([1])[0]).isEmpty && queue.revision == begun)
    }

    @Test func `nothing goes ahead on a metered network`() {
        var queue = DownloadQueue()
        _ = queue.costChanged(to: .metered)
        let tracks = numbered(1...2)
        #expect(queue.goAhead(tracks[0]) == [.held(true)])
        #expect(queue.goAhead(tracks[1]).isEmpty)
        queue.restartAhead()
        #expect(queue.goAhead(tracks[0]) == [.held(true)])
        #expect(queue.costChanged(to: .unmetered) == [.start(1, tracks[0]), .held(false)])
    }

    @Test func `nothing is downloaded, and nothing said, until the cost of the network is known`() {
        var queue = DownloadQueue()
        _ = queue.costChanged(to: .unknown)
        let track = numbered([1])[0]
        #expect(queue.add(reports([1])).1.isEmpty)
        #expect(queue.costChanged(to: .unmetered) == [.start(1, track)])
    }
}
