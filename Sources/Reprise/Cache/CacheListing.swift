import Media

/// One entry as it is listed.
struct CacheListing: Sendable, Equatable {
    /// The cache's own number for it.
    var number: Int64 = 0
    /// The URL without secrets.
    var source: SafeText
    /// Other URLs under which servers send the same resource, without secrets.
    var otherSources: [SafeText] = []
    var title: SafeText?
    var artist: SafeText?
    var duration: Duration?
    /// In bytes; nil while no answer told it.
    var length: Int64?
    /// The kept byte ranges.
    var stored = ByteRangeSet()
    /// Bytes on the disk, which is given out in blocks.
    var allocatedBytes: Int64 = 0
    var contentType: SafeText?
    var etag: SafeText?
    var lastModified: SafeText?
    /// Whether its server answers requests for a range; nil while none was seen.
    var isSeekable: Bool?
    var isPinned = false
    /// Seconds since 1970, as are all moments here; nil where it is not known.
    var created: Int64?
    var lastPlayed: Int64

    /// Bytes that are kept.
    var storedBytes: Int64 { stored.byteCount }

    /// Whether the length is known and nothing is missing.
    var isComplete: Bool { length.map { stored.covers(0..<$0) } ?? false }

    /// Whole percents that are kept, rounded down, so that 100 means all; nil while the length is unknown.
    var share: Int? {
        guard let length, length > 0 else { return length == 0 ? 100 : nil }
        return isComplete ? 100 : min(99, Int(Double(storedBytes) / Double(length) * 100))
    }

    /// What to call it: artist and title as far as they are known, else the source.
    func music(dash: SafeText) -> SafeText {
        guard let title else { return source }
        return artist.map { $0 + " " + dash + " " + title } ?? title
    }
}
