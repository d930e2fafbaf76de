import Media
import TestSupport
import Testing

@testable import Decoding

/// Damaged ALAC is refused by a sentence, or plays on.
@Suite struct ALACHostileTests {
    /// The content of a box `alac`.
    static func settings(
        frames: UInt32 = 4_096,
        version: UInt8 = 0,
        width: UInt8 = 16,
        tuning: [UInt8] = [40, 10, 14],
        channels: UInt8 = 2,
        rate: UInt32 = 44_100
    ) -> [UInt8] {
        MadeMP4.numbers([0, frames]) + [version, width] + tuning + [channels, 0, 255]
            + MadeMP4.numbers([0, 0, rate])
    }

    private func decoder(_ bytes: [UInt8]) -> MP4Decoder {
        MP4Decoder(ProbedStream(source: MemorySource(bytes), subject: "song.m4a"))
    }

    /// A file with `settings` in place of its own.
    private func file(_ settings: [UInt8]) throws -> [UInt8] {
        let bytes = MadeALAC.plain.bytes
        let entry = try #require(MadeALAC.plain.place(of: "alac"))
        let name = Array("alac".utf8)
        let box = try #require(bytes.indices.first { $0 > entry && bytes[$0...].starts(with: name) })
        return Array(bytes[..<(box + 4)]) + settings + bytes[(box + 4 + settings.count)...]
    }

    @Test(arguments: [
        settings(frames: 0), settings(frames: 4_097), settings(frames: .max), settings(version: 1),
        settings(width: 0), settings(width: 8), settings(width: 17), settings(width: 255),
        settings(channels: 0), settings(channels: 9), settings(channels: 255), settings(rate: 0),
        settings(rate: .max),
    ])
    func `settings out of range are refused by a sentence`(settings: [UInt8]) async throws {
        let file = try file(settings)
        let error = await #expect(throws: MediaError.self) { try await decoder(file).open() }
        #expect(error?.code == .notAudio)
        #expect(error?.cause == "ALAC with settings out of range (damaged)")
    }

    @Test func `settings that are cut are damaged`() {
        let whole = Self.settings()
        for count in 0..<whole.count {
            #expect(throws: Refusal.damaged) { try ALACConfiguration(whole[..<count]) }
        }
        #expect(throws: Never.self) { try ALACConfiguration(whole + [0, 0, 0, 24]) }
    }

    @Test
    func `packets of another size, width or number of channels than stated give frames of their length`()
        async throws
    {
        let length = MadeALAC.plain.wave.frames
        for settings in [
            Self.settings(frames: 1), Self.settings(frames: 100), Self.settings(width: 20),
            Self.settings(width: 32), Self.settings(channels: 1), Self.settings(channels: 8),
            Self.settings(tuning: [0, 0, 0]), Self.settings(tuning: [255, 255, 255]),
        ] {
            let decoder = decoder(try file(settings))
            let heard = try await decodeBytes(decoder)
            let frames = heard.count / decoder.info.format.bytesPerFrame
            #expect((1...44_100 * length / 8_000 + 1).contains(frames), "\(settings)")
        }
    }

    @Test func `damaged packets cost their frames only, and a cut file plays to the cut`() async throws {
        let made = MadeALAC.byFFmpeg(MadeALAC.wave(.s24, frames: 44_177))
        let whole = made.wave.pcm
        let packet = 4_096 * made.bytesPerFrame
        var random = SeededGenerator(seed: 7)
        let changes: [(inout [UInt8], Range<Int>) -> Void] = [
            { for place in $1 { $0[place] = 0 } },
            { for place in $1 { $0[place] = 0xFF } },
            { for place in $1 { $0[place] = UInt8.random(in: 0...255, using: &random) } },
            { $0[$1.lowerBound + 2] ^= 0xFF },
        ]
        for change in changes {
            let damaged = made.changed { bytes in
                for number in [0, 3, 4] { change(&bytes, made.packets[number]) }
            }
            let decoder = decoder(damaged.bytes)
            let heard = try await decodeBytes(decoder)
            try #require(heard.count == whole.count)
            for number in [1, 2] + Array(5..<made.packets.count) {
                let range = number * packet..<min((number + 1) * packet, whole.count)
                expectSame(heard[range], whole[range], "packet \(number)")
            }
            // Also where it is the first packet after a seek.
            _ = try await decoder.seek(to: decoder.info.format.duration(of: 4_096 * 4 + 5))
            let rest = try await decodeBytes(decoder)
            expectSame(rest.dropFirst(packet - 5 * made.bytesPerFrame), whole.dropFirst(5 * packet))
        }
        let cut = try await decodeBytes(decoder(Array(made.bytes[..<made.packets[6].upperBound])))
        expectSame(cut, whole[..<(7 * packet)])
    }

    /// 100,000 inputs in all, 2,000 in the subset.
    @Test(arguments: TestCount.seeds(2, full: 100))
    func `damaged packets crash nothing, and those around them are exact`(block: UInt64) async throws {
        let files = [
            MadeALAC.byFFmpeg(MadeALAC.wave(frames: 4_096 * 2)),
            .byFFmpeg(MadeALAC.wave(.s24, frames: 4_096 + 3)),
            .byFFmpeg(MadeALAC.wave(.s24, channels: 6, frames: 4_096 * 2)),
            .byLibsndfile(32, MadeALAC.wave(.s32, frames: 4_096 + 1_000)),
        ]
        let memory = ResidentMemory.Bound()
        for (number, made) in files.enumerated() {
            let packets = made.packets.map { Array(made.bytes[$0]) }
            let settings = Self.settings(width: UInt8(made.width), channels: UInt8(made.wave.channels))
            let codec = try await ALACHandle.make(try ALACConfiguration(settings))
            var pcm = [UInt8](repeating: 0, count: 256 * codec.format.bytesPerFrame)
            for seed in block * 250..<(block + 1) * 250 {
                var mutator = Mutator(seed: seed * 4 + UInt64(number))
                let damaged = mutator.damaged(
                    packets[mutator.number(0...packets.count - 1)],
                    favouring: [0]
                )
                #expect([0, 4_096].contains(codec.decode(damaged[...])))
                #expect(codec.decode(packets[0][...]) == 4_096)
                pcm.withUnsafeMutableBytes { codec.copy(0..<256, into: $0) }
                expectSame(pcm, made.pcm.prefix(pcm.count), "seed \(seed)")
            }
        }
        memory.check("block \(block)")
    }
}
