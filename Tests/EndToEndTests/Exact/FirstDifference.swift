import Foundation

extension ContiguousBytes where Self: Collection, Index == Int {
    /// The place of the first byte that is not the same in both, counted from their starts; where one is the
    /// start of the other, its length; nil when they are equal.
    func firstDifference(from other: some ContiguousBytes) -> Int? {
        withUnsafeBytes { mine in
            other.withUnsafeBytes { theirs in
                let count = Swift.min(mine.count, theirs.count)
                guard count > 0 else { return mine.count == theirs.count ? nil : 0 }
                // Tens of megabytes each time: only where they differ is it looked for byte by byte.
                if let first = mine.baseAddress, let second = theirs.baseAddress,
                    memcmp(first, second, count) == 0
                {
                    return mine.count == theirs.count ? nil : count
                }
                return (0..<count).first { mine[$0] != theirs[$0] }
            }
        }
    }
}
