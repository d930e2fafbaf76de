import Media

/// What one commit is to make durable.
struct CommitPlan: Sendable {
    /// Bytes that no extent covers, as they were when the commit began.
    var bytes: BufferedBytes
    /// The resource as this store knows it.
    var description: EntryDescription
    /// What the index said of the resource when it was last seen.
    var seen: EntryDescription
    /// Which description that is; a newer one can come while the commit runs.
    var descriptionNumber: Int
    /// Whether the description is news.
    var isDescribed: Bool

    /// The same with the first `count` bytes, which must be more than none.
    func first(_ count: Int64) -> CommitPlan {
        var part = self
        part.bytes = bytes.first(count)
        return part
    }
}
