/// The parts of a track that were heard, by the times in the track. Pure.
package struct HeardSpans: Sendable, Equatable {
    /// The most parts: each seek begins one, and the oldest in the track give way.
    private static let mostSpans = 1_000

    private var spans = RangeSet<Duration>()
    /// In order, and apart. Each cell of the bar looks at them.
    package private(set) var list: [Range<Duration>] = []

    package init() {}

    package init(_ spans: [Range<Duration>]) { for span in spans { insert(span) } }

    package mutating func insert(_ span: Range<Duration>) {
        guard !span.isEmpty else { return }
        spans.insert(contentsOf: span)
        if spans.ranges.count > Self.mostSpans, let first = spans.ranges.first {
            spans.remove(contentsOf: first)
        }
        list = Array(spans.ranges)
    }

    /// `true` if all of `span` was heard.
    package func covers(_ span: Range<Duration>) -> Bool {
        list.contains { $0.lowerBound <= span.lowerBound && span.upperBound <= $0.upperBound }
    }
}
