import Media
import TestSupport
import Testing

@testable import Decoding

/// Edit lists of several parts play their parts in order.
@Suite struct MP4EditTests {
    /// An entry: its length in milliseconds, and its start in units of the track; -1 for a pause.
    typealias Entry = (length: Int64, start: Int64)

    struct Edits: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let entries: [Entry]
        var isLong = false
        var made = MP4EditTests.stereo

        /// The file with these edits in place of its own. Its tables come last, so no packet moves.
        var bytes: [UInt8] {
            func number(_ value: Int64, _ count: Int) -> [UInt8] {
                (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * Int64($0))) }
            }
            let width = isLong ? 8 : 4
            let list: [UInt8] = entries.flatMap { entry -> [UInt8] in
                number(entry.length, width) + number(entry.start, width) + [0, 1, 0, 0]
            }
            let version: [UInt8] = [isLong ? 1 : 0, 0, 0, 0]
            let content = version + number(Int64(entries.count), 4) + list
            let edits = MadeMP4.box("edts", MadeMP4.box("elst", content))
            var bytes = made.bytes
            let path = ["moov", "trak", "edts"].reduce(into: [0..<bytes.count]) { path, name in
                path.append(Self.box(name, in: path[path.count - 1], of: bytes))
            }
            let old = path[3].lowerBound - 8..<path[3].upperBound
            for box in path[1...2] {
                let size = Int64(box.count + 8 + edits.count - old.count)
                bytes.replaceSubrange(box.lowerBound - 8..<box.lowerBound - 4, with: number(size, 4))
            }
            bytes.replaceSubrange(old, with: edits)
            return bytes
        }

        /// The content of the first box `name` in `range`.
        private static func box(_ name: String, in range: Range<Int>, of bytes: [UInt8]) -> Range<Int> {
            var place = range.lowerBound
            while place + 8 <= range.upperBound {
                let size = bytes[place..<place + 4].reduce(0) { $0 << 8 | Int($1) }
                if bytes[place + 4..<place + 8].elementsEqual(name.utf8) { return place + 8..<place + size }
                place += max(8, size)
            }
            return range.upperBound..<range.upperBound
        }

        /// The same file, whose edits play everything from the first frame of packet 0 on.
        var whole: Edits { Edits(testDescription: "", entries: [(0, 0)], made: made) }

        /// The bytes of the parts in `all`, whose frames have `width` bytes.
        func parts(of all: [UInt8], _ width: Int) -> [UInt8] {
            var sound: [UInt8] = []
            func frames(_ milliseconds: Int64) -> Int {
                Int((Double(milliseconds) * Double(made.rate) / 1_000).rounded())
            }
            var time: Int64 = 0
            for entry in entries.drop(while: { $0.start < 0 }) {
                let count = frames(time + entry.length) - frames(time)
                time += entry.length
                if entry.start < 0 {
                    sound += [UInt8](repeating: 0, count: count * width)
                } else {
                    let rest = all.dropFirst(Int(entry.start) * width)
                    sound += entry.length > 0 ? rest.prefix(count * width) : rest
                }
            }
            return sound
        }
    }

    private static let stereo = MadeAAC("m4a", seconds: 4)

    static let kinds = [
        Edits(testDescription: "a cut", entries: [(1_000, 22_050), (1_234, 110_001)]),
        Edits(
            testDescription: "a pause between, 64 bits",
            entries: [(500, 1_024), (777, -1), (501, 88_200)],
            isLong: true
        ),
        Edits(testDescription: "a part three times", entries: [(801, 44_100), (801, 44_100), (801, 44_100)]),
        Edits(
            testDescription: "a pause first, the later part first, the rest last",
            entries: [(300, -1), (900, 100_000), (0, 60_000)]
        ),
        Edits(
            testDescription: "mono, two parts that follow each other",
            entries: [(1_000, 1_024), (1_003, 23_074), (20, 45_190)],
            made: MadeAAC("m4a", seconds: 4, rate: 22_050, channels: 1, bitRate: 32)
        ),
        Edits(
            testDescription: "48 kHz, 20 short parts",
            entries: (0..<20).map { (41 + $0, $0 % 5 == 3 ? -1 : 150_000 - 7_001 * $0) },
            made: MadeAAC("m4a", seconds: 4, rate: 48_000)
        ),
        Edits(testDescription: "one part", entries: [(250, -1), (2_000, 2_048)]),
    ]

    private func decoder(_ bytes: [UInt8], size: Int = 65_536) -> MP4Decoder {
        MP4Decoder(ProbedStream(source: MemorySource(bytes, requestByteCount: size), subject: "song.m4a"))
    }

    @Test(arguments: kinds)
    func `the parts play in order, and seeks are exact in all of them`(edits: Edits) async throws {
        try #require(!edits.made.bytes.isEmpty)
        let all = try await decodeBytes(decoder(edits.whole.bytes))
        let width = 4 * edits.made.channels
        let expected = edits.parts(of: all, width)
        for size in [65_536, 4_099] {
            let decoder = decoder(edits.bytes, size: size)
            expectSame(try await decodeBytes(decoder), expected, "\(size)")
            let frames = FrameCount(expected.count / width)
            let format = decoder.info.format
            #expect(decoder.info.isDurationExact && decoder.info.duration == format.duration(of: frames))
            var random = SeededGenerator(seed: 11)
            for _ in 0..<30 {
                let frame = FrameCount.random(in: 0..<frames, using: &random)
                let landing = try await decoder.seek(to: format.duration(of: frame))
                #expect(landing == SeekLanding(frame: frame, isExact: true))
                let heard = try await decodeBytes(decoder, atMost: 20_000 * width)
                let rest = expected.dropFirst(Int(frame) * width).prefix(20_000 * width)
                expectSame(heard, rest, "from \(frame)")
            }
            _ = try await decoder.seek(to: .seconds(1_000))
            #expect(try await decodeBytes(decoder).isEmpty)
        }
    }

    @Test func `a part that the track lacks is left out, and a negative start is a pause`() async throws {
        let odd = Edits(
            testDescription: "",
            entries: [(500, 10_000), (400, 9_000_000), (300, -44_100), (0, 40_000), (500, 80_000), (900, -1)]
        )
        let all = try await decodeBytes(decoder(odd.whole.bytes))
        let played = Edits(testDescription: "", entries: [(500, 10_000), (300, -1), (500, 80_000)])
        let decoder = decoder(odd.bytes)
        let heard = try await decodeBytes(decoder)
        // The length of a pause is rounded together with what comes before it.
        #expect(abs(heard.count - played.parts(of: all, 8).count) <= 8)
        expectSame(heard.suffix(22_000 * 8), played.parts(of: all, 8).suffix(22_000 * 8))
    }

    @Test func `edits of any length and start trap nowhere`() async throws {
        let values: [Int64] = [0, 1, 1_000, 1 << 31 - 1, 1 << 31, -1, 1 << 56 - 1, 1 << 56, .max, .min]
        for isLong in [false, true] {
            var random = SeededGenerator(seed: 5)
            for _ in 0..<60 {
                let count = Int.random(in: 1...6, using: &random)
                let entries = (0..<count).map { _ in
                    (values.randomElement(using: &random) ?? 0, values.randomElement(using: &random) ?? 0)
                }
                let decoder = decoder(Edits(testDescription: "", entries: entries, isLong: isLong).bytes)
                _ = try await decodeBytes(decoder, atMost: 100_000)
                for seconds in [0, 1, 4, 1_000_000_000] {
                    _ = try await decoder.seek(to: .seconds(seconds))
                    _ = try await decodeBytes(decoder, atMost: 10_000)
                }
            }
        }
    }
}
