import CSystem
import Glibc

/// Files whose holes take no disk space.
package enum SparseFile {
    /// Frees the disk space of `range`, which then reads as zeros; the length does not change. Returns 0, or
    /// -1 with `errno`, for instance if the file system does not support holes.
    package static func punch(_ range: Range<Int64>, of descriptor: CInt) -> CInt {
        csystem_punch(descriptor, range.lowerBound, Int64(range.count))
    }

    /// The parts of `range` that take no disk space (lseek(2), SEEK_HOLE), including all beyond the end of
    /// the file. A file system that does not support holes reports none before the end. Moves the
    /// descriptor's own offset.
    package static func holes(in range: Range<Int64>, of descriptor: CInt) -> RangeSet<Int64> {
        var holes = RangeSet<Int64>()
        var place = range.lowerBound
        while place < range.upperBound {
            let hole = csystem_next_hole(descriptor, place)
            // ENXIO: `place` is at or beyond the end.
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
