/// A resource that belongs to a stream of segments, and is cached in the entry of the stream's URL.
///
/// Segments are known by their place in the list, so that they are found again after their URLs have changed.
package enum PartName: Hashable, Sendable {
    /// A list that takes the place of the one that the entry has (0), or the one to which it leads (1), and
    /// so on.
    case list(Int)
    case key(WebURL)
    /// The resource with an initialisation section.
    case section(WebURL)
    /// The resource of the segment with this number, and, if the list has byte ranges, of the segments after
    /// it with the same URL.
    case segments(from: Int)
}

/// The segments of a recorded stream, as its list states them: what the cache needs to know of them. A value.
package struct StreamTable: Sendable, Equatable {
    /// The resource of a segment, and its bytes.
    package struct Slice: Sendable, Equatable {
        /// The number of the first segment of the resource.
        package var resource: Int
        /// Empty for all bytes of the resource.
        package var range: ByteRange

        package init(resource: Int, range: ByteRange) {
            self.resource = resource
            self.range = range
        }
    }

    /// More than any accepted list has.
    private static let mostSegments = 1 << 20
    /// No accepted list names bytes beyond 4 TiB. With it, no sum over a table overflows.
    private static let farthest: Int64 = 1 << 42

    /// Identifies the rendition in the master playlist; empty without a master playlist.
    package var rendition: [UInt8]
    /// The number of segments.
    package var count: Int
    /// The segments that the server does not have, in rising order.
    package var gaps: [Int]
    /// One for each segment; empty if each segment is all of a resource of its own.
    package var slices: [Slice]

    package init(rendition: [UInt8] = [], count: Int, gaps: [Int] = [], slices: [Slice] = []) {
        self.rendition = rendition
        self.count = count
        self.gaps = gaps
        self.slices = slices
    }

    package func slice(_ segment: Int) -> Slice {
        slices.isEmpty ? Slice(resource: segment, range: 0..<0) : slices[segment]
    }

    // MARK: The stored form

    package var bytes: [UInt8] {
        var values = ValueList()
        values.append(rendition)
        values.append(Int64(count).bigEndianBytes)
        values.append(gaps.flatMap { Int64($0).bigEndianBytes })
        values.append(
            slices.flatMap {
                Int64($0.resource).bigEndianBytes + $0.range.lowerBound.bigEndianBytes
                    + $0.range.upperBound.bigEndianBytes
            }
        )
        return values.bytes
    }

    /// `nil` unless `bytes` are valid.
    package init?(bytes: [UInt8]) {
        guard let values = ValueList(bytes[...]), let rendition = values[0], let count = values.number(1),
            let gaps = values[2].flatMap(Self.numbers), let slices = values[3].flatMap(Self.numbers),
            (0...Int64(Self.mostSegments)).contains(count),
            gaps.allSatisfy({ (0..<count).contains($0) }), zip(gaps, gaps.dropFirst()).allSatisfy(<),
            slices.isEmpty || slices.count == 3 * Int(count)
        else { return nil }
        self.init(rendition: Array(rendition), count: Int(count), gaps: gaps.map { Int($0) })
        for start in stride(from: 0, to: slices.count, by: 3) {
            let resource = slices[start]
            let lower = slices[start + 1]
            let upper = slices[start + 2]
            guard (0..<count).contains(resource), lower >= 0, lower <= upper, upper <= Self.farthest
            else { return nil }
            self.slices.append(Slice(resource: Int(resource), range: lower..<upper))
        }
    }

    /// The numbers of eight bytes each; `nil` if the last one is cut.
    private static func numbers(_ bytes: ArraySlice<UInt8>) -> [Int64]? {
        guard bytes.count % 8 == 0 else { return nil }
        return stride(from: bytes.startIndex, to: bytes.endIndex, by: 8)
            .compactMap { ValueList.number(bytes[$0..<$0 + 8]) }
    }
}

/// The place of a resource with segments in the stream's object.
package struct PartPlace: Sendable, Equatable {
    /// The number of its first segment.
    package var segment: Int
    package var region: ByteRange
    /// In bytes; `nil` if unknown.
    package var length: Int64?

    package init(segment: Int, region: ByteRange, length: Int64?) {
        self.segment = segment
        self.region = region
        self.length = length
    }
}

/// How much of a stream's segments is cached.
package struct StreamContents: Sendable, Equatable {
    /// The number of segments.
    package var count: Int
    /// The numbers of the segments that are cached whole, those that the server does not have included.
    package var segments: [Range<Int>] = []
    /// The cached bytes of segments, by their offsets in the object.
    package var ranges = ByteRangeSet()
    /// The same bytes as if the segments were one file in the order of the list; of a segment of unknown
    /// length, only the cached bytes count.
    package var stored = ByteRangeSet()
    /// The length of that file; `nil` until the length of every segment is known.
    package var length: Int64?

    /// What is cached if the resources are at `places`, in the order of their segments, and the bytes
    /// `object` of the object are stored.
    package init(of table: StreamTable, at places: [PartPlace], stored object: ByteRangeSet) {
        count = table.count
        var end: Int64 = 0
        var isKnown = true
        var gaps = table.gaps[...]
        for number in 0..<table.count {
            var isCached = true
            if gaps.first == number {
                gaps.removeFirst()
            } else {
                let slice = table.slice(number)
                let index = places.partitioningIndex { $0.segment >= slice.resource }
                let place =
                    index < places.count && places[index].segment == slice.resource ? places[index] : nil
                let length = slice.range.isEmpty ? place?.length : Int64(slice.range.count)
                let range = place.map { $0.bytes(of: slice) } ?? 0..<0
                let missing = object.gaps(in: range)
                var offset = range.lowerBound
                for gap in missing + [range.upperBound..<range.upperBound] {
                    if offset < gap.lowerBound {
                        ranges.insert(contentsOf: offset..<gap.lowerBound)
                        let start = end + offset - range.lowerBound
                        stored.insert(contentsOf: start..<start + gap.lowerBound - offset)
                    }
                    offset = gap.upperBound
                }
                isCached = length.map { $0 == range.count } == true && missing.isEmpty
                isKnown = isKnown && length != nil
                let cached = missing.last.map {
                    $0.upperBound == range.upperBound ? $0.lowerBound : range.upperBound
                }
                end += length ?? max(0, (cached ?? range.upperBound) - range.lowerBound)
            }
            guard isCached else { continue }
            if let last = segments.last, last.upperBound == number {
                segments[segments.count - 1] = last.lowerBound..<number + 1
            } else {
                segments.append(number..<number + 1)
            }
        }
        length = isKnown ? end : nil
    }
}

extension PartPlace {
    /// The offsets of `slice` in the object; of a resource of unknown length, all that it may have.
    fileprivate func bytes(of slice: StreamTable.Slice) -> ByteRange {
        let wanted = slice.range.isEmpty ? 0..<(length ?? Int64(region.count)) : slice.range
        let end = min(wanted.upperBound, Int64(region.count))
        return region.lowerBound + min(wanted.lowerBound, end)..<region.lowerBound + end
    }
}
