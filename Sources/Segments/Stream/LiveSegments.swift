import Media
import System

/// Opens the segments of a live stream. One that can't be loaded is passed over, unless newer lists have it
/// elsewhere.
final class LiveSegments: SegmentSource {
    private struct State {
        /// How many segments in a row could not be loaded.
        var lostInARow = 0
        /// `true` if the lists were read again because a segment was refused, and no other was loaded since.
        var hasRenewed = false
    }

    /// After so many lost segments in a row, the stream is given up.
    private static let mostLostInARow = 8

    private let follower: ListFollower
    private let opener: SegmentOpener
    private let subject: SafeText
    private let onNotice: @Sendable (MediaError) -> Void
    private let state = Locked(State())

    /// `subject` names the stream in what `onNotice` says.
    init(
        _ follower: ListFollower,
        _ opener: SegmentOpener,
        subject: SafeText,
        onNotice: @escaping @Sendable (MediaError) -> Void
    ) {
        self.follower = follower
        self.opener = opener
        self.subject = subject
        self.onNotice = onNotice
    }

    var startTime: Duration { follower.startTime }
    func place(at time: Duration) -> (number: Int, time: Duration) { follower.place(at: time) }
    func move(to number: Int) { follower.move(to: number) }
    func close() async {}

    func openNext(for feeder: SegmentFeeder) async throws -> OpenedSegment? {
        while let next = try await follower.next() {
            let number = next.number
            let isLow = feeder.opensAtLowPriority
            do {
                var opened = try await opener.open(next.segment, number: number, isLowPriority: isLow)
                follower.advance()
                opened.segment.titles = next.titles
                guard opened.part != nil else { return opened }
                opened.segment.bytes = ReplaceableSource(opened.segment.bytes) { [weak self, weak feeder] in
                    guard let self, let feeder else { return nil }
                    return await remedy(for: $0, of: number, at: next.segment.location, feeder)
                }
                return opened
            } catch let error as MediaError where mayRenew(after: error) {
                // The URL of its key may have expired.
                _ = try await follower.renewed(number)
            }
        }
        return nil
    }

    /// Segment `number`, which was at `location`, was read, or `error` was thrown.
    private func remedy(
        for error: MediaError?,
        of number: Int,
        at location: ResourceLocation,
        _ feeder: SegmentFeeder
    ) async -> ReplaceableSource.Remedy? {
        guard let error else {
            state.withLock { $0 = State() }
            return nil
        }
        if mayRenew(after: error), let other = try? await reopened(number, notAt: location, feeder) {
            return .other(other)
        }
        let lostInARow = state.withLock { state in
            state.lostInARow += 1
            return state.lostInARow
        }
        // Until something was loaded, it is not the segment that is missing, but the stream.
        guard feeder.hasLoaded, lostInARow < Self.mostLostInARow, error.code != .offline else { return nil }
        onNotice(MediaError(.cut, subject, "a segment is gone and was passed over (" + error.cause + ")"))
        return .passOver
    }

    /// `true` if the lists may be read again, since `error` may only mean that their URLs have expired. Once
    /// for all segments until one was loaded.
    private func mayRenew(after error: MediaError) -> Bool {
        error.isRefusal && !state.withLock { exchange(&$0.hasRenewed, with: true) }
    }

    /// The bytes of segment `number` at the place that the newest lists name; `nil` if they name none, or
    /// only `location`.
    private func reopened(
        _ number: Int,
        notAt location: ResourceLocation,
        _ feeder: SegmentFeeder
    ) async throws -> (any ByteSource)? {
        guard let segment = try await follower.renewed(number), segment.location != location else {
            return nil
        }
        let opened = try await opener.open(segment, number: number, isLowPriority: false)
        guard let part = opened.part else { return nil }
        feeder.replacePart(of: number, by: part)
        return opened.segment.bytes
    }
}
