import Media
import TestSupport

@testable import Decoding

/// A FLAC stream of which only the headers of frames exist, so that it can be of any length: 16-bit stereo at
/// 44.1 kHz in blocks of 4,096.
struct SimulatedFLAC {
    static let audioStart: Int64 = 10_000
    let stream: FLACStreamInfo
    let places: [PlaceTable.Place]
    let length: Int64

    /// A stream of `seconds` whose frames have the lengths that `byteCount` gives for their times.
    init(seconds: Int, seed: UInt64, byteCount: (Double) -> Int) throws {
        let count = seconds * 44_100 / 4_096
        var random = SeededGenerator(seed: seed)
        var offset = Self.audioStart
        var places: [PlaceTable.Place] = []
        for number in 0..<count {
            places.append(.init(position: FrameCount(number) * 4_096, offset: offset))
            let mean = Double(byteCount(Double(number) / Double(count)))
            offset += Int64(mean * Double.random(in: 0.9...1.1, using: &random)) + 40
        }
        self.places = places
        length = offset
        stream = try Self.stream(frames: FrameCount(count) * 4_096)
    }

    /// The description of a stream of `frames` PCM frames.
    static func stream(frames: FrameCount) throws -> FLACStreamInfo {
        let rate = UInt64(44_100) << 44 | 1 << 41 | 15 << 36 | UInt64(frames)
        let bytes: [UInt8] =
            [0x10, 0, 0x10, 0, 0, 0, 0, 0, 0, 0] + (0..<8).map { UInt8(rate >> (56 - 8 * $0) & 0xFF) }
            + [UInt8](repeating: 7, count: 16)
        guard let stream = FLACStreamInfo(bytes) else { throw ToolFailed(tool: "STREAMINFO") }
        return stream
    }

    /// The header of frame `number`.
    static func header(_ number: Int64) -> [UInt8] {
        // 0xC0: blocks of 4,096; 0x09: 44.1 kHz; 0x18: two channels of 16 bits.
        let bytes: [UInt8] =
            [0xFF, 0xF8, 0xC9, 0x18, 0xF0 | UInt8(number >> 18)]
            + [12, 6, 0].map { 0x80 | UInt8(number >> $0 & 0x3F) }
        return bytes + [FLACFrameHeader.check(bytes)]
    }

    /// The bytes of `range`, as far as the stream has them.
    func bytes(in range: ByteRange) -> [UInt8] {
        let range = range.clamped(to: 0..<length)
        var bytes = [UInt8](repeating: 0x55, count: range.count)
        var index = firstPlace(atOrAfter: range.lowerBound - 16)
        while index < places.count, places[index].offset < range.upperBound {
            for (number, byte) in Self.header(Int64(index)).enumerated() {
                let place = places[index].offset + Int64(number) - range.lowerBound
                if bytes.indices.contains(Int(place)) { bytes[Int(place)] = byte }
            }
            index += 1
        }
        return bytes
    }

    private func firstPlace(atOrAfter offset: Int64) -> Int {
        var low = 0
        var high = places.count
        while low < high {
            let middle = (low + high) / 2
            if places[middle].offset < offset { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// A seek to `target` and how many requests it takes up to the end of the frame with it.
    func seek(to target: FrameCount, in map: FLACMap) -> (
        landing: FLACSeek.Landing?, requests: Int, seek: FLACSeek
    ) {
        var stored = ByteRangeSet()
        var requests = 0
        func fetch(_ range: ByteRange, upTo least: Int64 = 0) {
            while let gap = stored.gaps(in: range.clamped(to: 0..<length)).first {
                requests += 1
                // As the loader does: up to the end of a block, if that is more than half a window.
                let end = gap.lowerBound + 65_536
                let rounded = end - end % 65_536
                let usual = rounded > gap.lowerBound + 32_768 ? rounded : end
                stored.insert(contentsOf: gap.lowerBound..<max(usual, least))
            }
        }
        var seek = FLACSeek(to: target, in: map)
        while let wanted = seek.wanted {
            fetch(wanted, upTo: seek.requestEnd)
            seek.took(bytes(in: wanted), isWhole: wanted.upperBound >= length)
        }
        if let place = seek.landing?.place {
            let index = places.lastIndex { $0.position <= target } ?? 0
            let end = index + 1 < places.count ? places[index + 1].offset + 16 : length
            fetch(place.offset..<max(end, place.offset))
        }
        return (seek.landing, requests, seek)
    }
}
