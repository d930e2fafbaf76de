/// The segments of a stream, in order, as a playlist states them.
package protocol SegmentList: Sendable {
    /// Segment `number`, or the first one after it that there is: a live stream may lose segments. Waits
    /// until it is known; `nil` if the stream ends before it.
    func segment(_ number: Int) async throws -> Segment?

    /// The number of the segment that plays at `time`, and `time` itself. For a time outside the list, it is
    /// the nearest segment, and, if the stream is live, the time at which that one begins.
    func place(at time: Duration) -> (number: Int, time: Duration)

    /// The time at which playing begins, unless a place is asked for.
    var startTime: Duration { get }

    /// The sum of all stated durations; `nil` for a live stream, whose list names a part that moves.
    var duration: Duration? { get }

    /// Segment `number` is damaged, or is not played, for the reason `cause`, and is passed over.
    func passedOver(_ number: Int, because cause: SafeText)

    /// `true` if the segments with these numbers can be read without the network.
    func isStored(segments numbers: Range<Int>) -> Bool

    /// Passes segment `number` of a recording to `body` if it can be read without the network; `nil` if not.
    /// The segments that `segment` returns are not affected.
    func withStored<Value>(_ number: Int, _ body: (Segment) async throws -> Value) async throws -> Value?

    /// Loads all missing segments of a recording, in order and at low priority, to be cached. Calls
    /// `progressed` when bytes have arrived. Throws `MediaError` if some cannot be loaded.
    func loadAll(progressed: () -> Void) async throws
}

extension SegmentList {
    /// By default, nothing is cached.
    package func isStored(segments numbers: Range<Int>) -> Bool { false }
    package func withStored<Value>(_ number: Int, _ body: (Segment) async throws -> Value) async throws
        -> Value?
    { nil }
    package func loadAll(progressed: () -> Void) async throws {}
}

/// A part of a stream, in a resource of its own or in a range of one.
package struct Segment: Sendable {
    /// Rises from segment to segment.
    package var number = 0
    /// The time at which it begins, by the stated durations.
    package var start: Duration = .zero
    package var duration: Duration
    /// The number of discontinuities before it: of segments with different numbers, the second one does not
    /// continue the first one.
    package var discontinuity: Int
    /// The initialisation section of the segment: equal numbers stand for equal bytes. `nil` if it has none.
    package var initialisation: (number: Int, bytes: any ByteSource)?
    package var bytes: any ByteSource
    /// `true` if the server does not have it: it is silent.
    package var isGap = false
    /// The titles that the playlist states, in order, each with the time from the beginning of the segment;
    /// one that holds already has a time of 0 or less.
    package var titles: [(time: Duration, text: SafeText)] = []

    package init(
        _ bytes: any ByteSource,
        lasting duration: Duration,
        discontinuity: Int = 0,
        initialisation: (number: Int, bytes: any ByteSource)? = nil
    ) {
        self.bytes = bytes
        self.duration = duration
        self.discontinuity = discontinuity
        self.initialisation = initialisation
    }
}
