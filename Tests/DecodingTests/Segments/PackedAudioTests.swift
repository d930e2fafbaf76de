import Media
import TestSupport
import Testing

@testable import Decoding

/// Segments of bare frames, with and without ID3 tags in front.
@Suite struct PackedAudioTests {
    private static let aac = MadeAAC("aac", seconds: 4)
    private static let payloads = aac.frameBytes.map { Array($0.dropFirst(ADTSHeader.byteCount)) }

    private func title(_ text: String) -> [UInt8] { id3Frame("TIT2", [3] + Array(text.utf8)) }

    @Test func `the upper bits of a time, and what is no time, are ignored`() throws {
        let first = (1 << 33) - 9_000
        let tags = [
            SegmentDemuxerTests.timestamp(Int64(first), upper: 0xFFFF_FFFE_0000_0000),
            SegmentDemuxerTests.timestamp(90_000),
            id3Frame("PRIV", Array("com.apple.streaming.transportStreamTimestamp\0".utf8) + [1, 2, 3]),
            id3Frame("PRIV", Array("org.example\0".utf8) + [0, 0, 0, 0, 0, 0, 0, 1]),
        ]
        let segments = MadeSegments.packed("", Self.aac, every: 40) { number in
            number / 40 < tags.count ? id3Tag(version: 4, tags[number / 40]) : []
        }
        let played = PlayedSegments(segments.parts) { 700 }
        #expect(played.packets == Self.payloads)
        #expect(played.times.map(\.packet) == [0, 40])
        let times = [Int64(first), Int64(first) + 99_000].map { Duration($0, per: 90_000) }
        #expect(played.times.map(\.time) == times.map { MediaTime(time: $0, isHint: true) })
    }

    @Test func `titles come before the packets of their segment`() {
        let segments = MadeSegments.packed("", Self.aac, every: 60) { number in
            let artist = number == 0 ? id3Frame("TPE1", [3] + Array("Band".utf8)) : []
            return id3Tag(version: 4, title("\(number)") + artist) + id3Tag(version: 3, [0, 0, 0])
        }
        var demuxer = SegmentDemuxer()
        var steps: [String] = []
        var count = 0
        for part in segments.parts {
            demuxer.beginSegment()
            demuxer.append(part)
            while let step = try? demuxer.next() {
                if case .needMore = step { break }
                if case .packet = step { count += 1 }
                if case .title(let title, _) = step { steps.append("\(title) at \(count)") }
            }
        }
        #expect(steps == ["Band - 0 at 0", "60 at 60", "120 at 120"])
    }

    @Test func `long tags are skipped, and tags that are cut end with their segment`() {
        let long = tag(of: 600_000)
        let cut = Array(tag(of: 3_000).prefix(1_000))
        let parts = MadeSegments.packed("", Self.aac, every: 60).parts
        let played = PlayedSegments([long + parts[0], cut, tag(of: 2_000) + parts[1], [], parts[2]]) { 5_000 }
        #expect(played.packets == Self.payloads && played.titles == ["Artist - Title"])
    }

    @Test func `MP3 plays without the header of its encoder`() async throws {
        let made = Fixture.cbr
        let starts = OddStreams.frameStarts(made.bytes)
        let middle = starts[starts.count / 2]
        let parts = [tag(of: 900) + made.bytes[..<middle], tag(of: 900) + made.bytes[middle...]]
        var played = PlayedSegments(parts)
        #expect(
            played.packets.count == starts.count - 1 && played.titles == ["Artist - Title", "Artist - Title"]
        )
        try await played.decode()
        #expect(played.sound.count == played.packets.count * 1_152 * 4)
    }

    @Test func `damage within a segment is silence, and the times after it are right`() throws {
        let segments = MadeSegments.packed("", Self.aac, every: 60) { number in
            id3Tag(version: 4, SegmentDemuxerTests.timestamp(MadeTransport.ticks(of: number)))
        }
        var parts = segments.parts
        for index in 5_000..<5_400 { parts[1][index] = 0 }
        let played = PlayedSegments(parts)
        #expect(played.missing > 0 && played.missing + played.packets.count == Self.payloads.count)
        #expect(played.times.count == 3)
        #expect(played.packets.suffix(40) == Self.payloads.suffix(40))
    }
}
