package import Media

/// A media playlist (RFC 8216 §4.3.3): the segments of one stream, as a table over the bytes of the list.
///
/// The text of the list is not in memory: it stays where the caller stored it. A segment takes 12 bytes here,
/// and 16 more if the list has byte ranges; its URL, key and title are parsed from the text when the segment
/// is needed. A value, made by `MediaPlaylistParser`.
package struct MediaPlaylist: Sendable, Equatable {
    /// EXT-X-PLAYLIST-TYPE (§4.3.3.5).
    package enum Kind: Sendable {
        case event
        case vod
    }

    /// The place of an initialization section in the text of the list.
    struct Section: Sendable, Equatable {
        /// The offset of the EXT-X-MAP tag.
        var line: Int32
        /// The offset of the EXT-X-KEY tag that holds for it, or `noKey`.
        var keyLine: Int32
    }

    /// A title and the time from which it holds.
    package struct Title: Sendable, Equatable {
        package var time: Duration
        package var text: SafeText
    }

    /// A title of EXT-X-DATERANGE; its date is in microseconds since 1970.
    struct DatedTitle: Sendable, Equatable {
        var date: Int64
        var text: SafeText
    }

    /// The most segments: three days in segments of 2 s. A longer list is refused.
    package static let mostSegments = 131_072
    /// The bytes of the longest accepted list.
    package static let mostBytes = 64 << 20

    static let noKey: Int32 = -1

    /// Segments without a duration of their own count as this long, if the list states no target duration.
    static let usualDuration: Int64 = 10_000_000

    /// The place of the list, after redirects: the base of its relative URLs.
    package let location: ResourceLocation
    package internal(set) var version: Int64 = 1
    /// The most that a segment lasts (§4.3.3.1). Lists state less than the truth, and more.
    package internal(set) var targetDuration: Duration = .zero
    /// The number of the first segment (§4.3.3.2).
    package internal(set) var mediaSequence: Int64 = 0
    /// The discontinuity sequence number before the first segment (§4.3.3.3).
    package internal(set) var discontinuitySequence: Int64 = 0
    /// `true` with EXT-X-ENDLIST: a recording. Every other list is live, of whatever kind.
    package internal(set) var isEnded = false
    package internal(set) var kind: Kind?
    /// EXT-X-START (§4.3.5.2), from the beginning, or from the end if it is negative.
    package internal(set) var startOffset: Duration?
    /// The length of the list's text.
    package internal(set) var byteCount = 0

    // The table. All times are in microseconds.

    /// The times at which segments begin, and that at which the last one ends.
    var times: [Int64] = [0]
    /// The offsets of the text of each segment: of its EXTINF tag, or of its URI.
    var lines: [Int32] = []
    /// Empty if no segment states a range; else a range for each, which is empty for a whole resource.
    var ranges: [ByteRange] = []
    /// The first segments of the resources of which segments state ranges.
    var resources = SegmentRuns<Int32>()
    /// The segments before which EXT-X-DISCONTINUITY stands, once for each tag, in rising order.
    var discontinuities: [Int32] = []
    /// The segments with EXT-X-GAP, in rising order.
    var gaps: [Int32] = []
    /// The offsets of the tags EXT-X-KEY, or `noKey`.
    var keyLines = SegmentRuns<Int32>()
    var sections = SegmentRuns<Section>()
    /// The dates of segments, of the first one and after each discontinuity, as far as they are stated.
    var dates = SegmentRuns<Int64>()
    var datedTitles: [DatedTitle] = []

    init(at location: ResourceLocation) { self.location = location }

    // MARK: Segments and times

    /// The number of segments.
    package var count: Int { lines.count }

    /// The sum of all durations.
    package var duration: Duration { start(of: count) }

    /// The time at which segment `index` begins, the sum of the durations before it; the end of the list for
    /// `count`.
    package func start(of index: Int) -> Duration { .microseconds(times[index]) }

    /// The segment that plays at `time`; for a time outside the list, the first or the last one. `nil` if
    /// there is no segment. A binary search.
    package func index(at time: Duration) -> Int? {
        guard count > 0 else { return nil }
        let time = time.microsecondCount
        return min(max(0, times.partitioningIndex { $0 > time } - 1), count - 1)
    }

    /// `true` if the server does not have segment `index` (EXT-X-GAP, rfc8216bis §4.4.4.7).
    package func isGap(_ index: Int) -> Bool {
        let place = gaps.partitioningIndex { $0 >= index }
        return place < gaps.count && gaps[place] == index
    }

    /// The discontinuity sequence number of segment `index` (§6.2.1).
    package func discontinuity(of index: Int) -> Int64 {
        discontinuitySequence + Int64(discontinuities.partitioningIndex { $0 > index })
    }

    /// The time at which to start, by EXT-X-START; the beginning without it. A place before the beginning or
    /// behind the end is the nearer one.
    package func startTime(by offset: Duration?) -> Duration {
        guard let offset else { return .zero }
        return min(max(.zero, offset < .zero ? duration + offset : offset), duration)
    }

    /// The titles of EXT-X-DATERANGE by the time from which they hold, in the order of the list. A title from
    /// before the first segment holds from the start. Empty if no segment states a date.
    package var titles: [Title] {
        guard let first = dates.values.first else { return [] }
        return datedTitles.map { title in
            // Dates rise from run to run, unless a server sets its clock back.
            let run = max(0, dates.values.partitioningIndex { $0 > title.date } - 1)
            let time = times[Int(dates.firsts[run])] + max(0, title.date - dates.values[run])
            return Title(time: .microseconds(title.date < first ? 0 : time), text: title.text)
        }
    }

    /// `true` if stored segments of this list are also those of `other`, as far as lists can show that: they
    /// agree in the number of segments, durations, byte ranges and discontinuities. URLs may differ.
    package func agrees(with other: MediaPlaylist) -> Bool {
        times == other.times && ranges == other.ranges && discontinuities == other.discontinuities
    }

    /// The number of the first of the segments in a row that are in the same resource as segment `index`.
    package func resource(of index: Int) -> Int {
        ranges.isEmpty || ranges[index].isEmpty ? index : resources[index].map { Int($0) } ?? index
    }

    /// What the cache needs to know of the segments.
    package func table(rendition: [UInt8]) -> StreamTable {
        StreamTable(
            rendition: rendition,
            count: count,
            gaps: gaps.map { Int($0) },
            slices: ranges.indices.map { StreamTable.Slice(resource: resource(of: $0), range: ranges[$0]) }
        )
    }

    // MARK: What the text states

    /// The parts of the list's text that `segment` needs for segment `index`.
    package func textRanges(of index: Int) -> [ByteRange] {
        let end = index + 1 < count ? Int(lines[index + 1]) : byteCount
        let section = sections[index]
        let tags = [keyLines[index], section?.line, section?.keyLine].compactMap { $0 }
        return [bytes(from: lines[index], to: end)]
            + tags.filter { $0 != Self.noKey }.map { bytes(from: $0, to: byteCount) }
    }

    /// Parses segment `index`. `read` returns the bytes of the list's text in a range, of at most 64 KiB; it
    /// is called up to four times.
    ///
    /// Throws what `read` throws, `.badURL`, and `.badPlaylist` if the text is not that of this list.
    package func segment(
        _ index: Int,
        read: (ByteRange) throws(MediaError) -> [UInt8]
    ) throws(MediaError) -> MediaSegment {
        var text = SegmentLines()
        let end = index + 1 < count ? Int(lines[index + 1]) : byteCount
        try text.readAll(read(bytes(from: lines[index], to: end)))
        guard let reference = text.reference else { throw changed }
        return MediaSegment(
            mediaSequence: mediaSequence + Int64(index),
            discontinuity: discontinuity(of: index),
            location: try ListReference.location(of: reference, in: location),
            resource: resource(of: index),
            range: ranges.isEmpty || ranges[index].isEmpty ? nil : ranges[index],
            start: start(of: index),
            duration: start(of: index + 1) - start(of: index),
            isGap: isGap(index),
            key: try key(at: keyLines[index], mediaSequence: mediaSequence + Int64(index), read),
            section: try section(at: index, read),
            title: text.title
        )
    }

    private func key(
        at line: Int32?,
        mediaSequence: Int64,
        _ read: (ByteRange) throws(MediaError) -> [UInt8]
    ) throws(MediaError) -> SegmentKey? {
        guard let line, line != Self.noKey else { return nil }
        let attributes = try attributes(of: "#EXT-X-KEY", at: line, read)
        guard let key = try SegmentKey(attributes, mediaSequence: mediaSequence, in: location) else {
            throw changed
        }
        return key
    }

    private func section(
        at index: Int,
        _ read: (ByteRange) throws(MediaError) -> [UInt8]
    ) throws(MediaError) -> InitializationSection? {
        guard let place = sections[index] else { return nil }
        let attributes = try attributes(of: "#EXT-X-MAP", at: place.line, read)
        guard var section = try InitializationSection(attributes, in: location) else { throw changed }
        // The RFC requires its IV. Where it is missing, encoders have taken zero.
        section.key = try key(at: place.keyLine, mediaSequence: 0, read)
        return section
    }

    private func attributes(
        of tag: StaticString,
        at line: Int32,
        _ read: (ByteRange) throws(MediaError) -> [UInt8]
    ) throws(MediaError) -> AttributeList {
        var reader = TagReader(tag: tag)
        try reader.readAll(read(bytes(from: line, to: byteCount)))
        guard let attributes = reader.attributes else { throw changed }
        return attributes
    }

    private func bytes(from line: Int32, to end: Int) -> ByteRange {
        Int64(line)..<Int64(min(end, byteCount, Int(line) + 2 * ListLines.longest))
    }

    private var changed: MediaError { .badPlaylist(location, "the stored playlist has changed") }
}

/// Reads the attributes of a tag in the first line.
private struct TagReader: LineReader {
    let tag: StaticString
    private(set) var attributes: AttributeList?
    private var isBegun = false

    init(tag: StaticString) { self.tag = tag }

    mutating func read(_ line: ListLine) throws(MediaError) {
        defer { isBegun = true }
        if !isBegun { attributes = line.value(of: tag).map { AttributeList($0) } }
    }
}

/// Values that hold from one segment on until the next one that begins a run: keys, maps, dates.
///
/// A list of 100,000 segments has few of them, unless a key holds for one segment only.
struct SegmentRuns<Value: Sendable & Equatable>: Sendable, Equatable {
    /// The first segment of each run.
    private(set) var firsts: [Int32] = []
    private(set) var values: [Value] = []

    /// From segment `index` on, `value` holds. Indexes rise from call to call.
    mutating func begin(_ value: Value, at index: Int) {
        guard value != values.last else { return }
        firsts.append(Int32(index))
        values.append(value)
    }

    /// The value for segment `index`; `nil` before the first run.
    subscript(index: Int) -> Value? {
        let count = firsts.partitioningIndex { $0 > index }
        return count > 0 ? values[count - 1] : nil
    }
}
