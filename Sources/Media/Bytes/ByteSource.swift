/// A source of bytes for a decoder: a local file, or a web resource through its loader.
///
/// Every implementation passes `ByteSourceContractTests` (short reads, the end, past the end, what is stored,
/// cancelling, closing).
package protocol ByteSource: Sendable {
    /// The length in bytes; `nil` while it is unknown. Never waits.
    var length: Int64? { get }

    /// Reads up to `count` bytes that start `offset` bytes into the resource.
    ///
    /// Waits for at least one byte; fewer than `count` bytes do not mean the end. Returns no bytes only at or
    /// past the end of the resource. Throws `CancellationError` as soon as the task is cancelled, and
    /// `MediaError` if the bytes are not available.
    func read(at offset: Int64, count: Int) async throws -> [UInt8]

    /// Announces that the next reads go through `range`: one request fetches its missing bytes, unless they
    /// exceed the limit of a request. A range of at most 4 KiB is a sample, for which no other bytes are
    /// fetched. Never waits.
    func willRead(_ range: ByteRange)

    /// `true` if reading all of `range` needs no network.
    func isStored(_ range: ByteRange) -> Bool

    /// Reads up to `count` bytes that are stored at `offset`; empty if none are.
    ///
    /// Never waits for the network, and does not affect the read-ahead.
    func readStored(at offset: Int64, count: Int) async throws -> [UInt8]

    /// Fetches `range` at low priority: the head of the next track, or what a decoder needs later. Never
    /// waits.
    func prefetch(_ range: ByteRange)

    /// `true` if bytes arrive only in order, as from a server that sends files only as a whole: a read far
    /// ahead waits for all bytes before it.
    var arrivesInOrder: Bool { get }
}

extension ByteSource {
    /// Does nothing by default: all bytes are near.
    package func prefetch(_ range: ByteRange) {}

    /// `false` by default.
    package var arrivesInOrder: Bool { false }

    /// By default, requests are of the usual length.
    package func willRead(_ range: ByteRange) {}

    /// By default, returns no bytes if any of those requested is missing.
    package func readStored(at offset: Int64, count: Int) async throws -> [UInt8] {
        let end = min(offset + Int64(count), length ?? .max)
        guard offset < end, isStored(offset..<end) else { return [] }
        return try await read(at: offset, count: Int(end - offset))
    }
}

/// A byte source with further operations for a player.
///
/// Several readers may share one resource. Closing the last reader closes the resource.
package protocol ResourceReader: ByteSource {
    /// The state of the resource at one moment, as a whole.
    var report: LoadReport { get }

    /// The same as `report.live`; `nil` for resources that are no live stream. A decoder may read it at each
    /// step, because it counts no stored bytes.
    var live: LiveReport? { get }

    /// Allows the loader to fetch ahead of this reader's last read.
    ///
    /// Before the first call, only bytes for which a read waits are fetched, so that a cold start needs one
    /// request. `bytesPerSecond` is the music's mean rate, to turn seconds into bytes. Before a seek, 0
    /// withdraws the permission, so that the seek needs only one request too.
    func allowReadAhead(bytesPerSecond: Double)

    /// With low priority, this reader's reads are only as urgent as the head of the next track: nothing is
    /// fetched for them while another track needs the connection more. The initial priority is normal.
    func setPriority(isLow: Bool)

    /// Fetches all missing bytes, at the lowest priority. Never waits.
    func fill()

    /// Reports that the bytes are not music. They are removed from the cache, unless some were cached before
    /// this open.
    func reject() async

    /// Stores `value`, which was derived from the bytes, with the entry.
    func store(_ value: [UInt8], as fact: DerivedFact)

    /// The value that an earlier open stored; empty if no value is stored. Check it before use: another
    /// program may have changed it.
    func stored(_ fact: DerivedFact) -> [UInt8]

    /// Stores the tags and the duration for the lists of the cache and of the queue.
    func store(_ facts: TrackFacts)

    /// The segments of the recorded stream whose list this is, as an earlier open has stored them; `nil` for
    /// other resources.
    var stream: StreamTable? { get }

    /// How much of the stream's segments is cached; `nil` for other resources.
    var streamContents: StreamContents? { get }

    /// Stores that the resource is the list of a recorded stream.
    func store(_ stream: StreamTable)

    /// Closes this reader. Waiting reads throw `CancellationError`, fetches that only this reader wanted end,
    /// and received bytes are committed before this returns.
    func close() async
}

extension ResourceReader {
    /// Does nothing by default: a source without a network has no connection to share.
    package func setPriority(isLow: Bool) {}

    /// A resource with a length is no live stream; a live stream may look like a long body at first.
    package var live: LiveReport? { length == nil ? report.live : nil }

    /// By default, streams are not cached.
    package var stream: StreamTable? { nil }
    package var streamContents: StreamContents? { nil }
    package func store(_ stream: StreamTable) {}
}

/// The state of one resource at one moment.
package struct LoadReport: Sendable, Equatable {
    /// The resource's length in bytes; `nil` if unknown.
    package var length: Int64?
    /// The media type that the server states; `nil` if it states none, and for local files. Untrusted text.
    package var contentType: String?
    /// The URL that answered, without user name, password and query; `nil` if no redirect led there.
    package var redirectedTo: WebURL?
    /// The bytes that can be read without the network.
    package var stored = ByteRangeSet()
    /// The bytes that requests in progress have yet to deliver.
    package var inFlight: [ByteRange] = []
    /// The missing bytes that are requested as soon as possible; `nil` if there are none, as at the end of
    /// the read-ahead.
    package var wanted: ByteRange?
    /// How many of the bytes that were read had been stored before this open.
    package var cachedBytes: Int64 = 0
    /// How many bytes were read, each counted once.
    package var readBytes: Int64 = 0
    /// Body bytes received since this open, prefetch included.
    package var fetchedBytes: Int64 = 0
    /// Requests sent since this open, redirects and retries included.
    package var requestCount = 0
    /// `true` if others have the same resource open: their reports count the same requests and fetched bytes.
    package var isShared = false
    /// The recent rate of the connection; `nil` until something was fetched.
    package var bytesPerSecond: Double?
    /// `true` if any offset can be read without reading all bytes before it.
    package var isSeekable = true
    /// `true` if fetched bytes are cached.
    package var isCached = true
    /// The time of the last answer of the server; `nil` if there was none since this open.
    package var answeredAt: Duration?
    /// Set while nothing arrives and the next attempt is awaited.
    package var wait: LoadWait?
    /// Set for a live stream, which is not cached and has no length.
    package var live: LiveReport?

    package init() {}
}

/// Opens resources for reading.
package protocol ResourceOpener: Sendable {
    /// Opens the resource at `location`, without a request. `episode` is `nil` unless it is one.
    func open(_ location: ResourceLocation, of episode: Episode?) async throws -> any ResourceReader
}
