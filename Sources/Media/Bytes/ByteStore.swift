/// Stores the bytes of one entry, and decides where to store them.
///
/// The entries of the cache and the volatile stores conform to it; both pass `ByteStoreContractTests`. Calls
/// may come from any task.
package protocol ByteStore: Sendable {
    /// The description that was stored last, in this session or an earlier one.
    var description: EntryDescription { get }

    /// The bytes that `read` can return now, committed or not. Never waits and takes no other lock: a loader
    /// reads this under its own lock whenever it plans.
    var stored: ByteRangeSet { get }

    /// `true` if the bytes outlive this process.
    var isPersistent: Bool { get }

    /// Checks if other processes have stored more of `range`, and returns the stored ranges of the whole
    /// resource.
    ///
    /// Call it before fetching. Also checks if the same resource is cached under another URL. If `isUrgent`,
    /// asks about other processes only if one is known to have added to the entry since it was opened. Never
    /// fails.
    func refresh(_ range: ByteRange, isUrgent: Bool) async -> ByteRangeSet

    /// Reads up to `count` stored bytes from `offset`.
    ///
    /// Returns fewer bytes before a gap, and none if nothing is stored at `offset`, or if an extent there has
    /// just failed its check and was dropped. Bytes in memory are returned without a thread switch.
    func read(at offset: Int64, count: Int) async throws -> [UInt8]

    /// Stores `bytes` at `offset`; parts that are already stored are left unchanged.
    ///
    /// Returns once they can be read. They are committed later, by `commit` or by the store itself; a store
    /// that cannot commit them holds them until it is closed. Throws `MediaError` with `.notCached` if it
    /// cannot even do that.
    func write(_ bytes: [UInt8], at offset: Int64) async throws

    /// Replaces the description; durable with the next commit.
    func describe(_ description: EntryDescription)

    /// Makes all written bytes durable. Throws `MediaError` with `.notCached` if that is not possible.
    func commit() async throws

    /// Until the next call, commits only bytes of `proven`, because nothing shows that other bytes belong to
    /// the same version of the resource; `nil` allows all bytes. Other bytes can be read, but are lost with
    /// the store.
    ///
    /// Never waits and takes no other lock.
    func commitOnly(_ proven: ByteRangeSet?)

    /// The store of a resource that belongs to the stream of this entry, created empty if there is none, or
    /// if it `isNew`; `nil` if the parts of streams are not cached, or the earlier one can't be removed. It
    /// may not outlive this store. `url` is where the part is today, and `likelyLength` at least its likely
    /// length.
    ///
    /// To discard a list, key or section discards the whole entry: the rest is of no use without it. To
    /// discard a resource with segments discards nothing else.
    func part(_ name: PartName, at url: WebURL, likelyLength: Int64, isNew: Bool) async -> (any ByteStore)?

    /// The segments of the recorded stream whose list this entry has; `nil` for other resources.
    var stream: StreamTable? { get }

    /// How much of the stream's segments is stored; `nil` for other resources.
    var streamContents: StreamContents? { get }

    /// Notes that the entry is of a recorded stream; durable with the next commit.
    func describe(_ stream: StreamTable)

    /// Removes the entry: the next open finds it empty.
    ///
    /// This store works as before until `close`, with all bytes in `stored` and those still to be written;
    /// only `isPersistent` becomes `false`. A second call does nothing.
    func discard() async

    /// Commits and closes. No call may follow.
    func close() async
}

extension ByteStore {
    /// By default, no other process shares the store, so there is nothing new.
    package func refresh(_ range: ByteRange, isUrgent: Bool) async -> ByteRangeSet { stored }

    /// By default, nothing is cached, so nor are the parts of a stream.
    package func part(_ name: PartName, at url: WebURL, likelyLength: Int64, isNew: Bool) async
        -> (any ByteStore)?
    { nil }
    package var stream: StreamTable? { nil }
    package var streamContents: StreamContents? { nil }
    package func describe(_ stream: StreamTable) {}

