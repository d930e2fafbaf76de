import Media
import System

/// A reader of a part of the stream. Readers of one location share what was fetched, and its count.
struct StreamPart: Sendable {
    var location: ResourceLocation
    var reader: any ResourceReader
}

/// Opens the parts of a stream, which are lists, keys and segments, and counts what was fetched of them.
final class PartReaders: Sendable {
    private struct State {
        /// The number of open readers of each location.
        var uses: [ResourceLocation: Int] = [:]
        /// The totals of closed readers.
        var fetchedBytes: Int64 = 0
        var requestCount = 0
    }

    private let openPart: @Sendable (ResourceLocation) async throws -> any ResourceReader
    private let state = Locked(State())

    init(_ open: @escaping @Sendable (ResourceLocation) async throws -> any ResourceReader) {
        openPart = open
    }

    func open(_ location: ResourceLocation, isLowPriority: Bool = false) async throws -> StreamPart {
        let reader = try await openPart(location)
        state.withLock { $0.uses[location, default: 0] += 1 }
        if isLowPriority { reader.setPriority(isLow: true) }
        return StreamPart(location: location, reader: reader)
    }

    /// Closes the reader of `part`. The last reader of a location adds what was fetched to the totals.
    func close(_ part: StreamPart) async {
        let isLast = state.withLock { state in
            state.uses[part.location, default: 1] -= 1
            guard state.uses[part.location] == 0 else { return false }
            state.uses[part.location] = nil
            return true
        }
        if isLast { count(part.reader.report) }
        await part.reader.close()
    }

    /// All bytes of `range` of a short resource, or of all of it. Throws `.listTooLarge` if there are more
    /// than `most`; `subject` names them.
    func bytes(
        of location: ResourceLocation,
        _ range: ByteRange? = nil,
        atMost most: Int,
        subject: SafeText
    ) async throws -> [UInt8] {
        let part = try await open(location)
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
        var locations: Set<ResourceLocation> = []
        let reports = open.filter { locations.insert($0.location).inserted }.map(\.reader.report)
        let closed = state.withLock { $0 }
        report.fetchedBytes += closed.fetchedBytes + reports.map(\.fetchedBytes).reduce(0, +)
        report.requestCount += closed.requestCount + reports.map(\.requestCount).reduce(0, +)
        report.bytesPerSecond = reports.compactMap(\.bytesPerSecond).last ?? report.bytesPerSecond
        report.wait = reports.compactMap(\.wait).first
    }
}
