import Foundation
import TestSupport
import Testing

/// Damages bytes as a seed says: flips, numbers of note, insertions, losses, repetitions.
struct Mutator {
    /// Bytes that stand for the ends of ranges, signs and marks.
    private static let notable: [UInt8] = [0x00, 0x01, 0x7F, 0x80, 0xFE, 0xFF, 0x10, 0x40]

    var random: SeededGenerator

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }

    /// `bytes` damaged in one to six places; `favourites` are hit as often as all other places together.
    mutating func damaged(_ bytes: [UInt8], favouring favourites: [Int] = []) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<number(1...6) where !bytes.isEmpty {
            var place = number(0...bytes.count - 1)
            if Bool.random(using: &random), let favourite = favourites.randomElement(using: &random) {
                place = min(favourite + number(0...7), bytes.count - 1)
            }
            damage(&bytes, at: place)
        }
        return bytes
    }

    /// `file` after one or two accidents that befall whole files: damaged places, a cut at either end, a span
    /// that is there twice, or random, or zeros, or a length of 2 GB in place of another.
    mutating func damagedFile(_ file: [UInt8], favouring favourites: [Int]) -> [UInt8] {
        var bytes = file
        for _ in 0..<number(1...2) where !bytes.isEmpty {
            let start = number(0...bytes.count - 1)
            let span = start..<min(bytes.count, start + number(1...20_000))
            switch number(0...9) {
            case 0...3: bytes = damaged(bytes, favouring: favourites)
            case 4: bytes.removeSubrange(start...)
            case 5: bytes.removeSubrange(..<min(start, number(0...400)))
            case 6: bytes.insert(contentsOf: bytes[span], at: number(0...bytes.count))
            case 7: for index in span { bytes[index] = UInt8(number(0...255)) }
            case 8: for index in span { bytes[index] = 0 }
            default: stateLength(in: &bytes, near: favourites.randomElement(using: &random) ?? start)
            }
        }
        return bytes
    }

    /// `file` with one to five of its big-endian fields of 32 bits, those in front of and behind the marks,
    /// set to numbers at the ends of ranges.
    mutating func withNumbers(in file: [UInt8], near marks: [Int]) -> [UInt8] {
        let numbers: [UInt64] = [
            0, 1, 2, 8, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFE, 0xFFFF_FFFF, 0x1_0000, 0x0100_0000,
        ]
        var bytes = file
        for _ in 0..<number(1...5) {
            // The size is in front of the name.
            let place = (marks.randomElement(using: &random) ?? 0) + 4 * number(-1...12)
            let value = numbers.randomElement(using: &random) ?? 0
            for (index, byte) in little(value, 4).reversed().enumerated()
            where bytes.indices.contains(place + index) {
                bytes[place + index] = byte
            }
        }
        return bytes
    }

    /// Writes a number of about 2 GB, or the largest of its size, over the 4 or 8 bytes at one of the places
    /// from `start` on.
    private mutating func stateLength(in bytes: inout [UInt8], near start: Int) {
        let lengths: [UInt64] = [
            0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF, 0x7FFF_FFF0, .max, .max >> 1, 1 << 40,
        ]
        let length = lengths.randomElement(using: &random) ?? 0
        let isLong = length > UInt32.max
        let digits = little(length, isLong ? 8 : 4)
        let place = start + number(0...48)
        for (index, byte) in (number(0...1) == 0 ? digits : digits.reversed()).enumerated()
        where place + index < bytes.count {
            bytes[place + index] = byte
        }
    }

    private mutating func damage(_ bytes: inout [UInt8], at place: Int) {
        let length = min(number(1...64), bytes.count - place)
        switch number(0...7) {
        case 0, 1: bytes[place] ^= 1 << UInt8(number(0...7))
        case 2: bytes[place] = UInt8(number(0...255))
        case 3: bytes[place] = Self.notable.randomElement(using: &random) ?? 0
        case 4:
            let value = Self.notable.randomElement(using: &random) ?? 0
            for index in place..<place + min(length, 8) { bytes[index] = value }
        case 5: bytes.insert(contentsOf: (0..<length).map { _ in UInt8(number(0...255)) }, at: place)
        case 6: bytes.removeSubrange(place..<place + length)
        default: bytes.insert(contentsOf: bytes[place..<place + length], at: number(0...bytes.count))
        }
    }
}

/// The memory that this process has, in bytes, as Linux counts it in `/proc/self/status`.
enum ResidentMemory {
    /// The bound of the memory that a block of inputs may need. It is checked in full runs only, in which no
    /// other test runs at the same time.
    struct Bound {
        private static let most = 64 << 20
        private let before = current

        init() { resetPeak() }

        func check(_ place: String) {
            guard TestCount.isFull else { return }
            #expect(before > 0 && peak - before <= Self.most, "\(place): \((peak - before) >> 10) KiB")
        }
    }

    static var current: Int { field("VmRSS:") }

    /// The most since the last `resetPeak`.
    static var peak: Int { field("VmHWM:") }

    /// 5 in `clear_refs` is the peak (proc_pid_clear_refs(5)).
    static func resetPeak() {
        guard let file = fopen("/proc/self/clear_refs", "w") else { return }
        fputs("5", file)
        fclose(file)
    }

    private static func field(_ name: String) -> Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix(name) } ?? ""
        return (Int(line.filter(\.isNumber)) ?? 0) * 1_024
    }
}
