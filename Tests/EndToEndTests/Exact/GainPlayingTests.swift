import Foundation
import Media
import TestSupport
import Testing

/// The gain of a tag, in the samples that reach the sink.
@Suite struct GainPlayingTests {
    private static let decibels = -6.5

    /// An ID3v2.4 tag of one frame, short enough for one byte of each length.
    private static let tag: [UInt8] = {
        let body = [3] + Array("replaygain_track_gain\0\(decibels) dB".utf8)
        let frame = Array("TXXX".utf8) + [0, 0, 0, UInt8(body.count), 0, 0] + body
        return Array("ID3".utf8) + [4, 0, 0, 0, 0, 0, UInt8(frame.count)] + frame
    }()

    @Test func `with --gain track every sample is the reference decoder's, scaled by the gain of the tag`()
        async throws
    {
        let bytes = Self.tag + (try await MP3Fixtures.bytes(.init(seconds: 10)))
        let stage = try await Stage(bytes)
        let path = try stage.folder.write(bytes, to: "tagged.mp3")
        let plain = PCM.samples(try await MP3Fixtures.referencePCM(of: path))
        var scaled = plain
        let format = AudioFormat(sampleRate: 44_100, channelCount: 2)
        scaled.withUnsafeMutableBytes {
            GainStage(Loudness.Level(gain: Self.decibels)).apply(to: $0, of: format)
        }
        #expect(scaled != plain)
        let quiet = PCM.samples(Array(try await stage.samples(options: ["--gain", "track"])))
        #expect(quiet.count == scaled.count && quiet == scaled)
        let loud = PCM.samples(Array(try await stage.samples(options: ["--gain", "off"])))
        #expect(loud.count == plain.count && loud == plain)
    }
}
