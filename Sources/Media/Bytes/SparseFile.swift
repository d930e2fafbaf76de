import CSystem

/// What a file can do whose holes take no room.
package enum SparseFile {
    /// Gives the disk back what `range` takes; reads find zeros there, and the length stays. Not every
    /// filesystem can: 0, or -1 with `errno`, as a system call says.
    package static func punch(_ range: ByteRange, of descriptor: CInt) -> CInt {
        csystem_punch(descriptor, range.lowerBound, Int64(range.count))
    }
}
