import Media
import System

/// The segments of a stream that are opened one after the other.
protocol SegmentSource: Sendable {
    /// The time at which playing begins.
    var startTime: Duration { get }
    func place(at time: Duration) -> (number: Int, time: Duration)

    /// Goes on at segment `number`.
    func move(to number: Int)

    /// Opens the next segment; `nil` at the end of the stream. If another part takes the place of its part
    /// later, `feeder` gets it.
    func openNext(for feeder: SegmentFeeder) async throws -> OpenedSegment?

    func close() async
}

/// Keeps the segments open for which the decoder waits, and those that are read ahead: the shell of a
/// `SegmentFeed`.
///
/// One task opens segments in order: the one for which the decoder waits, and, once read-ahead is allowed,
/// those after it, each after the one before was loaded.
final class SegmentFeeder: Sendable {
    private typealias Waiter = CheckedContinuation<Void, Never>

    private struct State {
        var feed: SegmentFeed
        var feeder: Task<Void, Never>?
        /// The decoder's continuation, and the task's, while they wait.
        var decoder: Waiter?
        var idle: Waiter?
    }

    /// The most bytes of a segment that are loaded ahead of the decoder.
    private static let mostLoadedAhead: Int64 = 64 << 20

    private let source: any SegmentSource
    private let readers: PartReaders
    // Guards all mutable state. While it is held, no other code is called and no continuation resumed.
    private let state: Locked<State>

    init(_ source: any SegmentSource, _ readers: PartReaders, readAhead: Duration) {
        self.source = source
        self.readers = readers
        state = Locked(State(feed: SegmentFeed(readAhead: readAhead)))
    }

    /// All readers that are open.
    var parts: [StreamPart] { state.withLock { $0.feed.parts } }

    /// `true` if what is opened now can wait.
    var opensAtLowPriority: Bool { state.withLock { $0.feed.opensAtLowPriority } }

    /// `true` once the decoder has used up a segment.
    var hasLoaded: Bool { state.withLock { $0.feed.hasLoaded } }

    // MARK: The decoder

    /// Segment `number`, or the first one after it that there is, for which this waits; `nil` at the end.
    func segment(_ number: Int) async throws -> Segment? {
        while true {
            try Task.checkCancellation()
            let (found, idle) = state.withLock { state in
                (state.feed.look(for: number), state.idle.take())
            }
            idle?.resume()
            switch found {
            case .segment(let opened, let isLowPriority):
                if !isLowPriority { opened.part?.reader.setPriority(isLow: false) }
                return opened.segment
            case .end: return nil
            case .failure(let error): throw error
            case .restart: restart(at: number)
            case .missing: await waitForSegment()
            }
        }
    }

    /// Waits until a segment was opened, opening it has failed, or the task is cancelled.
    private func waitForSegment() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { (waiter: Waiter) in
                let isOver = state.withLock { state in
                    if Task.isCancelled || !state.feed.isWaiting { return true }
                    state.decoder = waiter
                    return false
                }
                if isOver { waiter.resume() }
            }
        } onCancel: {
            state.withLock { $0.decoder.take() }?.resume()
        }
    }

    /// Begins to feed with segment `number`.
    private func restart(at number: Int) {
        let (feeder, idle) = state.withLock { state in
            let old = state.feeder
            if let run = state.feed.restart(at: number) {
                state.feeder = Task {
                    await old?.value
                    self.source.move(to: number)
                    await self.feed(run)
                }
            }
            return (old, state.idle.take())
        }
        feeder?.cancel()
        idle?.resume()
    }

    /// The bytes of segment `number` come from `part` now.
    func replacePart(of number: Int, by part: StreamPart) {
        state.withLock { $0.feed.replacePart(of: number, by: part) }
    }

    func allowReadAhead(_ isAllowed: Bool) {
        let idle = state.withLock { state in
            state.feed.readsAhead = isAllowed
            return state.idle.take()
        }
        idle?.resume()
    }

    func setPriority(isLow: Bool) {
        let readers = state.withLock { state in
            state.feed.isLowPriority = isLow
            return state.feed.opened.prefix(1).compactMap(\.part?.reader)
        }
        for reader in readers { reader.setPriority(isLow: isLow) }
    }

    // MARK: The task

    private func feed(_ run: SegmentFeed.Run) async {
        while !Task.isCancelled {
            await closeRetired()
            do {
                switch state.withLock({ $0.feed.work(of: run) }) {
                case .stop: return
                case .wait:
                    await waitForWork(of: run)
                    continue
                // One segment after the other, so that the next one to be heard gets the whole line.
                case .openAfterLoading(let last): try await load(last)
                case .open: break
                }
                let opened = try await source.openNext(for: self)
                receive(.success(opened), of: run)
            } catch {
                receive(.failure(error), of: run)
            }
        }
    }

    private func waitForWork(of run: SegmentFeed.Run) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { (waiter: Waiter) in
                let isOver = state.withLock { state in
                    if Task.isCancelled || state.feed.hasWork(of: run) { return true }
                    state.idle = waiter
                    return false
                }
                if isOver { waiter.resume() }
            }
        } onCancel: {
            state.withLock { $0.idle.take() }?.resume()
        }
    }

    private func receive(_ result: Result<OpenedSegment?, any Error>, of run: SegmentFeed.Run) {
        let decoder = state.withLock { state in
            state.feed.receive(result, of: run)
            return state.decoder.take()
        }
        decoder?.resume()
    }

    /// Loads the rest of a segment that was opened last, by a reader of its own, since the decoder may read
    /// it too. The decoder reports errors.
    private func load(_ opened: OpenedSegment) async throws {
        guard let resource = opened.part?.resource else { return }
        let part = try await readers.open(resource, isLowPriority: true)
        let bytes = ByteSlice(part.reader, opened.range)
        let isStored = bytes.length.map { bytes.isStored(0..<$0) } ?? false
        var offset: Int64 = 0
        while !isStored, offset < Self.mostLoadedAhead,
            let more = try? await bytes.read(at: offset, count: ByteSlice.requestByteCount), !more.isEmpty
        {
            offset += Int64(more.count)
        }
        await readers.close(part)
        try Task.checkCancellation()
    }

    // MARK: Closing

    /// Closes the readers that are not needed any more.
    func closeRetired() async {
        for part in state.withLock({ $0.feed.takeRetired() }) { await readers.close(part) }
    }

    /// Closes the source too.
    func close() async {
        let (feeder, decoder, idle) = state.withLock { state in
            state.feed.close()
            return (state.feeder, state.decoder.take(), state.idle.take())
        }
        feeder?.cancel()
        decoder?.resume()
        idle?.resume()
        await closeRetired()
        await feeder?.value
        await closeRetired()
        await source.close()
        await closeRetired()
    }
}
