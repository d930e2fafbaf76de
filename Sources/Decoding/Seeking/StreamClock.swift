import Media

/// Relates the times of a stream's music to offsets in its resource, as far as both are known.
///
/// The facts change while the bytes come: a length that the stream states is believed until a frame is
/// found behind it or the bytes contradict it, an estimate becomes better, and at the end the length is
/// counted. A clock states what is known now. `StreamInfo.revise` is the only place where this replaces what
/// was known before.
protocol StreamClock {
    /// The offsets of the music; `nil` while its end is unknown, and empty if the resource has none.
    var audio: ByteRange? { get }

    /// The length of the music: counted, stated or estimated; `nil` if it can't even be estimated.
    var duration: Duration? { get }

    /// `true` if `duration` was counted, or if it is stated and nothing contradicts it.
    var isDurationExact: Bool { get }

    /// The mean number of bytes for one second of music.
    var bytesPerSecond: Double { get }

    /// The offsets of the bytes that are played at `shares` of `duration`, which rise from 0; `nil` if the
    /// bytes are evenly spread.
    func offsets(at shares: [Double]) -> [Int64]?
}

extension StreamClock {
    func offsets(at shares: [Double]) -> [Int64]? { nil }

    /// The mean of all bytes of the music; `nil` if the bytes or the length are unknown.
    var meanBytesPerSecond: Double? {
        guard let audio, !audio.isEmpty, let duration, duration > .zero else { return nil }
        return Double(audio.count) / duration.seconds
    }

    /// The times at which the bytes are played, if the music lasts `duration`; `nil` without bytes of music.
    func timeMap(lasting duration: Duration) -> TimeMap? {
        guard let audio, !audio.isEmpty else { return nil }
        let shares = (0..<TimeMap.steps).map { Double($0) / Double(TimeMap.steps) }
        guard let offsets = offsets(at: shares) else { return TimeMap(duration: duration, audio: audio) }
        let end = audio.upperBound
        return TimeMap(duration: duration, offsets: offsets.map { min($0, end) } + [end])
    }
}

extension StreamInfo {
    /// An estimate replaces another one only if they differ by more than this share.
    private static let leastChange = 0.01

    /// Takes over what `clock` knows now.
    mutating func revise(by clock: some StreamClock) {
        let wasExact = isDurationExact
        isDurationExact = clock.isDurationExact
        if let new = clock.duration {
            let change = abs((duration ?? .zero).seconds - new.seconds)
            if isDurationExact || wasExact || change > Self.leastChange * new.seconds { duration = new }
        }
        let map = duration.flatMap(clock.timeMap)
        let isNear = map.flatMap { timeMap?.isNear($0) } ?? false
        if !isNear { timeMap = map }
        let rate = clock.bytesPerSecond
        if abs(bytesPerSecond - rate) > Self.leastChange * rate { bytesPerSecond = rate }
    }
}
