import Media
import TestSupport
import Testing

@testable import Decoding

/// The music of segments as one file, and streams that no file can have.
@Suite struct SegmentExportTests {
    private func exported(_ list: FixedSegments, _ numbers: [Int]? = nil) async throws -> [UInt8] {
        var file: [UInt8] = []
        let all = numbers ?? Array(list.all.indices)
        try await SegmentExport(of: list, subject: "song").run(all) { file += $0 }
        return file
    }

    private static func made(_ rate: Int = 44_100, _ channels: Int = 2) -> MadeSegments {
        .packed("\(rate), \(channels)", MadeAAC("aac", seconds: 4, rate: rate, channels: channels))
    }

    /// MP3 or AAC under one number of a transport stream, as its tables state.
    private static func transport(_ type: UInt8) -> MadeSegments {
        let made = MadeAAC("aac", seconds: 2)
        let frames = type == 0x0F ? made.frameBytes : [Fixture.bareCBR.bytes]
        let bytes = MadeTransport(type: type, frames).bytes
        return MadeSegments(
            "\(type)",
            whole: [],
            parts: [bytes, bytes],
            durations: [.seconds(2), .seconds(2)]
        )
    }

    /// MP3 without a container.
    private static let packedMP3 = MadeSegments(
        "MP3",
        whole: [],
        parts: [Fixture.bareCBR.bytes, Fixture.bareCBR.bytes],
        durations: [.seconds(2), .seconds(2)]
    )

    private static func of(_ name: String) -> MadeSegments? {
        SegmentDemuxerTests.all.first { $0.testDescription == name }
    }

    @Test func `segments that are not given are left out, and the others follow one another`() async throws {
        let packed = Self.made()
        #expect(try await exported(packed.list()) == packed.whole)
        #expect(try await exported(packed.list(), [0]) == packed.parts[0])
        let parts = try await exported(packed.list(), [0, packed.parts.count - 1])
        #expect(parts == packed.parts[0] + packed.parts[packed.parts.count - 1])
        let fragments = try #require(Self.of("AAC in fmp4"))
        let joined = try await exported(fragments.list(), [1, 2])
        #expect(joined == fragments.parts[0] + fragments.parts[2] + fragments.parts[3])
    }

    /// Streams of which the second part has another codec, format or container.
    private static let changes: [(name: String, parts: [MadeSegments?])] = [
        ("another rate", [made(), made(48_000, 2)]),
        ("other channels", [made(), made(44_100, 1)]),
        ("AAC, then MP3", [made(), of("MP3 in mpegts")]),
        ("MP3, then AAC", [of("MP3 in mpegts"), made()]),
        ("MP3, then AAC, under one number", [transport(0x03), transport(0x0F)]),
        ("AAC, then MP3, under one number", [transport(0x0F), transport(0x04)]),
        ("MP3, then AAC, packed", [packedMP3, made()]),
        ("AAC, then MP3, packed", [made(), packedMP3]),
        ("fragments, then ADTS", [of("AAC in fmp4"), made()]),
        ("ADTS, then fragments", [made(), of("AAC in fmp4")]),
        ("another initialisation section", [of("AAC in fmp4"), of("AAC 22.05 kHz mono in fmp4")]),
    ]

    @Test(arguments: changes.indices)
    func `a change of codec or format is refused, also without a discontinuity`(index: Int) async throws {
        let parts = try Self.changes[index].parts.map { try #require($0) }
        for discontinuity in [0, 1] {
            var second = parts[1].list(discontinuity: discontinuity).all
            // Sections are known by their numbers.
            for index in second.indices { second[index].initialisation?.number = 1 }
            let list = FixedSegments(parts[0].list().all + second)
            await #expect(Self.comment(index)) { _ = try await self.exported(list) } throws: { error in
                let error = error as? MediaError
                return error?.code == .notAudio && error?.cause.string.contains("format changes") == true
            }
        }
    }

    private static func comment(_ index: Int) -> Comment { Comment(rawValue: changes[index].name) }

    @Test func `a stream that is not played, a damaged one and one without segments say why`() async throws {
        var made = MadeTransport()
        made.tables([.init(type: 0x81, pid: 0x100)])
        func list(_ bytes: [UInt8]) -> FixedSegments {
            FixedSegments([Segment(MemorySource(bytes), lasting: .seconds(2))])
        }
        let refusal = Refusal("MPEG-TS with AC-3", played: "MPEG-TS with AAC or MP3")
        await #expect(throws: refusal.error(of: "song", isOpen: true)) {
            _ = try await self.exported(list(made.bytes + made.bytes))
        }
        await #expect(throws: Refusal.damaged.error(of: "song", isOpen: true)) {
            _ = try await self.exported(list(ByteFixtures.bytes(count: 200_000, seed: 1)))
        }
        await #expect { _ = try await self.exported(Self.made().list(), []) } throws: { error in
            (error as? MediaError)?.code == .notCached
        }
    }
}
