/// Maps times in the music to byte offsets in its resource, and back. Pure.
///
/// The seek table of a decoder provides it; without one it is linear. Bytes before the first audio byte and
/// after the last have no time of their own: they are at the start and at the end.
package struct TimeMap: Sendable, Equatable {
    /// The steps into which decoders divide a duration: enough for a cell of any screen.
    package static let steps = 256

    package let duration: Duration
    /// Larger than any file: with it, no arithmetic on offsets that a server claims overflows.
    private static let farthest: Int64 = 1 << 60
    /// The offsets at equal steps of time from 0 to `duration`, in rising order. In between, bytes count as
    /// evenly spread.
    private let offsets: [Int64]

    /// Creates a map from the offsets at equal steps of time from 0 to `duration`. An offset below an earlier
    /// one counts as the earlier one. `nil` if there is no music.
    package init?(duration: Duration, offsets: [Int64]) {
        var rising: [Int64] = []
        rising.reserveCapacity(offsets.count)
        for offset in offsets { rising.append(min(max(offset, rising.last ?? 0), Self.farthest)) }
        guard duration > .zero, let first = rising.first, let last = rising.last, first < last else {
            return nil
        }
        self.duration = duration
        self.offsets = rising
    }

    /// Creates the map of music whose bytes are evenly spread over `audio`; `nil` if there is none.
    package init?(duration: Duration, audio: ByteRange) {
        self.init(duration: duration, offsets: [audio.lowerBound, audio.upperBound])
    }

    /// The offsets of the first audio byte and after the last.
    package var audio: ByteRange { offsets[0]..<offsets[offsets.count - 1] }

    /// The offset of the byte that is played at `time`; a time outside the music has the nearest offset.
    package func offset(at time: Duration) -> Int64 {
        let place = min(max(0, time / duration), 1) * Double(offsets.count - 1)
        let step = min(Int(place), offsets.count - 2)
        let length = Double(offsets[step + 1] - offsets[step])
        return min(offsets[step] + Int64((place - Double(step)) * length), audio.upperBound)
    }

    /// The time at which the byte at `offset` is played; a byte outside the music has the nearest time.
    package func time(at offset: Int64) -> Duration {
        guard offset > audio.lowerBound else { return .zero }
        guard offset < audio.upperBound else { return duration }
        let low = offsets.partitioningIndex { $0 > offset } - 1
        let share = Double(offset - offsets[low]) / Double(offsets[low + 1] - offsets[low])
        return duration * ((Double(low) + share) / Double(offsets.count - 1))
    }

    /// `true` if both maps have the same duration, and no offset differs by more than the bytes of one step
    /// of the longer audio at an even rate.
    package func isNear(_ other: TimeMap) -> Bool {
        let tolerance =
            max(audio.upperBound - audio.lowerBound, other.audio.upperBound - other.audio.lowerBound)
            / Int64(Self.steps)
        let isNear = { (left: Int64, right: Int64) in
            (left - right).magnitude <= tolerance.magnitude
        }
        return duration == other.duration && isNear(audio.lowerBound, other.audio.lowerBound)
            && (0...Self.steps).allSatisfy { step in
                let time = duration * Double(step) / Double(Self.steps)
                return isNear(offset(at: time), other.offset(at: time))
            }
    }

    /// This map for music that is said to last `duration`.
    package func stretched(to duration: Duration) -> TimeMap? {
        duration == self.duration ? self : TimeMap(duration: duration, offsets: offsets)
    }
}
