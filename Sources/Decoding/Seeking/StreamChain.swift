import Media

/// One of the streams that follow one another in a resource. As a clock, it states what is known of itself
/// alone.
protocol ChainedStream: StreamClock {
    /// The time of the music before it in the resource.
    var startTime: Duration { get }
    var format: AudioFormat { get }
    /// The number of PCM frames; `nil` if unknown.
    var frameCount: FrameCount? { get }
    /// The offset of its first frame.
    var audioStart: Int64 { get }
    /// About how many bytes of memory it takes.
    var memory: Int { get }
}

extension ChainedStream {
    /// The time at its end in the music of the resource; `startTime` if its length is unknown.
    var endTime: Duration { startTime + format.duration(of: frameCount ?? 0) }

    /// The number of its PCM frames before `time` in the music of the resource.
    func frames(before time: Duration) -> FrameCount {
        min(format.frames(in: time - startTime), frameCount ?? .max)
    }

    func landing(at number: FrameCount, isExact: Bool) -> SeekLanding {
        SeekLanding(frame: format.frames(in: startTime) + number, isExact: isExact)
    }
}

/// The streams that follow one another in a resource, as far as they were reached: the links of chained Ogg,
/// and FLAC files that were joined or change their format. Most resources are one stream.
struct StreamChain<Stream: ChainedStream> {
    /// The most memory of the streams that are kept.
    private static var mostMemory: Int { 4 << 20 }
    /// The most streams without sound in a row.
    private static var mostEmpty: Int { 64 }

    /// Empty until the resource is open.
    var streams: [Stream] = []
    /// The number of the stream that is played.
    var playing = 0
    private var memory = 0
    /// The number of streams that began since the last sound.
    private var emptyCount = 0
    /// The length of the resource when its end was looked at; `nil` before that.
    var tailLength: Int64?

    var current: Stream { streams[playing] }

    /// `true` if the kept streams take all their memory: a further one replaces the last.
    var isFull: Bool { memory >= Self.mostMemory }

    /// The number of the stream that is played at `time`, as far as is known.
    func number(at time: Duration) -> Int { streams.lastIndex { $0.startTime <= time } ?? 0 }

    /// Adds `stream`, which follows number `last`, unless it is known. Returns its number.
    mutating func add(_ stream: Stream, after last: Int) -> Int {
        let number = last + 1
        if number < streams.count, streams[number].audioStart == stream.audioStart { return number }
        if number == streams.count, !isFull {
            memory += stream.memory
            streams.append(stream)
            return number
        }
        // There are too many streams to keep all, as on a radio station: the new one takes the place of the
        // last.
        streams[streams.count - 1] = stream
        return streams.count - 1
    }

    /// Continues with `stream`, which follows the one that is played. Throws after too many streams without
    /// sound.
    mutating func go(on stream: Stream, in input: ProbedStream) throws {
        guard emptyCount < Self.mostEmpty else {
            throw input.brokenOff(because: "too many streams without sound follow one another")
        }
        emptyCount += 1
        playing = add(stream, after: playing)
    }

    /// Sound was heard of the stream that is played.
    mutating func heard() { emptyCount = 0 }

    /// The last `count` bytes of a resource of `length` bytes, as far as they are behind the start of the
    /// last stream; `nil` if they were looked at.
    func tail(of count: Int, length: Int64?) -> ByteRange? {
        guard let length, length != tailLength, let start = streams.last?.audioStart, length > start
        else { return nil }
        return max(start, length - Int64(count))..<length
    }
}

/// The length is the sum of the known streams, and an estimate behind them.
extension StreamChain: StreamClock {
    var audio: ByteRange? {
        guard let first = streams.first, let end = streams.last?.audio?.upperBound else { return nil }
        return first.audioStart..<max(first.audioStart, end)
    }

    var duration: Duration? { streams.last.flatMap { last in last.duration.map { last.startTime + $0 } } }

    var isDurationExact: Bool { streams.last?.isDurationExact ?? false }

    var bytesPerSecond: Double { current.bytesPerSecond }

    /// Several streams have no common map of times.
    func offsets(at shares: [Double]) -> [Int64]? { streams.count == 1 ? current.offsets(at: shares) : nil }
}
