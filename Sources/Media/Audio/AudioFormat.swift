/// A count of PCM frames: one sample of every channel each.
package typealias FrameCount = Int64

/// The shape of PCM: signed 16-bit native-endian samples, interleaved.
package struct AudioFormat: Sendable, Hashable {
    /// Frames per second, in Hz.
    package var sampleRate: Int
    /// 1 or 2.
    package var channelCount: Int

    package init(sampleRate: Int, channelCount: Int) {
        self.sampleRate = sampleRate
        self.channelCount = channelCount
    }

    package static let bytesPerSample = 2

    package var bytesPerFrame: Int { channelCount * Self.bytesPerSample }

    /// How long `frames` last.
    package func duration(of frames: FrameCount) -> Duration {
        let rate = Int64(sampleRate)
        let (seconds, rest) = frames.quotientAndRemainder(dividingBy: rate)
        return .seconds(seconds) + .nanoseconds(rest * 1_000_000_000 / rate)
    }

    /// The frame that sounds at `time`, rounded down; 0 for a negative time.
    package func frames(in time: Duration) -> FrameCount {
        guard time > .zero else { return 0 }
        let (seconds, attoseconds) = time.components
        let rate = Int64(sampleRate)
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: rate)
        guard !overflow else { return .max / 4 }
        // `duration(of:)` rounds down to the nanosecond, so one is added: a frame's own time leads back to it.
        return whole + (attoseconds / 1_000_000_000 + 1) * rate / 1_000_000_000
    }
}

extension Duration {
    /// The duration in seconds, for shares, bars and events.
    package var seconds: Double {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }
}
