/// A file name as people sort it: `2` before `10`, capitals like small letters.
///
/// Runs of digits compare as numbers of any length. Names that differ only in case or in leading
/// zeros are ordered by their bytes, so that the order is always the same.
struct NaturalKey: Comparable {
    let name: String
    private let folded: [UInt8]

    init(_ name: String) {
        self.name = name
        folded = Array(name.lowercased().utf8)
    }

    static func < (left: NaturalKey, right: NaturalKey) -> Bool {
        switch order(left.folded, right.folded) {
        case ..<0: true
        case 1...: false
        default: left.name.utf8.lexicographicallyPrecedes(right.name.utf8)
        }
    }

    /// Below, above or equal to 0 as `left` comes before, after or beside `right`.
    private static func order(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var (i, j) = (0, 0)
        while i < left.count, j < right.count {
            if left[i].decimalDigit != nil, right[j].decimalDigit != nil {
                let (first, second) = (number(in: left, from: &i), number(in: right, from: &j))
                if first.count != second.count { return first.count - second.count }
                if let place = first.indices.first(where: {
                    left[$0] != right[$0 - first.startIndex + second.startIndex]
                }) {
                    return Int(left[place]) - Int(right[place - first.startIndex + second.startIndex])
                }
            } else if left[i] != right[j] {
                return Int(left[i]) - Int(right[j])
            } else {
                i += 1
                j += 1
            }
        }
        return (left.count - i) - (right.count - j)
    }

    /// The digits from `index` on without leading zeros; `index` goes behind them.
    private static func number(in bytes: [UInt8], from index: inout Int) -> Range<Int> {
        while index < bytes.count, bytes[index] == UInt8(ascii: "0") { index += 1 }
        let start = index
        while index < bytes.count, bytes[index].decimalDigit != nil { index += 1 }
        return start..<index
    }
}
