import Foundation
import Testing

extension ContiguousBytes where Self: Collection, Index == Int {
    /// The offset of the first byte that differs, counted from both starts; if one begins with the other, the
    /// length of the shorter; `nil` if they are equal.
    func firstDifference(from other: some ContiguousBytes) -> Int? {
        withUnsafeBytes { mine in
            other.withUnsafeBytes { theirs in
                let count = Swift.min(mine.count, theirs.count)
                guard count > 0 else { return mine.count == theirs.count ? nil : 0 }
                // Tens of megabytes each time: compared byte by byte only if they differ.
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

/// Expects that `sound` is `reference`, byte by byte.
func expectSame(
    _ sound: Data,
    as reference: Data,
    _ comment: Comment? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
) {
    #expect(sound.firstDifference(from: reference) == nil, comment, sourceLocation: sourceLocation)
}

/// Expects that `sound` begins like `reference`, and at some place goes on with all of `rest`. Returns that
/// place.
@discardableResult
func expectJump(in sound: Data, from reference: Data, to rest: Data) throws -> Int {
    let place = sound.count - rest.count
    try #require(place > 0)
    expectSame(sound.prefix(place), as: reference.prefix(place))
    expectSame(sound.suffix(from: place), as: rest)
    return place
}
