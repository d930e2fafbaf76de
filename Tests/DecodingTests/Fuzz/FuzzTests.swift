import Foundation
import Media
import TestSupport
import Testing

@testable import Decoding

/// Damaged parts of MPEG audio and of its tags: nothing crashes, every loop ends within counted steps, and
/// memory stays bounded.
@Suite struct FuzzTests {
    /// 1,000,000 inputs in all, 20,000 in the subset.
    private static let blocks = TestCount.seeds(20, full: 1_000)
    private static let inputsPerBlock: UInt64 = 1_000

    @Test(.timeLimit(.minutes(5)), arguments: blocks)
    func `damaged frames, tags, headers and tables crash nothing`(block: UInt64) throws {
        #expect(Self.samples.allSatisfy { !$0.bytes.isEmpty })
        let memory = ResidentMemory.Bound()
        for seed in block * Self.inputsPerBlock..<(block + 1) * Self.inputsPerBlock {
            var mutator = Mutator(seed: seed)
            switch seed % 7 {
            case 0, 1: frames(&mutator, seed)
            case 2, 3: tags(&mutator, seed)
            case 4: headers(&mutator, seed)
            default: try tables(&mutator, seed)
            }
        }
        memory.check("block \(block)")
    }

    /// A few frames of a kind, and where they begin.
    private struct Sample: Sendable {
        var bytes: [UInt8]
        var starts: [Int]

        init(_ fixture: Fixture, frames count: Int) {
            let starts = OddStreams.frameStarts(fixture.bytes)
            guard starts.count > count else {
                bytes = []
                self.starts = []
                return
            }
            bytes = Array(fixture.bytes[starts[0]..<starts[count]])
            self.starts = starts.prefix(count).map { $0 - starts[0] }
        }
    }

    private static let samples = [
        OddStreams.stereo, OddStreams.variable, OddStreams.mono, OddStreams.low, OddStreams.lowest,
        OddStreams.free, OddStreams.layerII, OddStreams.layerI, Fixture.vbr,
    ].map { Sample($0, frames: 16) }

    private static let tag: [UInt8] = {
        let frames = [
            id3Frame("TIT2", [1, 0xFF, 0xFE, 0x4B, 0x04, 0x38, 0x04]),
            id3Frame("TXXX", [3] + Array("replaygain_track_gain\0-6.5 dB".utf8)),
            id3Frame("RVA2", Array("album\0".utf8) + [1, 0xF4, 0x00, 16, 0x40, 0x00]),
            id3Frame("TPE1", [0] + Array("Artist".utf8)), id3Frame("TRCK", [3] + Array("3/12".utf8)),
        ].flatMap { $0 }
        return id3Tag(version: 4, frames)
    }()

    private func frames(_ mutator: inout Mutator, _ seed: UInt64) {
        guard let sample = Self.samples.randomElement(using: &mutator.random) else { return }
        let bytes = mutator.damaged(sample.bytes, favouring: sample.starts)
        var walker = FrameWalker(bytes)
        var last = -1
        var count = 0
        while let frame = walker.next() {
            #expect(frame.index > last && frame.index < bytes.count && frame.byteCount > 0, "seed \(seed)")
            last = frame.index
            count += 1
        }
        #expect(count <= bytes.count / 5 + 1, "seed \(seed)")
        guard let header = FrameHeader(bytes, at: 0) else { return }
        var scan = FrameScan(fromFrame: 0, at: 0, like: header, freeByteCount: mutator.number(5...3_000))
        var steps = 0
        while !scan.isLost, scan.offset < bytes.count {
            let start = scan.offset
            scan.scan(Array(bytes[Int(start)...].prefix(mutator.number(4...2_000)))) { _, _ in steps += 1 }
            if scan.offset == start { break }
        }
        #expect(steps <= bytes.count / 5 + 1, "seed \(seed)")
    }

