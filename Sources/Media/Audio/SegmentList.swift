/// The segments of a stream, in order, as a playlist states them.
package protocol SegmentList: Sendable {
    /// Segment `number`, counted from 0. Waits until it is known; `nil` if the stream ends before it.
    func segment(_ number: Int) async throws -> Segment?

    /// The segment that plays at `time`, or else the nearest one, and the time at which it begins: by the
    /// sum of the stated durations.
    func place(at time: Duration) -> (number: Int, start: Duration)

    /// The sum of all stated durations; `nil` while more segments may follow.
    var duration: Duration? { get }
}

/// A part of a stream, in a resource of its own or in a range of one.
package struct Segment: Sendable {
    package var duration: Duration
    /// The number of discontinuities before it: of segments with different numbers, the second one does not
    /// continue the first one.
    package var discontinuity: Int
    /// The initialisation section of the segment: equal numbers stand for equal bytes. `nil` if it has none.
    package var initialisation: (number: Int, bytes: any ByteSource)?
    package var bytes: any ByteSource
    /// `true` if the server does not have it: it is silent.
    package var isGap = false

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
