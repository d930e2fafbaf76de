/// Places in the queue as a listener counts them, from 1: one, or many.
///
/// Kept as ranges, so that all of a long queue costs no more than one of it.
package struct TrackNumbers: Sendable, Equatable, ExpressibleByIntegerLiteral {
    /// From 0, as the queue counts.
    package let places: RangeSet<Int>

    /// The tracks at `places`, which count from 0.
    package init(places: RangeSet<Int>) { self.places = places }

    /// One track. A number below 1 is none, and there is no such track.
    package init(_ number: Int) { places = number < 1 ? RangeSet() : RangeSet(number - 1..<number) }

    package init(integerLiteral number: Int) { self.init(number) }

    /// Parses numbers and ranges apart by blanks: `3 5-7`; nil for anything else, and for nothing.
    package init?(parsing words: some Sequence<Substring>) {
        var places = RangeSet<Int>()
        for word in words {
            let ends = word.split(separator: "-", omittingEmptySubsequences: false)
            guard (1...2).contains(ends.count), ends.allSatisfy({ $0.utf8.allSatisfy(Self.isDigit) }),
                let first = ends.first.flatMap({ Int($0) }), let last = ends.last.flatMap({ Int($0) }),
                first >= 1, first <= last
            else { return nil }
            places.insert(contentsOf: first - 1..<last)
        }
        guard !places.isEmpty else { return nil }
        self.places = places
    }

    /// The numbers as `init(parsing:)` reads them: `3 5-7`.
    package var text: String {
        places.ranges.map { range in
            range.count == 1 ? "\(range.upperBound)" : "\(range.lowerBound + 1)-\(range.upperBound)"
        }.joined(separator: " ")
    }

    /// How many tracks these are.
    package var count: Int { places.ranges.reduce(0) { $0 + $1.count } }

    /// The highest number; 0 when there is none.
    package var highest: Int { places.ranges.last?.upperBound ?? 0 }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
}

/// What a queue is put in order by.
package enum SortKey: String, Sendable, CaseIterable {
    /// What the queue calls the track, whatever its case.
    case title
    /// Then by title; tracks without an artist come last.
    case artist
    /// The shortest first; those of unknown length last.
    case duration
    /// Where it is: its URL or path.
    case source
}
