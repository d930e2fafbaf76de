import Media
import System
import TestSupport
import Testing

@testable import Decoding

/// Streams of segments that go on while they are played, and what their playlists state.
@Suite struct LiveSegmentsTests {
    private static let made = MadeAAC("aac", seconds: 12, rate: 44_100, channels: 2)
    private static let packets = 43

    /// Segments of 43 packets each in MPEG-TS. Their clock begins at `first`, and anew at each of `restarts`.
    private static func segments(first: Int64 = 0, restarts: [Int: Int64] = [:]) -> [Segment] {
        let frames = made.frameBytes
        var base = first
        var restart = 0
        return stride(from: 0, to: frames.count - packets, by: packets).map { start in
            if let other = restarts[start / packets] {
                base = other - MadeTransport.ticks(of: start)
                restart += 1
            }
            let part = Array(frames[start..<start + packets])
            let transport = MadeTransport(part, from: base + MadeTransport.ticks(of: start))
            return Segment(
                MemorySource(transport.bytes),
                lasting: Duration(Int64(packets * 1_024), per: 44_100),
                discontinuity: restart
            )
        }
    }

    private static let length = Duration(Int64(packets * 1_024), per: 44_100)

    private static func live(_ segments: [Segment]) -> FixedSegments {
        var list = FixedSegments(segments)
        list.isLive = true
        list.startTime = length * 7
        return list
    }

    private func decoder(_ list: FixedSegments) -> SegmentedDecoder {
        SegmentedDecoder(list, subject: "song")
    }

    private static func whole() async throws -> [UInt8] {
        let source = MemorySource(made.bytes, isStored: true)
        return try await decodeBytes(try await DecoderTable.all.decoder(for: source, at: .file("/song")))
    }

    // MARK: Live

