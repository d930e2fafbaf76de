import Media

/// Relates the position in the current track to its bytes. Pure.
struct LoadedMusic: Sendable {
    /// The bytes that are stored and on their way.
    let report: LoadReport
    /// `nil` before the track is opened.
    let info: StreamInfo?
    /// The position that is heard.
    let position: Duration
    let duration: Duration?

    /// The duration of the music that is cached without a gap from the heard byte on. This includes decoded
    /// PCM, because its bytes are stored too.
    var buffered: Duration {
        guard let info, info.bytesPerSecond > 0, let run else { return .zero }
        if let timeMap { return max(.zero, timeMap.time(at: run.upperBound) - position) }
        return .seconds(Double(run.count) / info.bytesPerSecond)
    }

    /// `buffered` while the bytes after it are arriving, or about to be requested; `nil` if they are not: at
    /// the end of the track or of the read-ahead, before the next attempt, and in a stream without length.
    var arriving: Duration? {
        guard report.wait == nil, let end = run?.upperBound ?? byteOffset,
            report.inFlight.contains(where: { $0.contains(end) }) || report.wanted?.contains(end) == true
        else { return nil }
        return buffered
    }

    /// The times at which the bytes are played: by the decoder's seek table, or evenly from the first audio
    /// byte on. `nil` if the length in bytes or the duration is unknown, as for a live stream.
    var timeMap: TimeMap? {
        guard report.live == nil, let info, let length = report.length, let duration,
            (0..<length).contains(info.audioStart)
        else { return nil }
        return info.timeMap?.stretched(to: duration)
            ?? TimeMap(duration: duration, audio: info.audioStart..<length)
    }

    /// The byte that is heard; `nil` if the rate of the music is unknown.
    var byteOffset: Int64? {
        if let timeMap { return min(timeMap.offset(at: position), timeMap.audio.upperBound - 1) }
        guard let info, info.bytesPerSecond > 0 else { return nil }
        let offset = info.audioStart + Int64(min(position.seconds * info.bytesPerSecond, 1e15))
        guard let length = report.length else { return offset }
        return max(0, min(offset, length - 1))
    }

    /// The stored bytes from the heard one on.
    private var run: ByteRange? { byteOffset.flatMap { report.stored.run(from: $0) } }
}
