import Media
import TestSupport
import Testing

@testable import Decoding

/// The search for the page at which decoding begins after a seek.
@Suite struct GranuleSearchTests {
    /// The heads of the pages of a long file, and the bytes that requests bring as the loader cuts them.
    struct Layout {
        let serial: UInt32 = 9
        var pages: [(offset: Int64, granule: FrameCount, byteCount: Int)] = []
        var length: Int64 = 4_000
        let frames: FrameCount

        /// Pages of about `pageBytes` with the rates of `parts`, in bytes per second, for equal times. No
        /// page has more than `mostTime` of music.
        init(seconds: Int, parts: [Double], pageBytes: Int, mostTime: Double = 1, seed: UInt64) {
            var random = SeededGenerator(seed: seed)
            frames = FrameCount(seconds) * 48_000
            var granule: FrameCount = 0
            while granule < frames {
                let part = min(parts.count - 1, Int(Double(granule) / Double(frames) * Double(parts.count)))
                let rate = parts[part] * Double.random(in: 0.9...1.1, using: &random)
                let time = min(mostTime, Double(pageBytes) / rate)
                let bytes = 27 + 255 + max(1, Int(time * rate))
                granule = min(frames, granule + max(1, FrameCount(time * 48_000)))
                pages.append((length, granule, bytes))
                length += Int64(bytes)
            }
        }

        /// The bytes from `offset` to `end`, in which only the heads of pages matter.
        func bytes(from offset: Int64, to end: Int64) -> [UInt8] {
            var bytes = [UInt8](repeating: 0xAA, count: Int(end - offset))
            var index = firstPage { $0.offset >= offset }
            while index < pages.count, pages[index].offset < end {
                let page = pages[index]
                defer { index += 1 }
                let body = page.byteCount - 27 - 255
                var lacing = [UInt8](repeating: 0, count: 255)
                for place in lacing.indices { lacing[place] = UInt8(min(254, max(0, body - place * 254))) }
                let head =
                    Array("OggS".utf8) + [0, index == pages.count - 1 ? 4 : 0]
                    + little(UInt64(page.granule), 8)
                    + little(UInt64(serial), 4) + little(UInt64(index + 2), 4) + little(0, 4) + [255] + lacing
                for (place, byte) in head.enumerated() where Int(page.offset - offset) + place < bytes.count {
                    bytes[Int(page.offset - offset) + place] = byte
                }
            }
            return bytes
        }

        /// The number of the first page for which `isBehind` is `true`, as for all after it.
        func firstPage(where isBehind: ((offset: Int64, granule: FrameCount, byteCount: Int)) -> Bool) -> Int
        {
            var low = 0
            var high = pages.count
            while low < high {
                let middle = (low + high) / 2
                if isBehind(pages[middle]) { high = middle } else { low = middle + 1 }
            }
            return low
        }
    }

    /// What a stream's codec needs of a seek.
    struct Kind: CustomTestStringConvertible {
        let testDescription: String
        let pageBytes: Int
        var mostTime = 1.0
        var priming: FrameCount = 0
        /// In bytes per second.
        let rate: Double
        /// The length of pages that the search expects at first.
        let usualPage: Int64
        /// The most bytes that a seek in a song brings, on average.
        let meanBytes: Int64
        /// The most requests in an hour of `share` of 100 seeks.
        var mostInHour = 4
        var share = 99
        /// The percentage of seeks in a song whose first window has the page.
        var inFirst = 80

        static let all = [
            Kind(
                testDescription: "Vorbis",
                pageBytes: 4_500,
                rate: 16_000,
                usualPage: 8 << 10,
                meanBytes: 69_000
            ),
            Kind(
                testDescription: "Opus",
                pageBytes: 64_000,
                priming: 51_840,
                rate: 16_000,
                usualPage: 8 << 10,
                meanBytes: 94_000
            ),
            Kind(
                testDescription: "Opus, 320 kbit/s",
                pageBytes: 64_000,
                priming: 51_840,
                rate: 40_000,
                // The first page of the music has shown it.
                usualPage: 40_000,
                meanBytes: 245_000
            ),
            // As `flac` and ffmpeg write it: four frames of 4,096 in a page, or what fits in it.
            flac("16 bits, 44.1 kHz", rate: 140_000),
            flac("24 bits, 48 kHz", rate: 264_000, inFirst: 50),
            flac("24 bits, 96 kHz", rate: 550_000, mostInHour: 5, inFirst: 35),
            flac("quiet", rate: 60_000),
        ]

