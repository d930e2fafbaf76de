import Media
import System

/// A reader of a part of the stream. Readers of one resource share what was fetched, and its count.
struct StreamPart: Sendable {
    /// The resource of a part: its place today, and its name if it is cached.
    struct Resource: Hashable, Sendable {
        var location: ResourceLocation
        var name: PartName?
    }

    var resource: Resource
    var reader: any ResourceReader
}

/// Opens the keys, sections and segments of a stream, and counts what was fetched of them.
final class PartReaders: Sendable {
    private struct State {
        /// The number of open readers of each resource.
        var uses: [StreamPart.Resource: Int] = [:]
        /// The totals of closed readers.
        var cachedBytes: Int64 = 0
        var readBytes: Int64 = 0
        var fetchedBytes: Int64 = 0
        var requestCount = 0
        var keepsParts = false
    }

    /// The reader of the stream's list.
    let list: any ResourceReader
    private let parts: SegmentParts
    private let state = Locked(State())

    init(_ list: any ResourceReader, _ parts: SegmentParts) {
        self.list = list
        self.parts = parts
    }

    /// `true` for a recording, whose parts are cached.
    var keepsParts: Bool {
        get { state.withLock { $0.keepsParts } }
        set { state.withLock { $0.keepsParts = newValue } }
    }

    /// Opens the part `name`, which is at `location` today; `likelyLength` is at least its likely length.
    func open(
        _ name: PartName?,
        at location: ResourceLocation,
        likelyLength: Int64 = 0,
        isLowPriority: Bool = false
    ) async throws -> StreamPart {
        let resource = StreamPart.Resource(location: location, name: keepsParts ? name : nil)
        return try await open(resource, likelyLength: likelyLength, isLowPriority: isLowPriority)
    }

    func open(_ resource: StreamPart.Resource, likelyLength: Int64 = 0, isLowPriority: Bool) async throws
        -> StreamPart
    {
        let reader: any ResourceReader
        if let name = resource.name, let cache = parts.cache {
            reader = try await cache.open(name, resource.location, likelyLength, list)
        } else {
            reader = try await parts.open(resource.location)
        }
        state.withLock { $0.uses[resource, default: 0] += 1 }
        if isLowPriority { reader.setPriority(isLow: true) }
        return StreamPart(resource: resource, reader: reader)
    }

    /// Closes the reader of `part`. The last reader of a resource adds what was fetched to the totals.
    func close(_ part: StreamPart) async {
        let report = part.reader.report
        let isLast = state.withLock { state in
            state.cachedBytes += report.cachedBytes
            state.readBytes += report.readBytes
            state.uses[part.resource, default: 1] -= 1
            guard state.uses[part.resource] == 0 else { return false }
            state.uses[part.resource] = nil
            return true
        }
        if isLast { count(report) }
        await part.reader.close()
    }

    /// All bytes of `range` of a short resource, or of all of it. Throws `.listTooLarge` if there are more
    /// than `most`; `subject` names them.
    func bytes(
        of name: PartName?,
        at location: ResourceLocation,
        _ range: ByteRange? = nil,
        atMost most: Int,
        subject: SafeText
    ) async throws -> [UInt8] {
        let part = try await open(name, at: location)
        do {
            let bytes = try await ByteSlice(part.reader, range).allBytes(atMost: most, of: subject)
            await close(part)
            return bytes
        } catch {
            await close(part)
            throw error
        }
    }

    /// Adds what a request of a list has fetched.
    func count(_ body: FetchedBody) {
        state.withLock { state in
            state.fetchedBytes += Int64(body.bytes?.count ?? 0)
            state.requestCount += body.answer.requestCount
        }
    }

    /// Adds what was fetched by a reader that is not one of these.
    func count(_ report: LoadReport) {
        state.withLock { state in
            state.fetchedBytes += report.fetchedBytes
            state.requestCount += report.requestCount
        }
    }

    /// Adds to `report` what closed readers have fetched, and those of `open`.
    func add(_ open: [StreamPart], to report: inout LoadReport) {
        var resources: Set<StreamPart.Resource> = []
        let reports = open.filter { resources.insert($0.resource).inserted }.map(\.reader.report)
        let closed = state.withLock { $0 }
        let opened = open.map(\.reader.report)
        report.cachedBytes += closed.cachedBytes + opened.map(\.cachedBytes).reduce(0, +)
        report.readBytes += closed.readBytes + opened.map(\.readBytes).reduce(0, +)
        report.fetchedBytes += closed.fetchedBytes + reports.map(\.fetchedBytes).reduce(0, +)
        report.requestCount += closed.requestCount + reports.map(\.requestCount).reduce(0, +)
        report.bytesPerSecond = reports.compactMap(\.bytesPerSecond).last ?? report.bytesPerSecond
        report.wait = reports.compactMap(\.wait).first
    }
}
