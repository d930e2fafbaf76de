import Media

/// One operation of a cache folder on its disk, in the order in which the disk received it.
enum DiskOperation: Sendable {
    /// A file came to be: `file` is its number from now on, `name` its path within the folder.
    case made(file: Int, name: String)
    /// Noted when it was done.
    case write(file: Int, offset: Int64, bytes: [UInt8])
    case truncate(file: Int, length: Int64)
    /// All operations recorded before this are on the disk as soon as the flush with the same number has
    /// ended.
    case flushBegan(flush: Int, file: Int)
    case flushEnded(flush: Int)
    /// The same of the names in a folder: `objects`, or an empty name for the folder itself.
    case namesFlushBegan(flush: Int, folder: String)
    case removed(file: Int)
    /// The cache said that these bytes of the entry with this entity tag are durable.
    case promised(etag: String, bytes: ByteRange)
    /// The cache may forget the entry from now on: it was replaced, discarded, or may be evicted.
    case released(etag: String)
}

extension ArraySlice<DiskOperation> {
    /// The bytes that must be durable after these operations, by entity tag.
    var promises: [String: ByteRangeSet] {
        var promises: [String: ByteRangeSet] = [:]
        for operation in self {
            switch operation {
            case .promised(let etag, let bytes):
                promises[etag, default: ByteRangeSet()].insert(contentsOf: bytes)
            case .released(let etag): promises[etag] = nil
            case .made, .write, .truncate, .flushBegan, .flushEnded, .namesFlushBegan, .removed: break
            }
        }
        return promises
    }
}
