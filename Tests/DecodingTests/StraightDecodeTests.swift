import Decoding
import Foundation
import Media
import Testing

@Suite struct StraightDecodeTests {
    static let kinds: [(name: String, arguments: [String], rate: Int, channels: Int)] = [
        ("CBR 128", ["-b", "128"], 44_100, 2),
        ("CBR 192 without header", ["-b", "192", "-t"], 44_100, 2),
        ("VBR", ["-V", "4"], 44_100, 2),
        ("VBR without header", ["-V", "4", "-t"], 44_100, 2),
        ("mono", ["-b", "64"], 44_100, 1),
        ("22.05 kHz", ["-b", "64"], 22_050, 2),
        ("11.025 kHz mono", ["-b", "24"], 11_025, 1),
        ("48 kHz", ["-b", "160"], 48_000, 2),
        ("ABR 32 kHz with check", ["--abr", "96", "-p"], 32_000, 2),
    ]

    @Test(arguments: kinds.indices)
    func `a straight decode equals the reference decoder, sample for sample`(kind: Int) async throws {
        let kind = Self.kinds[kind]
        let fixture = try Fixture.lame(
            kind.name, kind.arguments, seconds: 20, rate: kind.rate, channels: kind.channels
        )
        try await check(fixture)
    }

    @Test(arguments: [1, 100, 416, 417, 418, 3_000, 100_001, 200_000])
    func `a file that was cut plays what is there`(cut: Int) async throws {
        for arguments in [["-b", "128"], ["-V", "4"], ["-V", "4", "-t"]] {
            var fixture = try Fixture.lame("cut", arguments, seconds: 20)
            fixture.bytes.removeLast(cut)
            try await check(fixture)
        }
    }

    private func check(_ fixture: Fixture, source: Comment? = nil) async throws {
        let expected = try fixture.reference()
        let samples = try await decodeRest(MPEGDecoder(fixture.bytes))
        #expect(samples.count == expected.count, "\(fixture.name)")
        #expect(samples == expected, "\(fixture.name): \(firstDifference(samples, expected))")
    }
}

/// Where two runs of samples part, for messages.
func firstDifference(_ left: [Int16], _ right: [Int16]) -> String {
    let index = zip(left, right).enumerated().first { $0.element.0 != $0.element.1 }?.offset
    return index.map { "differ at \($0)" } ?? "lengths \(left.count) and \(right.count)"
}
