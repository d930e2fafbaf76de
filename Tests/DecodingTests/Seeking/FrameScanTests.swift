import Media
import TestSupport
import Testing

@testable import Decoding

@Suite struct FrameScanTests {
    /// Frames of libmpg123 behind the gate, in turn, as offsets in `bytes`.
    private func decodedFrames(_ bytes: [UInt8]) throws -> [Int64] {
        let handle = try FeedHandle(subject: "song.mp3")
        guard let first = Array(FrameWalker(bytes)).first else { return [] }
        let free = first.header.bitRate == 0 ? first.byteCount - (first.header.isPadded ? 1 : 0) : nil
        let place = Int64(first.index)
        var gate = FrameGate(
            FrameScan(fromFrame: 0, at: place, like: first.header, freeByteCount: free)
        )
        for part in gate.pass(Array(bytes[first.index...])) { try handle.feed(part) }
        var frames: [Int64] = []
        while true {
            switch try handle.next() {
            case .frame(let frame):
                #expect(frame.number == Int64(frames.count))
                frames.append(gate.offset(afterFed: frame.offset))
            case .format: continue
            case .needMore, .end: return frames
            }
        }
    }

    /// The frames of a scan from the first decoded one, in slices of seeded lengths.
    private func scan(_ bytes: [UInt8], from first: Int64, seed: UInt64) throws -> (FrameScan, [Int64]) {
        let header = try #require(FrameHeader(bytes, at: Int(first)))
        var walker = FrameWalker(bytes)
        let free = walker.next().flatMap { frame in
            frame.header.bitRate == 0 ? frame.byteCount - (frame.header.isPadded ? 1 : 0) : nil
        }
        var random = SeededGenerator(seed: seed)
        var scan = FrameScan(fromFrame: 0, at: first, like: header, freeByteCount: free)
        var frames: [Int64] = []
        while !scan.isLost, scan.offset < bytes.count {
            let start = Int(scan.offset)
            let end = min(start + Int.random(in: FrameScan.reach...4_000, using: &random), bytes.count)
            scan.scan(Array(bytes[start..<end])) { number, offset in
                #expect(number == Int64(frames.count))
                frames.append(offset)
            }
            if scan.offset == Int64(start) { break }
        }
        return (scan, frames)
    }

    private static let sources = [
        OddStreams.stereo, OddStreams.variable, OddStreams.mono, OddStreams.low, OddStreams.free,
        OddStreams.layerII, OddStreams.layerI, OddStreams.lowest,
    ]

    @Test(arguments: sources)
    func `a clean stream is scanned to its last frame`(fixture: Fixture) throws {
        let decoded = try decodedFrames(fixture.bytes)
        let (scan, scanned) = try scan(fixture.bytes, from: decoded[0], seed: 1)
        #expect(!scan.isLost)
        #expect(scan.frameCount(endingAt: Int64(fixture.bytes.count)) == Int64(decoded.count))
        expectSame(scanned, decoded)
    }

    @Test(arguments: TestCount.seeds(400, full: 20_000))
    func `in a damaged stream too, a scanned frame has the number of its decoding`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let fixture = try #require(Self.sources.randomElement(using: &random))
        let starts = OddStreams.frameStarts(fixture.bytes)
        var bytes = Array(fixture.bytes[starts[0]..<starts[60]])
        for _ in 0..<Int.random(in: 1...3, using: &random) { befall(&bytes, &random, starts) }
        let decoded = try decodedFrames(bytes)
        guard let first = decoded.first, FrameHeader(bytes, at: Int(first)) != nil else { return }
        let (scan, scanned) = try scan(bytes, from: first, seed: seed)
        // Of the last frame only the beginning may be there.
        let whole = scanned.count > decoded.count ? Array(scanned.dropLast()) : scanned
        // libmpg123 measures free-format frames itself, and may pass over two of them at damage.
        guard fixture.name != OddStreams.free.name else {
            let end = whole.last ?? 0
            #expect(Set(decoded.filter { $0 <= end }).isSubset(of: whole), "seed \(seed)")
            return
        }
        #expect(whole == Array(decoded.prefix(whole.count)), "seed \(seed)")
        if let count = scan.frameCount(endingAt: Int64(bytes.count)) {
            #expect(count == Int64(decoded.count), "seed \(seed)")
        }
    }

    /// Junk, tags, lost bytes or flipped bits, at frames and elsewhere.
    private func befall(_ bytes: inout [UInt8], _ random: inout SeededGenerator, _ starts: [Int]) {
        let frame = starts[Int.random(in: 3..<58, using: &random)] - starts[0]
        let anywhere = Int.random(in: 2_000..<bytes.count - 100, using: &random)
        let place = min(Bool.random(using: &random) ? frame : anywhere, bytes.count - 8)
        switch Int.random(in: 0..<7, using: &random) {
        case 0:
            let junk = (0..<Int.random(in: 1...900, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            bytes.insert(contentsOf: junk, at: place)
        case 1: bytes.insert(contentsOf: tag(of: Int.random(in: 60...2_000, using: &random)), at: place)
        case 2: bytes.insert(contentsOf: ape(Int.random(in: 0...900, using: &random)), at: place)
        case 3: bytes.insert(contentsOf: id3v1, at: place)
        case 4:
            bytes.removeSubrange(place..<min(place + Int.random(in: 1...600, using: &random), bytes.count))
        case 5: bytes.removeLast(Int.random(in: 1...700, using: &random))
        default:
            bytes[place + Int.random(in: 0..<4, using: &random)] ^=
                1 << UInt8.random(in: 0..<8, using: &random)
        }
    }
}
