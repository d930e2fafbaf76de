/// A count of PCM frames. A frame is one sample of each channel.
package typealias FrameCount = Int64

/// The storage format of one sample, in the machine's byte order.
package enum SampleFormat: Sendable, Hashable, CaseIterable {
    /// Signed integers of 16 and 32 bits. 24-bit sources use the upper bits of `s32`.
    case s16, s32
    /// 32-bit floating point; full scale is ±1.
    case f32

    package var byteCount: Int { self == .s16 ? 2 : 4 }
}

/// The loudspeaker for a channel, named as in WAVE files and PulseAudio.
///
/// All but `mono` are in the order of their bits in the channel mask of WAVE files (mmreg.h,
/// `SPEAKER_FRONT_LEFT`, …).
package enum ChannelPosition: Sendable, Hashable, CaseIterable {
    case mono, frontLeft, frontRight, frontCenter, lowFrequency, rearLeft, rearRight
    case frontLeftOfCenter, frontRightOfCenter, rearCenter, sideLeft, sideRight

    private static let inMask = Array(allCases.dropFirst())

    /// The `count` channels (1...8) of a WAVE file with the channel mask `mask`: in the customary order if
    /// the mask has another number of bits, or a bit that stands for none of these loudspeakers. One channel
    /// is always `mono`.
    package static func channels(ofMask mask: UInt32, count: Int) -> [ChannelPosition] {
        let named = inMask.indices.filter { mask >> UInt32($0) & 1 == 1 }.map { inMask[$0] }
        return count > 1 && named.count == count && mask >> UInt32(inMask.count) == 0
            ? named : customary(count)
    }

    /// The channel mask of a WAVE file with `channels`; 0, which states no order, if their order is not that
    /// of a mask.
    package static func mask(of channels: [ChannelPosition]) -> UInt32 {
        let bits = channels.map { inMask.firstIndex(of: $0) ?? -1 }
        guard bits.first != -1, zip(bits, bits.dropFirst()).allSatisfy({ $0 < $1 }) else { return 0 }
        return bits.reduce(0) { $0 | 1 << UInt32($1) }
    }

    /// The order in which WAVE, FLAC and AIFF store `count` channels (1...8) unless they state another.
    package static func customary(_ count: Int) -> [ChannelPosition] {
        let surround: [ChannelPosition] = [.frontLeft, .frontRight, .frontCenter, .lowFrequency]
        switch count {
        case 1: return [.mono]
        case 2: return [.frontLeft, .frontRight]
        case 3: return [.frontLeft, .frontRight, .frontCenter]
        case 4: return [.frontLeft, .frontRight, .rearLeft, .rearRight]
        case 5: return [.frontLeft, .frontRight, .frontCenter, .rearLeft, .rearRight]
        case 6: return surround + [.rearLeft, .rearRight]
        case 7: return surround + [.rearCenter, .sideLeft, .sideRight]
        case 8: return surround + [.rearLeft, .rearRight, .sideLeft, .sideRight]
        default: preconditionFailure("a stream has 1 to 8 channels, not \(count)")
        }
    }
}

/// The format of PCM whose samples are interleaved: a frame has one sample for each of `channels`, in their
/// order.
package struct AudioFormat: Sendable, Hashable {
    package static let channelCounts = 1...8

    /// Frames per second, in Hz.
    package var sampleRate: Int
    /// 1 to 8 channels, in the order of a frame's samples.
    package var channels: [ChannelPosition]
    package var sample: SampleFormat

    package init(sampleRate: Int, channels: [ChannelPosition], sample: SampleFormat = .s16) {
        precondition(Self.channelCounts.contains(channels.count), "a stream has 1 to 8 channels")
        self.sampleRate = sampleRate
        self.channels = channels
        self.sample = sample
    }

    /// A format with `channelCount` channels in their customary order.
    package init(sampleRate: Int, channelCount: Int, sample: SampleFormat = .s16) {
        self.init(sampleRate: sampleRate, channels: ChannelPosition.customary(channelCount), sample: sample)
    }

    package var channelCount: Int { channels.count }

    package var bytesPerFrame: Int { channelCount * sample.byteCount }

    /// The usual name for the number of channels.
    package var channelName: String {
        switch channelCount {
        case 1: "mono"
        case 2: "stereo"
        default: "\(channelCount) channels"
        }
    }

    /// The duration of `frames`.
    package func duration(of frames: FrameCount) -> Duration {
        Duration(frames, per: Int64(sampleRate))
    }

    /// The number of whole frames that play in `time`, which is taken to the nearest nanosecond: seconds with
    /// decimals are rarely exact in binary. 0 for a negative time.
    package func frames(in time: Duration) -> FrameCount {
        guard time > .zero else { return 0 }
        let (seconds, attoseconds) = time.components
        let rate = Int64(sampleRate)
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: rate)
        guard !overflow, whole < .max / 4 else { return .max / 4 }
        // `duration(of:)` rounds down to a nanosecond. Adding just under a nanosecond here maps that duration
        // back to the same frame. The terms are in billionths of a frame, in which a nanosecond is `rate`.
        let nanoseconds = (attoseconds + 500_000_000) / 1_000_000_000
        return whole + (nanoseconds * rate + rate - 1) / 1_000_000_000
    }
}

extension Duration {
    /// The time of `count` units, of which a second has `rate`, rounded down to a nanosecond.
    package init(_ count: Int64, per rate: Int64) {
        let (seconds, rest) = count.quotientAndRemainder(dividingBy: rate)
        self = .seconds(seconds) + .nanoseconds(rest * 1_000_000_000 / rate)
    }

    /// The duration in seconds, for ratios, progress bars and events.
    package var seconds: Double {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }

    /// Rounded down.
    package var wholeMilliseconds: Int64 {
        components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000
    }
}