        private static func flac(_ name: String, rate: Double, mostInHour: Int = 4, inFirst: Int = 80)
            -> Kind
        {
            Kind(
                testDescription: "FLAC, " + name,
                pageBytes: 64_700,
                mostTime: 16_384.0 / 48_000,
                rate: rate,
                usualPage: 56 << 10,
                meanBytes: 500_000,
                mostInHour: mostInHour,
                // The largest pages take one more now and then.
                share: 95,
                inFirst: inFirst
            )
        }

        func layout(seconds: Int, parts: [Double], seed: UInt64) -> Layout {
            Layout(
                seconds: seconds,
                parts: parts.map { $0 * rate },
                pageBytes: pageBytes,
                mostTime: mostTime,
                seed: seed
            )
        }
    }

    /// A codec with given needs; the search asks for nothing else.
    struct Codec: OggCodec {
        let format = AudioFormat(sampleRate: 48_000, channelCount: 2, sample: .f32)
        var primingFrames: FrameCount = 0
        var primesWithPacket = true
        /// In bytes per second.
        var usualBytesPerSecond = 16_000.0
        var usualPageByteCount: Int64 = 8 << 10

        init() {}
        init(_ packet: [UInt8]) throws(Refusal) { throw .damaged }

        func isHeader(_ packet: [UInt8], number: Int) -> Bool { false }
        func endsHeaders(_ packet: [UInt8], number: Int) -> Bool { false }
        func comments(in packet: [UInt8]) -> ArraySlice<UInt8> { [] }
        func handle(headers: [[UInt8]], subject: SafeText) async throws -> any PacketCodec {
            throw Refusal.damaged
        }
    }

    /// A stream of `codec` whose music begins at `start`.
    private static func link(_ codec: Codec, _ serial: UInt32, from start: Int64, end: FrameCount?) -> OggLink
    {
        let comments = VorbisComments([])
        let head = OggHead(serial: serial, codec: codec, headers: [], comments: comments, dataStart: start)
        var link = OggLink(head, length: nil)
        link.end = end
        return link
    }

    /// The requests of a seek to `target`, which is heard after 250 ms, and their bytes.
    private func requests(_ layout: Layout, _ kind: Kind, to target: FrameCount, knowsEnd: Bool)
        -> [ByteRange]
    {
        var stored = ByteRangeSet(0..<65_536)
        var requests: [ByteRange] = []
        var announced: ByteRange = 0..<0
        func need(_ range: ByteRange) {
            while let gap = stored.gaps(in: range.clamped(to: 0..<layout.length)).first {
                // The loader's windows end at a multiple of 64 KiB, if that is far enough away.
                let least = announced.contains(gap.lowerBound) ? announced.upperBound : 0
                var end = gap.lowerBound + max(65_536, least - gap.lowerBound)
                let rounded = end - end % 65_536
                if rounded > (gap.lowerBound + end) / 2, rounded >= least { end = rounded }
                let missing = stored.gaps(in: gap.lowerBound..<min(end, layout.length))
                requests.append(missing[0])
                stored.insert(contentsOf: missing[0])
            }
        }
        let needed = target - kind.priming
        var landing: Int64? = layout.pages[0].offset
        if needed > 0 {
            var codec = Codec()
            codec.primingFrames = kind.priming
            codec.usualBytesPerSecond = Double(layout.length) / Double(layout.frames) * 48_000
            codec.usualPageByteCount = kind.usualPage
            let end = knowsEnd ? layout.frames : nil
            let link = Self.link(codec, layout.serial, from: layout.pages[0].offset, end: end)
            var search = GranuleSearch(for: needed, in: link, upTo: layout.length)
            steps: while true {
                switch search.next() {
                case .land(let offset):
                    landing = offset ?? landing
                    announced = (landing ?? 0)..<search.requestEnd(for: target + 12_000)
                    break steps
                case .read(let range):
                    #expect((65_536...425_984).contains(range.count))
                    announced = range
                    var end = range.lowerBound
                    var isWanted = true
                    while isWanted {
                        end = min(layout.length, range.upperBound, end + 32_768)
                        need(range.lowerBound..<end)
                        isWanted = search.took(
                            layout.bytes(from: range.lowerBound, to: end),
                            isAtEnd: end == layout.length
                        )
                    }
                }
            }
        }
        let page = layout.firstPage { $0.offset >= landing ?? 0 }
        // Right: at or before the target, and near.
        let isRight = page == 0 || layout.pages[page].granule <= needed
        #expect(isRight && layout.pages[page].offset == landing, "page \(page) for \(needed)")
        let last = layout.firstPage { $0.granule >= min(layout.frames, target + 12_000) }
        need(layout.pages[page].offset..<layout.pages[last].offset + Int64(layout.pages[last].byteCount))
        return requests
    }