    @Test func `a live stream begins at the time of its list, and seeks in it are exact`() async throws {
        let list = Self.live(Self.segments())
        let decoder = decoder(list)
        let sound = try await Self.whole()
        let start = try await decoder.start()
        let width = decoder.info.format.bytesPerFrame
        let first = 7 * Self.packets * 1_024
        #expect(abs(Int(start.frame) - first) <= 1 && start.isExact)
        #expect(decoder.info.isRewindable && decoder.info.duration == nil && list.requested == [7])
        func expectSound(at landing: SeekLanding) async throws {
            let heard = try await decodeBytes(decoder, atMost: 60_000 * width)
            // The times of segments are rounded.
            let isSame = (-1...1).contains { shift in
                let place = max(0, Int(landing.frame) + shift)
                return heard.elementsEqual(sound[(place * width)...].prefix(heard.count))
            }
            #expect(isSame, "at \(landing)")
        }
        try await expectSound(at: start)
        for seconds in [2.5, 8.2, 0, 9.3] {
            let landing = try await decoder.seek(to: .seconds(seconds))
            #expect(
                landing.frame == decoder.info.format.frames(in: .seconds(seconds)) && landing.isExact,
                "\(seconds)"
            )
            try await expectSound(at: landing)
        }
        // Behind the end, the last segment is played.
        let last = try await decoder.seek(to: .seconds(1_000))
        let start10 = FrameCount((list.all.count - 1) * Self.packets * 1_024)
        #expect(abs(last.frame - start10) <= 2_048 && last.isExact, "\(last), not \(start10)")
    }

    @Test func `after lost segments a seek by a distance moves by that distance`() async throws {
        var list = Self.live(Self.segments())
        list.startTime = Self.length * 2
        list.lost = [4, 5, 6]
        let decoder = decoder(list)
        let sound = try await Self.whole()
        _ = try await decoder.start()
        let width = decoder.info.format.bytesPerFrame
        let segment = Self.packets * 1_024
        // Two segments, and half of the one behind the lost ones.
        _ = try await decodeBytes(decoder, atMost: 5 * segment / 2 * width)
        let target = FrameCount(4 * segment + 5_000)
        let landing = try await decoder.seek(to: decoder.info.format.duration(of: target))
        #expect(landing.isExact && abs(landing.frame - target) <= 1, "\(landing), not \(target)")
        // The positions count what was heard: segment 7 follows segment 3.
        let heard = try await decodeBytes(decoder, atMost: 30_000 * width)
        let place = 7 * segment + 5_000 + Int(landing.frame - target) + 1
        #expect(
            (-1...1).contains { heard.elementsEqual(sound[((place + $0) * width)...].prefix(heard.count)) }
        )
    }

    // MARK: Times across discontinuities

    @Test func `a seek into another part goes by the clock of that part`() async throws {
        // The clocks of the two parts are 26 hours apart.
        let list = FixedSegments(Self.segments(first: 90_000 * 93_000, restarts: [5: 90_000]))
        let decoder = decoder(list)
        let sound = try await Self.whole()
        try await decoder.open()
        let width = decoder.info.format.bytesPerFrame
        _ = try await decodeBytes(decoder, atMost: 7 * Self.packets * 1_024 * width)
        for seconds in [1.5, 8.5, 2.5] {
            let landing = try await decoder.seek(to: .seconds(seconds))
            #expect(landing.isExact, "\(seconds)")
            let heard = try await decodeBytes(decoder, atMost: 20_000 * width)
            // The second part goes on where the first one ended.
            expectSame(heard, sound[(Int(landing.frame) * width)...].prefix(heard.count), "\(seconds)")
        }
    }

    @Test func `a recording begins where EXT-X-START says, unless a place is asked for`() async throws {
        var list = FixedSegments(Self.segments())
        list.startTime = .seconds(4)
        let sound = try await Self.whole()
        let decoder = decoder(list)
        let landing = try await decoder.start()
        #expect(landing == SeekLanding(frame: 4 * 44_100, isExact: true) && !decoder.info.isRewindable)
        let width = decoder.info.format.bytesPerFrame
        let heard = try await decodeBytes(decoder, atMost: 30_000 * width)
        expectSame(heard, sound[(4 * 44_100 * width)...].prefix(heard.count))
        #expect(try await decoder.seek(to: .zero).frame == 0)
    }

    // MARK: Titles

    /// The titles and the frames before which they are known.
    private func titles(_ decoder: SegmentedDecoder, frames most: Int) async throws -> [String] {
        let pcm = UnsafeMutableRawBufferPointer.allocate(byteCount: 4_096, alignment: 16)
        defer { pcm.deallocate() }
        var titles: [String] = []
        var last: SafeText?
        var frames = 0
        while frames < most, case .frames(let count) = try await decoder.decode(into: pcm) {
            if let title = decoder.info.songTitle, title != last {
                titles.append("\(title) at \(frames)")
                last = title
            }
            frames += count
        }
        return titles
    }

    @Test func `titles of the playlist are known with the packet in which they begin, the first one too`()
        async throws
    {
        var segments = Self.segments()
        segments[7].titles = [(.seconds(-9), "Old"), (.seconds(-3), "First")]
        segments[8].titles = [(.seconds(-4), "First"), (.milliseconds(500), "Half")]
        segments[9].titles = [(.seconds(-1), "Half"), (.zero, "Third")]
        let decoder = decoder(Self.live(segments))
        _ = try await decoder.start()
        let segment = Self.packets * 1_024
        let half = 22 * 1_024
        // The first packet is not heard, and the last one of a segment is passed on with the next segment.
        let lead = 2 * 1_024
        let heard = try await titles(decoder, frames: 3 * segment - 2_048)
        #expect(
            heard == ["First at 0", "Half at \(segment + half - lead)", "Third at \(2 * segment - lead)"]
        )
        // The titles at another place.
        _ = try await decoder.seek(to: Self.length * 8)
        let other = try await titles(decoder, frames: segment)
        #expect(other == ["First at 0", "Half at \(half - lead)", "Third at \(segment - lead)"])
    }

    @Test func `the title in the first tag of a stream is not lost`() async throws {
        let tag = id3Tag(version: 4, id3Frame("TIT2", [3] + Array("Song".utf8)))
        let parts = stride(from: 0, to: 400, by: 100).map { start in
            (start == 0 ? tag : []) + Self.made.frameBytes[start..<start + 100].joined()
        }
        let list = FixedSegments(parts.map { Segment(MemorySource($0), lasting: .seconds(2)) })
        #expect(try await titles(decoder(list), frames: 10_000) == ["Song at 0"])
    }

    // MARK: Segments that are not played

    /// Segment 2 and those after it, `count` in all, are noise.
    private func damaged(_ count: Int) -> [Segment] {
        var segments = Self.segments()
        for number in 2..<2 + count {
            segments[number].bytes = MemorySource(ByteFixtures.bytes(count: 40_000, seed: UInt64(number)))
        }
        return segments
    }

    @Test func `a damaged segment of a recording is silent and said, and the rest is in time`() async throws {
        let list = FixedSegments(damaged(1))
        let decoder = decoder(list)
        let heard = try await decodeBytes(decoder)
        let sound = try await Self.whole()
        let width = decoder.info.format.bytesPerFrame
        let segment = Self.packets * 1_024 * width
        // The frames at its ends overlap with those beside.
        let margin = 2_048 * width
        #expect(Array(list.passedOver.keys) == [2])
        for range in [0..<2 * segment - margin, 3 * segment + margin..<heard.count] {
            expectSame(Array(heard[range]), Array(sound[range]), "\(range)")
        }
        #expect(heard[(2 * segment + margin)..<(3 * segment - margin)].allSatisfy { $0 == 0 })
    }

    @Test func `a damaged segment of a live stream is passed over`() async throws {
        var list = Self.live(damaged(1))
        list.startTime = .zero
        let decoder = decoder(list)
        let heard = try await decodeBytes(decoder)
        let width = decoder.info.format.bytesPerFrame
        let frames = heard.count / width - (list.all.count - 1) * Self.packets * 1_024
        #expect((-2_048...0).contains(frames), "\(frames)")
        #expect(list.passedOver[2] == Refusal.damaged.cause)
    }

    @Test func `eight damaged segments in a row are passed over, and the ninth ends the stream`() async throws
    {
        let list = FixedSegments(damaged(8))
        _ = try await decodeBytes(decoder(list))
        #expect(list.passedOver.count == 8)
        let longer = FixedSegments(damaged(9))
        await #expect(throws: Refusal.damaged.error(of: "song", isOpen: true)) {
            _ = try await decodeBytes(self.decoder(longer))
        }
        #expect(longer.passedOver.count == 8)
    }
}
