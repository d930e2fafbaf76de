import TestSupport

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
