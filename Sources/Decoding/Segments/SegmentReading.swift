import Media

/// Reads the segments of a list, one after the other, and turns them into packets.
struct SegmentReading {
    /// The bytes of one read: a few seconds of music.
    private static let readByteCount = 96 * 1024
    /// Fewer bytes may be frames that go on in the next segment.
    private static let leastByteCount = 8 * 1024
    /// After so many segments in a row that are refused, the stream is.
    private static let mostRefused = 8

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
    /// The duration of a segment without sound, until it was passed on.
    private var silence: Duration?
    /// The titles that the playlist states for the segment, until they were passed on.
    private var titles: ArraySlice<(time: Duration, text: SafeText)> = []
    /// The number of segments in a row that were refused; `nil` if none may be.
    private var refusedCount: Int?
    /// `true` once a part of the segment was refused.
    private var isRefused = false
    /// `true` once a packet of the segment was found, or none is expected any more.
    private var hasPackets = false
    /// The number of its bytes that were read.
    private var readCount = 0
    private let time: (Segment) -> Duration?

    /// Reads from segment `number` on; `time` gives the approximate time of its first packet, if that is
    /// known. With `passesOver`, a few segments that are damaged or not played are passed over.
    init(
        _ list: any SegmentList,
        from number: Int,
        passesOver: Bool = false,
        near time: @escaping (Segment) -> Duration? = { _ in nil }
    ) {
        self.list = list
        self.number = number
        self.time = time
        demuxer = SegmentDemuxer()
        refusedCount = passesOver ? 0 : nil
    }

    /// From now on, segments are passed over.
    mutating func passOver() { refusedCount = refusedCount ?? 0 }

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

    /// The first packet that `packets` has found.
    var firstPacket: [UInt8]? {
        for case .packet(let packet, _) in steps { return Array(packet) }
        return nil
    }

    /// The first packets of the codec that is the next step: up to `count` that need no more bytes than the
    /// first one.
    mutating func packets(atMost count: Int) async throws -> [ArraySlice<UInt8>] {
        var packets: [ArraySlice<UInt8>] = []
        var index = 1
        while packets.count < count {
            if index == steps.count {
                guard let step = try packets.isEmpty ? await made() : held() else { break }
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
            if let title = titles.popFirst() { return .title(title.text, after: title.time) }
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
        while true {
            do throws(Refusal) {
                let step = try demuxer.next()
                switch step {
                case .needMore, .end: return nil
                case .packet:
                    hasPackets = true
                    if refusedCount != nil { refusedCount = 0 }
                case .codec, .missing, .silence, .title: break
                }
                return step
            } catch {
                try passOver(because: error)
            }
        }
    }

    /// Passes over what `refusal` is about: the segment, or a part of it. Throws `refusal` if too many were
    /// refused.
    private mutating func passOver(because refusal: Refusal) throws(Refusal) {
        if isRefused { return }
        guard let count = refusedCount, count < Self.mostRefused, let segment else { throw refusal }
        refusedCount = count + 1
        isRefused = true
        list.passedOver(segment.number, because: refusal.cause)
    }

    private mutating func read() async throws {
        if let (bytes, offset) = source {
            let more = try await bytes.read(at: offset, count: Self.readByteCount)
            source?.offset += Int64(more.count)
            readCount += more.count
            demuxer.append(more)
            if more.isEmpty { source = nil }
        } else if !sources.isEmpty {
            demuxer.beginSegment()
            source = (sources.removeFirst(), 0)
        } else if !hasPackets, isRefused || readCount >= Self.leastByteCount, refusedCount != nil {
            try passOver(because: .damaged)
            // A recording stays as long as it is.
            if list.duration != nil { silence = segment?.duration }
            hasPackets = true
        } else {
            let found = try await list.segment(number)
            number = (found?.number ?? number) + 1
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
        let isFirst = self.segment == nil
        if isFirst { demuxer = SegmentDemuxer(near: time(segment)) }
        self.segment = segment
        following = nil
        hasPackets = false
        isRefused = false
        readCount = 0
        // One that held before was passed on with an earlier segment.
        titles = isFirst ? segment.titles[...] : segment.titles.drop { $0.time < .zero }
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
