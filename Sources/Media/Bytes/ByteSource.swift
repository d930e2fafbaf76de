/// Where bytes are read from: a local file, or a resource behind the loader.
///
/// Every implementation passes the same contract suite (short reads, the end, past
/// the end, cancelling, reopening).
package protocol ByteSource: Sendable {
    /// The length in bytes where it is known by now; asking never waits.
    var length: Int64? { get }

    /// Reads up to `count` bytes that start `offset` bytes into the resource.
    ///
    /// Waits until at least one byte is there; a short answer is not the end. Empty only
    /// at or past the end of the resource. Throws `CancellationError` as soon as the
    /// task is cancelled, and `MediaError` when the bytes cannot be had.
    func read(at offset: Int64, count: Int) async throws -> [UInt8]

    /// Whether a read of the whole of `range` would be answered without the network.
    func isStored(_ range: ByteRange) -> Bool

    /// Reads up to `count` bytes that are stored at `offset`; empty where none are.
    ///
    /// A look aside: it never waits for the network, and does not count as the place where the listener is.
    func readStored(at offset: Int64, count: Int) async throws -> [UInt8]
}

extension ByteSource {
    package func readStored(at offset: Int64, count: Int) async throws -> [UInt8] {
        let end = min(offset + Int64(count), length ?? .max)
        guard offset < end, isStored(offset..<end) else { return [] }
        return try await read(at: offset, count: Int(end - offset))
    }
}

/// A byte source with the extra calls of a player that listens to it.
///
/// A reader is one listener's handle on a resource that several may share. Closing the last
/// reader of a resource closes the resource.
package protocol ResourceReader: ByteSource {
    /// What is stored, in flight and counted; a copy, made whole at one moment.
    var report: LoadReport { get }

    /// Lets the loader fetch ahead of this reader's last read.
    ///
    /// Before the first call only what a read waits for is fetched, so that a cold start
    /// costs one request. `bytesPerSecond` is the music's mean rate, to turn seconds into bytes; 0 takes
    /// the permission back, so that a seek costs one request too.
    func allowReadAhead(bytesPerSecond: Double)

    /// Whether its reads may wait for those of other tracks: they then count as the head of the next track does, and
    /// nothing is asked for them while another track needs the line more. Not so at first.
    func setPriority(isLow: Bool)

    /// Asks for `range` at low priority: the head of the next track. Never waits.
    func prefetch(_ range: ByteRange)

    /// Asks for all that is missing, at the lowest priority of all. Never waits.
    func fill()

    /// Says that the bytes proved to be no music, so that nothing of them is kept
    /// unless it was kept before this open.
    func reject() async

    /// Keeps a derived, opaque value with the entry (the seek table); empty removes it.
    func keepSeekTable(_ table: [UInt8])

    /// The seek table kept by an earlier open, or empty. Outside text: to be checked before use.
    var keptSeekTable: [UInt8] { get }

    /// Keeps what is shown of the track where its bytes are listed (`cache list`).
    func keepTags(title: SafeText?, artist: SafeText?, duration: Duration?)

    /// Ends this reader: waiting reads throw `CancellationError`, what only it wanted is
    /// no longer fetched, and what came is committed before this returns.
    func close() async
}

extension ResourceReader {
    /// Where there is no line to share, nobody is in the way.
    package func setPriority(isLow: Bool) {}
}

/// What a loader knows of one resource at one moment.
package struct LoadReport: Sendable, Equatable {
    /// The resource's length in bytes, where known.
    package var length: Int64?
    /// What is stored and can be read without the network.
    package var stored = ByteRangeSet()
    /// What requests under way are still to bring.
    package var inFlight: [ByteRange] = []
    /// Bytes that were read and were stored before this open.
    package var cachedBytes: Int64 = 0
    /// Body bytes received since this open, prefetch included.
    package var fetchedBytes: Int64 = 0
    /// Requests sent since this open, redirects and retries included.
    package var requestCount = 0
    /// The recent rate of the line; nil until something was fetched.
    package var bytesPerSecond: Double?
    /// Whether any offset can be reached without reading all before it.
    package var isSeekable = true
    /// Whether what is fetched is kept for the next time.
    package var isKept = true
    /// Set while nothing comes and the next attempt is awaited.
    package var wait: LoadWait?
    /// Set for a live stream: nothing of it is kept, and it has no length.
    package var live: LiveReport?

    package init() {}
}

/// Opens resources for reading.
package protocol ResourceOpener: Sendable {
    /// Opens the resource at `location`; costs no request by itself.
    func open(_ location: ResourceLocation) async throws -> any ResourceReader
}
