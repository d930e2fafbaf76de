/// Stores the bytes of one entry, and decides where they go.
///
/// Implemented by the entries of the cache and by volatile stores, which both pass `ByteStoreContractTests`. Calls may come
/// from any task.
package protocol ByteStore: Sendable {
    /// The facts that an earlier open, or `describe`, stored.
    var description: EntryDescription { get }

    /// Every byte that `read` can return now, committed or not. Never waits, and calls nothing else: a loader asks it under
    /// its own lock whenever it plans.
    var stored: ByteRangeSet { get }

    /// `true` if the bytes outlive this process.
    var isPersistent: Bool { get }

    /// Looks up whether other processes have stored more of `range` meanwhile, and returns what is stored now.
    ///
    /// To be called before anything is fetched. Also finds out whether the same resource is cached under another URL. Never
    /// fails.
    func refresh(_ range: ByteRange) async -> ByteRangeSet

    /// Reads up to `count` stored bytes from `offset`.
    ///
    /// Short at the next gap. Empty if nothing is stored at `offset`, also if an extent there has just failed its check and
    /// was dropped. What is still in memory is returned without a change of thread.
    func read(at offset: Int64, count: Int) async throws -> [UInt8]

    /// Stores `bytes` at `offset`; parts that are stored already stay as they are.
    ///
    /// Returns once a read can see them. They are committed later (`commit`, or by the store's own rhythm); a store that
    /// cannot commit them keeps them until it is closed. Throws `MediaError` with `.notKept` if it cannot even do that.
    func write(_ bytes: [UInt8], at offset: Int64) async throws

    /// Replaces the description; durable with the next commit.
    func describe(_ description: EntryDescription)

    /// Makes everything that was written durable. Throws `MediaError` with `.notKept` if that is not possible.
    func commit() async throws

    /// Removes the entry: the next open finds it empty.
    ///
    /// This open goes on as before until `close`, with every byte in `stored` and all that is still written; only
    /// `isPersistent` is `false` from now on. A second call does nothing.
    func discard() async

    /// Commits and closes. No call may follow.
    func close() async
}

extension ByteStore {
    /// A store that no other process shares has nothing new.
    package func refresh(_ range: ByteRange) async -> ByteRangeSet { stored }
}

/// Finds and makes entries.
package protocol ByteStoreOpener: Sendable {
    /// The entry of `url`, made empty if there is none, and marked as played now.
    func open(_ url: WebURL) async throws -> any ByteStore

    /// A new, empty entry for `url` instead of the present one: the resource has changed.
    func replace(_ url: WebURL) async throws -> any ByteStore
}

/// The facts of a resource besides its bytes.
package struct EntryDescription: Sendable, Equatable {
    /// Length in bytes; `nil` if no answer told it.
    package var length: Int64?
    package var contentType: String?
    package var validators = Validators()
    /// `true` if the server answered with a part; `nil` while unknown.
    package var acceptsRanges: Bool?
    /// Opaque; empty if there is none.
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

    /// `true` if there is nothing to compare.
    package var isEmpty: Bool { etag == nil && lastModified == nil }

    /// The value for `If-Range`: a strong entity tag, else the date (RFC 9110 §13.1.5).
    package var ifRange: String? {
        if let etag, !etag.hasPrefix("W/") { return etag }
        return lastModified
    }
}