    /// By default, no byte outlives the store.
    package func commitOnly(_ proven: ByteRangeSet?) {}

    /// Checks also for processes that were unknown so far.
    package func refresh(_ range: ByteRange) async -> ByteRangeSet { await refresh(range, isUrgent: false) }
}

/// The identity of a resource from the web.
package struct ResourceKey: Sendable {
    /// The URL to request it from.
    package let url: WebURL
    /// The episode of a podcast that it is, whose URL may change; `nil` for other resources.
    package let episode: Episode?
    package let use: ResourceUse

    package init(_ url: WebURL, of episode: Episode? = nil, for use: ResourceUse = .playing) {
        self.url = url
        self.episode = episode
        self.use = use
    }
}

/// Why a resource is opened, which decides what may be evicted for its bytes.
package enum ResourceUse: Sendable {
    /// Any other entry may be, the least recently played first.
    case playing
    /// It is played later, perhaps: nothing is evicted that was played in the last seven days, or that is to
    /// be played, too (`CacheStatus.spare`). What was played before keeps its time.
    case ahead
    /// Only its tags are read: nothing is evicted that was played, and an entry that is created for it counts
    /// as never played.
    case tags
}

/// Finds and creates entries.
package protocol ByteStoreOpener: Sendable {
    /// The entry of the URL of `key`, created empty if there is none. If `key.use` is `.playing`, the entry
    /// is marked as played now; so is a new one, unless only its tags are read.
    ///
    /// If `isOffline`, an episode may be in other entries, under its earlier URLs: the fullest is opened.
    func open(_ key: ResourceKey, isOffline: Bool) async throws -> any ByteStore

    /// Replaces the entry of `url` by a new, empty one, because the resource has changed.
    func replace(_ url: WebURL) async throws -> any ByteStore

    /// Opens the entry of another rendition of the stream `url`, created empty if there is none: the one
    /// whose `StreamTable.rendition` begins with `rendition`. From now on it is the entry of `url`.
    func openRendition(_ rendition: [UInt8], of url: WebURL) async throws -> any ByteStore
}

extension ByteStoreOpener {
    /// By default, streams are not known as such, so there is nothing to keep.
    package func openRendition(_ rendition: [UInt8], of url: WebURL) async throws -> any ByteStore {
        try await replace(url)
    }

    /// The entry of `url`, created empty if there is none, and marked as played now.
    package func open(_ url: WebURL) async throws -> any ByteStore {
        try await open(ResourceKey(url), isOffline: false)
    }
}

/// The facts about a resource, except its bytes.
package struct EntryDescription: Sendable, Equatable {
    /// The length in bytes; `nil` if unknown.
    package var length: Int64?
    package var contentType: String?
    /// The URL that answered, without user name, password and query; `nil` if no redirect led there.
    package var redirectedTo: WebURL?
    package var validators = Validators()
    /// `true` if the server has sent a partial response (206); `nil` if unknown.
    package var acceptsRanges: Bool?
    package var tags = TrackTags()
    package var durationSeconds: Double?
    /// The facts that earlier sessions derived from the bytes. The store does not interpret them.
    package var facts: [DerivedFact: [UInt8]] = [:]

    package init() {}
}

/// A kind of facts that are derived from the bytes of a resource, and stored with its entry until it goes.
///
/// A stored fact of an unknown kind or version is ignored: it is derived again, and replaced.
package enum DerivedFact: String, CaseIterable, Sendable {
    /// The places of music that a decoder has found, for seeks; for MP4, also the parts of the head that it
    /// has read.
    case seekTable = "seek_points"
    /// The peaks of the music (`Waveform`).
    case waveform

    /// The version of its form, which is raised if older ones cannot be read any more.
    package var version: Int64 {
        switch self {
        case .seekTable, .waveform: 1
        }
    }
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
