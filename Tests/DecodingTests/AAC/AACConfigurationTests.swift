import Media
import Testing

@testable import Decoding

/// Configurations made by hand: no encoder of HE-AAC is at hand, so no real file of it was decoded.
@Suite struct AACConfigurationTests {
    /// The bytes of `fields`: values, and their numbers of bits.
    private func bytes(_ fields: [(Int, Int)]) -> [UInt8] {
        let bits = fields.flatMap { value, count in
            (0..<count).reversed().map { UInt8(value >> $0 & 1) }
        }
        return stride(from: 0, to: bits.count, by: 8).map { start in
            (0..<8).reduce(0) { $0 << 1 | (start + $1 < bits.count ? bits[start + $1] : 0) }
        }
    }

    private func configuration(_ fields: [(Int, Int)]) throws -> AACConfiguration {
        try AACConfiguration(bytes(fields))
    }

    /// AAC LC with 1,024 frames.
    private let plain = [(2, 5), (7, 4), (2, 4), (0, 3)]

    @Test func `a plain configuration states rate and channels`() throws {
        let made = try configuration(plain)
        #expect(made.objectType == 2 && made.sampleRate == 22_050 && made.channelCount == 2)
        #expect(!made.statesSBR && !made.statesPS && made.packetFrames == 1_024)
        #expect(try configuration([(2, 5), (15, 4), (12_345, 24), (1, 4), (0, 3)]).sampleRate == 12_345)
        #expect(try configuration([(2, 5), (4, 4), (7, 4), (4, 3)]).packetFrames == 960)
        #expect(try configuration([(2, 5), (4, 4), (7, 4), (0, 3)]).channelCount == 8)
    }

    @Test func `SBR and PS are stated explicitly, in front or behind`() throws {
        // Object type 5: the rate of the core, the doubled rate, the codec.
        let sbr = try configuration([(5, 5), (7, 4), (2, 4), (4, 4), (2, 5), (0, 3)])
        #expect(sbr.statesSBR && !sbr.statesPS && sbr.objectType == 2 && sbr.sampleRate == 22_050)
        let ps = try configuration([(29, 5), (7, 4), (1, 4), (4, 4), (2, 5), (0, 3)])
        #expect(ps.statesSBR && ps.statesPS && ps.channelCount == 1)
        let behind = try configuration(plain + [(0x2B7, 11), (5, 5), (1, 1), (4, 4)])
        #expect(behind.statesSBR && !behind.statesPS && behind.sampleRate == 22_050)
        let both = try configuration(plain + [(0x2B7, 11), (5, 5), (1, 1), (4, 4), (0x548, 11), (1, 1)])
        #expect(both.statesSBR && both.statesPS)
        let neither = try configuration(plain + [(0x2B7, 11), (5, 5), (0, 1)])
        #expect(!neither.statesSBR && !neither.statesPS)
    }

    @Test func `channels that a program config element lists are counted`() throws {
        let head = [(2, 5), (4, 4), (0, 4), (0, 3), (0, 4), (1, 2), (4, 4)]
        let counts = [(2, 4), (0, 4), (1, 4), (1, 2), (0, 3), (0, 4), (0, 3)]
        // A single channel and a pair in front, a pair behind, one for low frequencies.
        let made = try configuration(head + counts + [(0, 5), (16, 5), (17, 5), (0, 4)])
        #expect(made.channelCount == 6)
    }

    @Test func `what is not played is named, and damage is no crash`() {
        for (type, name) in [(3, "AAC SSR"), (39, "AAC ELD"), (42, "xHE-AAC (USAC)"), (36, "MPEG-4 ALS")] {
            let head = type < 31 ? [(type, 5)] : [(31, 5), (type - 32, 6)]
            let error = #expect(throws: Refusal.self) {
                try configuration(head + [(4, 4), (2, 4), (0, 16)])
            }
            #expect(error?.cause.string.hasPrefix(name) == true)
        }
        for length in 0..<12 {
            for value in UInt8.min...UInt8.max {
                _ = try? AACConfiguration([UInt8](repeating: value, count: length))
            }
        }
    }

    @Test(arguments: [
        [(2, 5), (7, 4), (1, 4), (0, 3)], [(5, 5), (7, 4), (2, 4), (4, 4), (2, 5), (0, 3)],
        [(29, 5), (7, 4), (1, 4), (4, 4), (2, 5), (0, 3)],
        [(2, 5), (7, 4), (2, 4), (0, 3), (0x2B7, 11), (5, 5), (1, 1), (4, 4)],
    ])
    func `libfaad2 takes each of them`(fields: [(Int, Int)]) async throws {
        _ = try await AACHandle.make(try configuration(fields))
    }
}
