import CPulse
import Media

/// Converts formats to PulseAudio's. The server converts samples to a format that its sink accepts.
enum PulseFormat {
    static func sampleSpec(of format: AudioFormat) -> pa_sample_spec {
        let sample =
            switch format.sample {
            case .s16: PA_SAMPLE_S16LE
            case .s32: PA_SAMPLE_S32LE
            case .f32: PA_SAMPLE_FLOAT32LE
            }
        return pa_sample_spec(
            format: sample,
            rate: UInt32(clamping: format.sampleRate),
            channels: UInt8(clamping: format.channelCount)
        )
    }

    /// The channels in the order of the samples. The server mixes them for the loudspeakers of its sink.
    static func channelMap(of format: AudioFormat) -> pa_channel_map {
        var map = pa_channel_map()
        map.channels = UInt8(clamping: format.channelCount)
        withUnsafeMutableBytes(of: &map.map) { bytes in
            let positions = bytes.assumingMemoryBound(to: pa_channel_position_t.self)
            for (index, channel) in format.channels.enumerated() { positions[index] = position(of: channel) }
        }
        return map
    }

    private static func position(of channel: ChannelPosition) -> pa_channel_position_t {
        switch channel {
        case .mono: PA_CHANNEL_POSITION_MONO
        case .frontLeft: PA_CHANNEL_POSITION_FRONT_LEFT
        case .frontRight: PA_CHANNEL_POSITION_FRONT_RIGHT
        case .frontCenter: PA_CHANNEL_POSITION_FRONT_CENTER
        case .lowFrequency: PA_CHANNEL_POSITION_LFE
        case .rearLeft: PA_CHANNEL_POSITION_REAR_LEFT
        case .rearRight: PA_CHANNEL_POSITION_REAR_RIGHT
        case .frontLeftOfCenter: PA_CHANNEL_POSITION_FRONT_LEFT_OF_CENTER
        case .frontRightOfCenter: PA_CHANNEL_POSITION_FRONT_RIGHT_OF_CENTER
        case .rearCenter: PA_CHANNEL_POSITION_REAR_CENTER
        case .sideLeft: PA_CHANNEL_POSITION_SIDE_LEFT
        case .sideRight: PA_CHANNEL_POSITION_SIDE_RIGHT
        }
    }
}
