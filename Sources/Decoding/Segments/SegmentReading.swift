import Media

/// Reads the segments of a list, one after the other, and turns them into packets.
struct SegmentReading {
    /// The bytes of one read: a few seconds of music.
    private static let readByteCount = 96 * 1024

    private let list: any SegmentList
    private var demuxer: SegmentDemuxer
    /// Steps that were made ahead.
    private var steps: [SegmentStep] = []
    /// The number of the segment that is looked up next.
    private var number: Int
    /// The segment that is read; `nil` before the first.
    private(set) var segment: Segment?
    /// A segment that was looked up and does not continue the ones before.
    private var following: Segment?
    /// `true` once the demuxer has the last segment before a discontinuity, or before the end.
    private var isFinished = false
    /// What is read, and what follows: the initialisation section, then the segment itself.
    private var source: (bytes: any ByteSource, offset: Int64)?
    private var sources: [any ByteSource] = []
    /// The number of the initialisation section that was read last.
    private var initialisation: Int?
    /// The duration of a segment without bytes, until it was passed on.
    private var silence: Duration?

    /// Reads from segment `number` on, whose first packet has about `time` if that is given.
    init(_ list: any SegmentList, from number: Int, near time: Duration? = nil) {
        self.list = list
        self.number = number
        demuxer = SegmentDemuxer(near: time)
    }

    /// The number of discontinuities before the segment that is read.
    var discontinuity: Int { segment?.discontinuity ?? 0 }

    /// The next step, which stays the next one until `removeFirst`; it is never `needMore`. After a
    /// discontinuity it is `codec`.
    mutating func first() async throws -> SegmentStep {
        if steps.isEmpty { steps.append(try await made()) }
        return steps[0]
    }

    mutating func removeFirst() { steps.removeFirst() }

    /// The time of the first packet that `packets` has found.
    var firstTime: MediaTime? {
        for case .packet(_, let time) in steps { return time }
        return nil
    }

    /// The first packets of the codec that is the next step: up to `count` that need no more bytes than the
    /// first one.
    mutating func packets(atMost count: Int) async throws -> [ArraySlice<UInt8>] {
        var packets: [ArraySlice<UInt8>] = []
        var index = 1
        while packets.count < count {
            if index == steps.count {
                guard let step = packets.isEmpty ? try await made() : try held() else { break }
                steps.append(step)
            }
            switch steps[index] {
            case .packet(let packet, _): packets.append(packet)
            case .codec, .end: return packets
            case .missing, .silence, .title, .needMore: break
            }
            index += 1
        }
        return packets
    }

    private mutating func made() async throws -> SegmentStep {
        while true {
            if let step = try held() { return step }
            if let silence {
                self.silence = nil
                return .silence(silence)
            }
            guard isFinished else {
                try await read()
                continue
            }
            guard let following else { return .end }
            demuxer = SegmentDemuxer()
            initialisation = nil
            isFinished = false
            begin(following)
        }
    }

    /// A step that needs no more bytes.
    private mutating func held() throws(Refusal) -> SegmentStep? {
        switch try demuxer.next() {
        case .needMore, .end: nil
        case let step: step
        }
    }

    private mutating func read() async throws {
        if let (bytes, offset) = source {
            let more = try await bytes.read(at: offset, count: Self.readByteCount)
            source?.offset += Int64(more.count)
            demuxer.append(more)
            if more.isEmpty { source = nil }
        } else if !sources.isEmpty {
            demuxer.beginSegment()
            source = (sources.removeFirst(), 0)
        } else {
            let found = try await list.segment(number)
            number += 1
            if let found, segment.map({ $0.discontinuity == found.discontinuity }) ?? true {
                begin(found)
            } else {
                demuxer.finish()
                isFinished = true
                following = found
            }
        }
    }

    private mutating func begin(_ segment: Segment) {
        self.segment = segment
        following = nil
        guard !segment.isGap else {
            silence = segment.duration
            return
        }
        sources = [segment.bytes]
        if let section = segment.initialisation, section.number != initialisation {
            sources.insert(section.bytes, at: 0)
        }
        initialisation = segment.initialisation?.number
    }
}
