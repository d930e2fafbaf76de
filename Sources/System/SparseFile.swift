import CSystem
import Glibc

/// What a file can do whose holes take no room.
package enum SparseFile {
    /// Gives the disk back what `range` takes; reads find zeros there, and the length stays. Not every
    /// filesystem can: 0, or -1 with `errno`, as a system call says.
    package static func punch(_ range: Range<Int64>, of descriptor: CInt) -> CInt {
        csystem_punch(descriptor, range.lowerBound, Int64(range.count))
    }

    /// What of `range` takes no room on the disk (lseek(2), SEEK_HOLE); all behind the end of the file counts as such.
    /// A filesystem that keeps no holes has none before the end. Moves the descriptor's own offset.
    package static func holes(in range: Range<Int64>, of descriptor: CInt) -> RangeSet<Int64> {
        var holes = RangeSet<Int64>()
        var place = range.lowerBound
        while place < range.upperBound {
            let hole = csystem_next_hole(descriptor, place)
            // At the end and behind it there is neither.
            guard hole >= 0 || errno == ENXIO else { break }
            let start = max(place, hole >= 0 ? hole : place)
            guard start < range.upperBound else { break }
            let data = csystem_next_data(descriptor, start)
            guard data >= 0 || errno == ENXIO else { break }
            let end = data >= 0 ? min(data, range.upperBound) : range.upperBound
            holes.insert(contentsOf: start..<end)
            place = end
        }
        return holes
    }
}
