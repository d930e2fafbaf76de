import Media
import System

/// Opens the segments of a recording. If the server has a part no longer under its URL, the lists may have
/// another one.
struct RecordedSegments: SegmentSource {
    let stream: RecordedStream
    let opener: SegmentOpener
    let readers: PartReaders

    var startTime: Duration { stream.startTime }
    func place(at time: Duration) -> (number: Int, time: Duration) { stream.place(at: time) }
    func move(to number: Int) { stream.move(to: number) }
    func close() async { await stream.close() }

    func openNext(for feeder: SegmentFeeder) async throws -> OpenedSegment? {
        let isLow = feeder.opensAtLowPriority
        let opened = try await open(stream.nextNumber, isLowPriority: isLow, for: feeder)
        if opened != nil { stream.advance() }
        return opened
    }

    /// Opens segment `number`; `nil` behind the last one.
    private func open(_ number: Int, isLowPriority: Bool, for feeder: SegmentFeeder) async throws
        -> OpenedSegment?
    {
        while let next = try await stream.segment(number) {
            do {
                var opened = try await opener.open(next.segment, number: number, isLowPriority: isLowPriority)
                opened.segment.titles = next.titles
                guard opened.part != nil else { return opened }
                let current = Locked(next.segment)
                opened.segment.bytes = ReplaceableSource(opened.segment.bytes) { [weak feeder] error in
                    guard let error else {
                        stream.partWasRead()
                        return nil
                    }
                    guard let feeder else { return nil }
                    return try await renewed(number, after: error, current, for: feeder)
                }
                return opened
            } catch let error as MediaError where error.isGone {
                try await stream.renew(number, after: error, of: next.segment)
            }
        }
        return nil
    }

    /// Segment `number` under the URL of lists that are asked for again after `error`; `segment` is where it
    /// was. `nil` if `error` is another one than an expired URL has.
    private func renewed(
        _ number: Int,
        after error: MediaError,
        _ segment: borrowing Locked<MediaSegment>,
        for feeder: SegmentFeeder
    ) async throws -> ReplaceableSource.Remedy? {
        guard error.isGone else { return nil }
        try await stream.renew(number, after: error, of: segment.withLock { $0 })
        guard let new = try await stream.segment(number)?.segment else { return nil }
        segment.withLock { $0 = new }
        let opened = try await opener.open(new, number: number, isLowPriority: false)
        if let part = opened.part { feeder.replacePart(of: number, by: part) }
        return .other(opened.segment.bytes)
    }

    // MARK: Segments beside those of the feeder

    /// Passes segment `number` to `body`, at low priority; `nil` if there is none.
    func with<Value>(
        _ number: Int,
        of feeder: SegmentFeeder,
        _ body: (Segment) async throws -> Value
    ) async throws -> Value? {
        guard let opened = try await open(number, isLowPriority: true, for: feeder) else { return nil }
        do {
            let value = try await body(opened.segment)
            await close(opened, of: feeder)
            return value
        } catch {
            await close(opened, of: feeder)
            throw error
        }
    }

    private func close(_ opened: OpenedSegment, of feeder: SegmentFeeder) async {
        if let part = opened.part { await readers.close(part) }
        await feeder.closeRetired()
    }

    /// Loads all segments but those that are `cached`. See `SegmentList.loadAll`.
    func loadAll(besides cached: RangeSet<Int>, of feeder: SegmentFeeder, progressed: () -> Void) async throws
    {
        var failure: MediaError?
        for number in 0..<stream.count where !cached.contains(number) {
            do {
                let isThere: Void? = try await with(number, of: feeder) {
                    try await load($0.bytes, progressed: progressed)
                }
                guard isThere != nil else { return }
            } catch let error as MediaError where error.isGone {
                // The others may be there.
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
    }

    private func load(_ bytes: any ByteSource, progressed: () -> Void) async throws {
        var offset: Int64 = 0
        while case let more = try await bytes.read(at: offset, count: ByteSlice.requestByteCount),
            !more.isEmpty
        {
            offset += Int64(more.count)
            progressed()
        }
    }
}
