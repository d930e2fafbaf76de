import Decoding
import Media
import TestSupport
import Testing

/// Whatever the structure of a stream, the decoded samples are those of the reference decoder.
@Suite struct OddStreamTests {
    @Test(
        arguments: [
            OddStreams.free, OddStreams.layerII, OddStreams.lowLayerII, OddStreams.layerI, OddStreams.lowest,
        ]
    )
    func `free format, Layers I and II and the lowest rates play as the reference decoder plays them`(
        fixture: Fixture
    ) async throws {
        let decoder = MPEGDecoder(fixture.bytes)
        let heard = try await check(fixture, decoder)
        #expect(decoder.info.skippedByteCount == 0)
        // Counted before the end was reached too, to a hundredth.
        let fresh = MPEGDecoder(fixture.bytes)
        try await fresh.open()
        let counted = fresh.info.format.duration(of: Int64(heard.count / fresh.info.format.channelCount))
        let first = try #require(fresh.info.duration)
        #expect(abs((first - counted) / counted) < 0.01, "\(fixture)")
    }

    @Test(
        arguments: [
            [OddStreams.stereo, OddStreams.mono, OddStreams.stereo],
            [OddStreams.mono, OddStreams.stereo],
            [OddStreams.stereo, OddStreams.high, OddStreams.low, OddStreams.stereo],
            [OddStreams.low, OddStreams.stereo],
            [OddStreams.stereo, OddStreams.layerII, OddStreams.stereo],
            [OddStreams.layerI, OddStreams.stereo],
        ]
    )
    func `a change of channels, rate, version or layer in mid-stream plays on`(parts: [Fixture]) async throws
    {
        let fixture = OddStreams.joined(parts, frames: 120)
        let decoder = MPEGDecoder(fixture.bytes)
        try await check(fixture, decoder)
        // Counted in time, as frames of different kinds last differently long.
        let length = parts.reduce(0.0) { sum, part in
            let header = FrameHeader(part.bytes, at: OddStreams.frameStarts(part.bytes)[0])
            return sum + Double(120 * (header?.samplesPerFrame ?? 0)) / Double(header?.sampleRate ?? 1)
        }
        let told = try #require(decoder.info.duration)
        #expect(abs(told.seconds - length) < 0.06)
    }

    @Test func `a seek past a change of rate lands in the music and is never called exact`() async throws {
        let fixture = OddStreams.joined([OddStreams.stereo, OddStreams.low], frames: 220)
        let decoder = MPEGDecoder(fixture.bytes)
        let whole = try await decodeRest(decoder)
        #expect(!whole.isEmpty)
        let landing = try await decoder.seek(to: .seconds(8))
        #expect(!landing.isExact)
        #expect(try await !decodeRest(decoder).isEmpty)
        let back = try await decoder.seek(to: .seconds(2))
        #expect(back == SeekLanding(frame: 88_200, isExact: true))
        expectSame(try await decodeRest(decoder, limit: 20_000), whole[176_400..<196_400])
    }

    @Test(
        arguments: [
            ("zeros", [UInt8](repeating: 0, count: 700), 700),
            ("an ID3v2 tag", tag(of: 3_000), 3_000),
            ("an ID3v1 tag", id3v1, 128),
            ("an APE tag", ape(5_000), 5_064),
            ("text", Array("APETAG, ID3, TAG, RIFF".utf8), 22),
        ] as [(String, [UInt8], Int64)]
    )
    func `bytes between two frames are skipped and counted`(
        name: String,
        bytes: [UInt8],
        count: Int64
    ) async throws {
        for fixture in [OddStreams.stereo, OddStreams.variable, OddStreams.low, OddStreams.layerII] {
            let odd = OddStreams.inserting(bytes, fixture, beforeFrame: 100)
            let decoder = MPEGDecoder(odd.bytes)
            try await check(odd, decoder)
            #expect(decoder.info.skippedByteCount == count, "\(name) in \(fixture)")
        }
    }

    @Test(arguments: [50, 200])
    func `bytes within a frame spoil no more than with the reference decoder`(place: Int) async throws {
        for bytes in [tag(of: 2_000), ape(300), [UInt8](repeating: 0, count: 1_500)] {
            let odd = OddStreams.inserting(bytes, OddStreams.stereo, beforeFrame: 90, plus: place)
            let decoder = MPEGDecoder(odd.bytes)
            try await check(odd, decoder)
            #expect(decoder.info.skippedByteCount > 0)
        }
    }

    @Test(arguments: [1, 1_000, 60_000])
    func `zeros before the music are skipped and counted`(count: Int) async throws {
        for fixture in [OddStreams.stereo, Fixture.vbr, OddStreams.layerI] {
            var odd = fixture
            odd.bytes = [UInt8](repeating: 0, count: count) + odd.bytes
            let decoder = MPEGDecoder(odd.bytes)
            try await check(odd, decoder)
            #expect(decoder.info.skippedByteCount == Int64(count))
        }
    }

    @Test func `Fraunhofer's header states the duration at once`() async throws {
        let fixture = try OddStreams.withVBRI(Fixture.bareVBR)
        let decoder = MPEGDecoder(fixture.bytes)
        try await decoder.open()
        let told = decoder.info.duration
        #expect(decoder.info.codec == "MPEG-1 Layer III, VBR")
        try await check(fixture, decoder)
        #expect(told == decoder.info.duration)
    }

    @Test(arguments: [OddStreams.free, OddStreams.layerII, OddStreams.layerI])
    func `seeks in other layers and in free format are exact after a full decode`(fixture: Fixture)
        async throws
    {
        let decoder = MPEGDecoder(fixture.bytes)
        let whole = try await decodeRest(decoder)
        let format = decoder.info.format
        for second in [0, 1, 2, 4] {
            let landing = try await decoder.seek(to: .seconds(second))
            #expect(landing == SeekLanding(frame: Int64(second * format.sampleRate), isExact: true))
            let heard = try await decodeRest(decoder, limit: 8_192)
            let expected = whole[(second * format.sampleRate * format.channelCount)...].prefix(8_192)
            expectNear(heard, expected, within: 1, "\(fixture) at \(second) s")
        }
    }

    @discardableResult
    private func check(_ fixture: Fixture, _ decoder: MPEGDecoder) async throws -> [Int16] {
        let expected = try fixture.reference()
        let samples = try await decodeRest(decoder)
        #expect(!expected.isEmpty)
        expectSame(samples, expected, fixture.name)
        return samples
    }
}