    @Test(arguments: Kind.all, [true, false])
    func `a far seek takes at most two requests in a song, and four in an hour of three rates`(
        kind: Kind,
        knowsEnd: Bool
    ) {
        var random = SeededGenerator(seed: 4)
        let song = kind.layout(seconds: 300, parts: [1], seed: 1)
        let hour = kind.layout(seconds: 3_600, parts: [1, 0.5, 1.25], seed: 2)
        for (layout, most) in [(song, 2), (hour, kind.mostInHour)] {
            let all = (0..<TestCount.of(60, full: 2_000)).map { _ in
                let target = FrameCount.random(in: 0..<layout.frames, using: &random)
                return requests(layout, kind, to: target, knowsEnd: knowsEnd)
            }
            let counts = all.map(\.count)
            let within = counts.count { $0 <= most }
            #expect(within * 100 >= counts.count * kind.share, "\(counts.sorted().suffix(9))")
            #expect(counts.allSatisfy { $0 <= most + 1 }, "\(counts.sorted().suffix(9))")
            guard layout.frames == song.frames else { continue }
            let bytes = all.joined().reduce(0) { $0 + Int64($1.count) } / Int64(counts.count)
            #expect(bytes <= kind.meanBytes)
            // The first window usually has the page: then no request waits for another.
            #expect(counts.count { $0 == 1 } * 100 >= counts.count * kind.inFirst, "\(counts)")
        }
    }

    /// 200,000 inputs in all, 2,000 in the subset.
    @Test(arguments: TestCount.seeds(2, full: 200))
    func `wrong granule positions trap nowhere, and cost a bounded number of windows`(block: UInt64) {
        for seed in block * 1_000..<(block + 1) * 1_000 {
            var random = SeededGenerator(seed: seed)
            let length = Int64.random(in: 100...1 << 40, using: &random)
            let target = FrameCount.random(in: 1...1 << 40, using: &random)
            var table = PlaceTable()
            for _ in 0..<Int(seed % 4) {
                let offset = Int64.random(in: 0...length * 2, using: &random)
                table.record(.init(position: .random(in: 0...1 << 41, using: &random), offset: offset))
            }
            let end: FrameCount? = seed % 3 == 0 ? nil : .random(in: 0...1 << 42, using: &random)
            var codec = Codec()
            codec.primingFrames = FrameCount(seed % 48_000)
            codec.primesWithPacket = seed % 2 == 0
            codec.usualBytesPerSecond = Double.random(in: 0...1e6, using: &random) * 48_000
            codec.usualPageByteCount = Int64(seed % 65_308)
            var link = Self.link(codec, 9, from: min(50, length), end: end)
            link.table = table
            var search = GranuleSearch(for: target, in: link, upTo: length)
            var windows = 0
            while case .read(let range) = search.next() {
                windows += 1
                #expect((0...length).contains(range.lowerBound) && windows <= 64, "seed \(seed)")
                #expect((65_536...425_984).contains(range.count), "seed \(seed)")
                if windows > 64 { break }
                var page = Array("OggS".utf8) + [0, UInt8.random(in: 0...7, using: &random)]
                page += little(random.next() >> UInt64.random(in: 0...40, using: &random), 8)
                page += little(seed % 5 == 0 ? 8 : 9, 4) + little(0, 8) + [1, 100]
                let gap = [UInt8](repeating: 0, count: Int.random(in: 0...2_000, using: &random))
                _ = search.took(gap + page + page + gap, isAtEnd: true)
            }
        }
    }
}
