/// The bytes of one entry: extents in, extents out.
///
/// Implemented by the persistent cache and by the volatile store. Calls may come from any
/// task; a store orders them itself.
package protocol ByteStore: Sendable {
    /// What an earlier open, or `describe`, said of the resource.
    var description: EntryDescription { get }

    /// Every byte that `read` would answer now, committed or not.
    var stored: ByteRangeSet { get }

    /// Whether the bytes outlive this process.
    var isPersistent: Bool { get }

    /// Looks whether others have stored more of `range` since, and says what is stored now.
    ///
    /// To be asked before anything is fetched: another process may have it by now, or the resource may be
    /// recognised as one that is kept under another URL. Costs one look into the index; never fails.
    func refresh(_ range: ByteRange) async -> ByteRangeSet

    /// Reads up to `count` stored bytes from `offset`.
    ///
    /// Short where the stored run ends. Empty when nothing is stored at `offset`, which can
    /// also be because an extent there failed its check and was dropped just now: the caller
    /// then asks `stored` again and fetches.
    func read(at offset: Int64, count: Int) async throws -> [UInt8]

    /// Keeps `bytes` at `offset`; parts that are stored already are left as they are.
    ///
    /// Returns once a read can see them. They are committed later (`commit`, or by the store's own rhythm); a store that
    /// cannot commit them keeps them until it is closed. Throws `MediaError` with `.notKept` if it cannot even do that.
    func write(_ bytes: [UInt8], at offset: Int64) async throws

    /// Replaces what is known of the resource; durable with the next commit.
    func describe(_ description: EntryDescription)

    /// Makes all that was written durable.
    func commit() async throws

    /// Sees to it that nothing of the entry is kept: the next open finds it empty.
    ///
    /// This open goes on as before, with every byte in `stored` and what is still to be written, until
    /// `close`; only `isPersistent` is false from now on. A second call does nothing.
    func discard() async

    /// Commits and lets go. No call may follow.
    func close() async
}

extension ByteStore {
    /// What nobody else can write to has nothing new.
    package func refresh(_ range: ByteRange) async -> ByteRangeSet { stored }
}

/// Finds and makes entries.
package protocol ByteStoreOpener: Sendable {
    /// The entry of `url`, made empty where there is none. Marks it as played now.
    func open(_ url: WebURL) async throws -> any ByteStore

    /// A new, empty entry for `url` in place of the one there is: the resource has changed.
    func replace(_ url: WebURL) async throws -> any ByteStore
}

/// What is known of a resource besides its bytes.
package struct EntryDescription: Sendable, Equatable {
    /// Length in bytes, where an answer told it.
    package var length: Int64?
    package var contentType: String?
    package var validators = Validators()
    /// Whether a 206 was seen; nil while unknown.
    package var acceptsRanges: Bool?
    /// The seek table, opaque; empty when there is none.
    package var seekTable: [UInt8] = []
    package var title: String?
    package var artist: String?
    package var durationSeconds: Double?

    package init() {}
}

/// The validators of a representation (RFC 9110 §8.8).
package struct Validators: Sendable, Equatable {
    /// The entity tag as sent, quotes and `W/` included.
    package var etag: String?
    /// The `Last-Modified` date as sent.
    package var lastModified: String?

    package init(etag: String? = nil, lastModified: String? = nil) {
        self.etag = etag
        self.lastModified = lastModified
    }

    /// Whether there is nothing to compare with.
    package var isEmpty: Bool { etag == nil && lastModified == nil }

    /// What `If-Range` may carry: a strong entity tag, else the date (RFC 9110 §13.1.5).
    package var ifRange: String? {
        if let etag, !etag.hasPrefix("W/") { return etag }
        return lastModified
    }
}
