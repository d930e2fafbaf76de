import Media

/// What one commit is to make durable.
struct CommitPlan: Sendable, Equatable {
    /// Bytes that were written and that no extent covers.
    var ranges: [ByteRange]
    /// The description, where it changed since the last commit.
    var description: EntryDescription?
    /// Which description that is; a newer one can come while the commit runs.
    var descriptionNumber: Int
}
