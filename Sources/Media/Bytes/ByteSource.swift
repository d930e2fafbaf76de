/// Something that a decoder reads bytes from: a local file, or a web resource by way of its loader.
///
/// Every implementation passes `ByteSourceContractTests` (short reads, the end, past the end, what is stored, cancelling,
/// closing).
package protocol ByteSource: Sendable {
    /// The length in bytes; `nil` while it is unknown. Never waits.
    var length: Int64? { get }

    /// Reads up to `count` bytes that start `offset` bytes into the resource.
    ///
    /// Waits for at least one byte; a short answer is not the end. Empty only at or past the end of the resource. Throws
    /// `CancellationError` as soon as the task is cancelled, and `MediaError` if the bytes are not available.
    func read(at offset: Int64, count: Int) async throws -> [UInt8]

    /// `true` if reading all of `range` takes no network.
    func isStored(_ range: ByteRange) -> Bool

    /// Reads up to `count` bytes that are stored at `offset`; empty if none are.
    ///
    /// Never waits for the network, and does not count as the listener's position.
    func readStored(at offset: Int64, count: Int) async throws -> [UInt8]
}

extension ByteSource {
    package func readStored(at offset: Int64, count: Int) async throws -> [UInt8] {
        let end = min(offset + Int64(count), length ?? .max)
        guard offset < end, isStored(offset..<end) else { return [] }
        return try await read(at: offset, count: Int(end - offset))
    }
}

/// A byte source with what a player needs besides.
///
/// A reader is one listener's handle on a resource that several may share. Closing the last reader closes the resource.
package protocol ResourceReader: ByteSource {
    /// The state of the resource, all of it at one moment.
    var report: LoadReport { get }

    /// Lets the loader fetch ahead of this reader's last read.
    ///
    /// Before the first call only what a read waits for is fetched, so that a cold start costs one request.
    /// `bytesPerSecond` is the music's mean rate, to turn seconds into bytes; 0 withdraws the permission, so that a seek
    /// costs one request too.
    func allowReadAhead(bytesPerSecond: Double)

    /// With low priority its reads count as the head of the next track does: nothing is fetched for them while another
    /// track needs the line more. At first it has normal priority.
    func setPriority(isLow: Bool)

    /// Fetches `range` at low priority, for the head of the next track. Never waits.
    func prefetch(_ range: ByteRange)

    /// Fetches all that is missing, at the lowest priority. Never waits.
    func fill()

    /// Tells that the bytes proved to be no music: nothing of them is cached, unless something was before this open.
    func reject() async

    /// Stores the seek table, an opaque value, with the entry; empty removes it.
    func keepSeekTable(_ table: [UInt8])

    /// The seek table that an earlier open stored, or empty. Untrusted: to be checked before use.
    var keptSeekTable: [UInt8] { get }

    /// Stores the tags that `cache list` shows.
    func keepTags(title: SafeText?, artist: SafeText?, duration: Duration?)

    /// Ends this reader. Waiting reads throw `CancellationError`, what only it wanted is no longer fetched, and what came
    /// is committed before this returns.
    func close() async
}

extension ResourceReader {
    /// A source without a network has no line to share.
    package func setPriority(isLow: Bool) {}
}

/// The state of one resource at one moment.
package struct LoadReport: Sendable, Equatable {
    /// The resource's length in bytes; `nil` if unknown.
    package var length: Int64?
    /// The media type that the server states; `nil` if it states none, and for local files. Outside text.
    package var contentType: String?
    /// The bytes that can be read without the network.
    package var stored = ByteRangeSet()
    /// The bytes that requests under way are still to bring.
    package var inFlight: [ByteRange] = []
    /// The number of bytes read that were stored before this open.
    package var cachedBytes: Int64 = 0
    /// Body bytes received since this open, prefetch included.
    package var fetchedBytes: Int64 = 0
    /// Requests sent since this open, redirects and retries included.
    package var requestCount = 0
    /// The recent rate of the line; `nil` until something was fetched.
    package var bytesPerSecond: Double?
    /// `true` if any offset can be read without all before it.
    package var isSeekable = true
    /// `true` if what is fetched is cached.
    package var isKept = true
    /// Set while nothing comes and the next attempt is awaited.
    package var wait: LoadWait?
    /// Set for a live stream, which is not cached and has no length.
    package var live: LiveReport?

    package init() {}
}

/// Opens resources for reading.
package protocol ResourceOpener: Sendable {
    /// Opens the resource at `location`; costs no request by itself.
    func open(_ location: ResourceLocation) async throws -> any ResourceReader
}
