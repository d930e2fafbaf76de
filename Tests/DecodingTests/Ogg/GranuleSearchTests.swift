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

        /// Pages of about `pageBytes` with the rates of `parts`, in bytes per second, for equal times.
        init(seconds: Int, parts: [Double], pageBytes: Int, seed: UInt64) {
            var random = SeededGenerator(seed: seed)
            frames = FrameCount(seconds) * 48_000
            var granule: FrameCount = 0
            while granule < frames {
                let part = min(parts.count - 1, Int(Double(granule) / Double(frames) * Double(parts.count)))
                let rate = parts[part] * Double.random(in: 0.9...1.1, using: &random)
                // No page has more than a second of music.
                let time = min(1, Double(pageBytes) / rate)
                let bytes = 27 + 255 + max(1, Int(time * rate))
                granule = min(frames, granule + max(1, FrameCount(time * 48_000)))
                pages.append((length, granule, bytes))
                length += Int64(bytes)
            }
        }

        /// The bytes from `offset` to `end`, in which only the heads of pages matter.
        func bytes(from offset: Int64, to end: Int64) -> [UInt8] {
            var bytes = [UInt8](repeating: 0xAA, count: Int(end - offset))
            for (index, page) in pages.enumerated() where page.offset >= offset && page.offset < end {
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
    }

    /// The requests of a seek to `target`, whose decoding begins `priming` before it and which is heard after 250 ms.
    private func requests(_ layout: Layout, to target: FrameCount, priming: FrameCount, knowsEnd: Bool) -> Int
    {
        var stored = ByteRangeSet(0..<65_536)
        var requests = 0
        func need(_ range: ByteRange) {
            while let gap = stored.gaps(in: range.clamped(to: 0..<layout.length)).first {
                requests += 1
                // The loader's windows end at a multiple of 64 KiB, if that is far enough away.
                let end = gap.lowerBound + 65_536
                let rounded = end - end % 65_536
                stored.insert(
                    contentsOf: gap.lowerBound..<(rounded > gap.lowerBound + 32_768 ? rounded : end)
                )
            }
        }
        let needed = target - priming
        var landing: Int64? = layout.pages[0].offset
        if needed > 0 {
            var search = GranuleSearch(
                for: needed,
                in: layout.serial,
                from: layout.pages[0].offset,
                at: 0,
                to: (layout.length, knowsEnd ? layout.frames : nil),
                knowing: PlaceTable(),
                bytesPerFrame: Double(layout.length) / Double(layout.frames),
                withWholePacket: true
            )
            steps: while true {
                switch search.next() {
                case .land(let offset):
                    landing = offset ?? landing
                    break steps
                case .read(let offset):
                    var end = offset
                    var isWanted = true
                    while isWanted {
                        end = min(layout.length, end + 16_384)
                        need(offset..<end)
                        isWanted = search.took(
                            layout.bytes(from: offset, to: end),
                            isAtEnd: end == layout.length
                        )
                    }
                }
            }
        }
        let page = layout.pages.firstIndex { $0.offset == landing } ?? 0
        // Right: at or before the target, and near.
        let isRight = page == 0 || layout.pages[page].granule <= needed
        #expect(isRight, "page \(page) for \(needed)")
        let last = layout.pages.first { $0.granule >= min(layout.frames, target + 12_000) }
        if let last { need(layout.pages[page].offset..<last.offset + Int64(last.byteCount)) }
        return requests
    }

    /// Vorbis has pages of about 4 KB, Opus of a second.
    @Test(
        arguments: [(4_500, 0, 16_000), (64_000, 51_840, 16_000)]
            as [(Int, FrameCount, Double)],
        [true, false]
    )
    func `a far seek takes at most two requests in a song, and four in an hour of three rates`(
        kind: (pageBytes: Int, priming: FrameCount, rate: Double),
        knowsEnd: Bool
    ) {
        var random = SeededGenerator(seed: 4)
        let song = Layout(seconds: 300, parts: [kind.rate], pageBytes: kind.pageBytes, seed: 1)
        let parts = [kind.rate, kind.rate / 2, kind.rate * 1.25]
        let hour = Layout(seconds: 3_600, parts: parts, pageBytes: kind.pageBytes, seed: 2)
        for (layout, most) in [(song, 2), (hour, 4)] {
            let most = most + (knowsEnd ? 0 : 1)
            let counts = (0..<TestCount.of(60, full: 2_000)).map { _ in
                let target = FrameCount.random(in: 0..<layout.frames, using: &random)
                return requests(layout, to: target, priming: kind.priming, knowsEnd: knowsEnd)
            }
            // Of a thousand, some of the largest pages take one more.
            #expect(counts.count { $0 <= most } * 100 >= counts.count * 95, "\(counts.sorted().suffix(9))")
            #expect(counts.allSatisfy { $0 <= most + 1 }, "\(counts.sorted().suffix(9))")
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
            var search = GranuleSearch(
                for: target,
                in: 9,
                from: min(50, length),
                at: 0,
                to: (length, end),
                knowing: table,
                bytesPerFrame: Double.random(in: 0...1e6, using: &random),
                withWholePacket: seed % 2 == 0
            )
            var windows = 0
            while case .read(let offset) = search.next() {
                windows += 1
                #expect((0...length).contains(offset) && windows <= 64, "seed \(seed)")
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