    private func tags(_ mutator: inout Mutator, _ seed: UInt64) {
        var bytes = Self.tag
        // Any version and any flags, unsynchronised and extended ones too.
        bytes[3] = UInt8(mutator.number(2...4))
        if mutator.number(0...2) == 0 { bytes[5] = UInt8(mutator.number(0...255)) }
        bytes = mutator.damaged(bytes, favouring: [6, 10, 27, 66, 90])
        if let tag = ID3v2Tag(bytes[...]) {
            let loudness = tag.loudness
            for level in [loudness.track, loudness.album] {
                #expect(level.gain.map { abs($0) <= Loudness.mostDecibels } ?? true, "seed \(seed)")
                #expect(level.peak.map { $0 > 0 && $0 <= Loudness.highestPeak } ?? true, "seed \(seed)")
            }
            #expect((tag.tags.title?.string.count ?? 0) <= bytes.count, "seed \(seed)")
        }
        _ = ID3v1Tag.tags(in: Array(mutator.damaged(id3v1).prefix(128)))
        let ape = mutator.damaged(ape(mutator.number(0...40)), favouring: [0, 8, 12, 20])
        _ = APETag(Array(ape.dropFirst(mutator.number(0...40))))
        for end in [Array(ape.prefix(32)), Array(ape.suffix(32))] {
            #expect(APETag.byteCount(ofHeader: end).map { $0 >= 32 && $0 < 1 << 33 } ?? true, "seed \(seed)")
            #expect(APETag.byteCount(ofFooter: end).map { $0 >= 32 && $0 < 1 << 33 } ?? true, "seed \(seed)")
        }
    }

    private func headers(_ mutator: inout Mutator, _ seed: UInt64) {
        let shares = (0..<100).map { UInt8($0 * 2) }
        let xing = xingFrame(
            "Xing",
            frames: 1_000,
            bytes: 400_000,
            shares: shares,
            delay: 576,
            padding: 1_234
        )
        let frame = mutator.number(0...1) == 0 ? xing : vbriFrame
        let bytes = mutator.damaged(frame, favouring: [36, 40, 46, 50, 56, 150, 170])
        guard let header = FrameHeader(bytes, at: 0), let read = XingHeader(bytes[...], header: header) else {
            return
        }
        let places = [-1, 0, 0.3, 0.999, 1, 7].compactMap(read.byteShare(at:))
        #expect(places.allSatisfy { (0...1).contains($0) } && places == places.sorted(), "seed \(seed)")
        let trim = GaplessTrim(read, samplesPerFrame: header.samplesPerFrame)
        #expect((trim.musicLength ?? 0) >= 0, "seed \(seed)")
        #expect(trim.music(in: 0..<100_000).reduce(0) { $0 + $1.count } <= 100_000, "seed \(seed)")
    }

    private func tables(_ mutator: inout Mutator, _ seed: UInt64) throws {
        let length = Int64(mutator.number(0...3)) * 400_000
        let header = try #require(FrameHeader(0xFFFB_9000))
        let key = SeekTableKey(header: header, origin: 1_000, length: length == 0 ? nil : length)
        var table = SeekTable()
        var offset: Int64 = 0
        for point in 0..<40 as Range<Int64> {
            if point % 15 < 12 { table.record(frame: point * SeekTable.stride, at: offset) }
            offset += Int64(mutator.number(800...4_000))
        }
        if mutator.number(0...1) == 0 { table.frameCount = 321 }
        let content = Array(table.stored(for: key).dropLast(8))
        let stored = checked(mutator.damaged(content, favouring: [12, 13, 14, 15, 16]))
        guard let read = SeekTable(stored: stored, for: key) else { return }
        if length > 0 { #expect(read.offsets.count <= Int(length) / 40 + 1, "seed \(seed)") }
        let known = read.offsets.filter { $0 >= 0 }
        #expect(known == known.sorted(), "seed \(seed)")
        #expect(known.allSatisfy { $0 + 1_000 < key.length ?? .max }, "seed \(seed)")
        _ = read.primingPoint(forFrame: Int64(mutator.number(0...400)), like: header)
        _ = read.runEnd(after: Int64(mutator.number(-1...400)))
        // An accepted table is written as it was read.
        if !read.isEmpty {
            #expect(SeekTable(stored: read.stored(for: key), for: key) == read, "seed \(seed)")
        }
    }
}
