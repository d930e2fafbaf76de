import Media
import System

@testable import Segments

extension FakeWeb {
    /// Caches the parts of streams in memory: all of a part once it was opened.
    func cache(isOffline: Bool = false, isKept: Bool = false) -> StreamCache {
        StreamCache(
            open: { [self] name, location, _, list in
                let path = (list as? FakeReader)?.path ?? ""
                if let kept = state.withLock({ $0.kept[path]?[name] }) { return KeptReader(kept) }
                let reader = open(location)
                state.withLock { state in
                    if let body = state.bodies[location.path] { state.kept[path, default: [:]][name] = body }
                }
                return reader
            },
            openStored: { [self] name, _, list in
                let path = (list as? FakeReader)?.path ?? ""
                return state.withLock { $0.kept[path]?[name] }.map { KeptReader($0) }
            },
            keep: { [self] name, _, body, list in
                let path = (list as? FakeReader)?.path ?? ""
                state.withLock { $0.kept[path, default: [:]][name] = body.bytes }
            },
            replace: { [self] location, isChange in
                state.withLock { state in
                    state.tables[location.path] = nil
                    state.kept[location.path] = nil
                    if isChange { state.changes += 1 }
                }
                return open(location)
            },
            openRendition: { [self] rendition, location in
                let path = location.path
                state.withLock { state in
                    if let table = state.tables[path] {
                        state.others[path, default: []].append((table, state.kept[path] ?? [:]))
                    }
                    let place = state.others[path]?.firstIndex { $0.table.rendition.starts(with: rendition) }
                    let other = place.flatMap { state.others[path]?.remove(at: $0) }
                    state.tables[path] = other?.table
                    state.kept[path] = other?.kept
                }
                return open(location)
            },
            isKept: { isKept },
            isOffline: { isOffline }
        )
    }

    func contents(of path: String) -> StreamContents? {
        state.withLock { state in
            guard let table = state.tables[path] else { return nil }
            var stored = ByteRangeSet()
            var places: [PartPlace] = []
            for (name, bytes) in state.kept[path] ?? [:] {
                guard case .segments(let number) = name else { continue }
                let region = Int64(number) << 24..<Int64(number + 1) << 24
                places.append(PartPlace(segment: number, region: region, length: Int64(bytes.count)))
                stored.insert(contentsOf: region.lowerBound..<region.lowerBound + Int64(bytes.count))
            }
            places.sort { $0.segment < $1.segment }
            return StreamContents(of: table, at: places, stored: stored)
        }
    }
}

/// Reads a cached part.
private final class KeptReader: ResourceReader {
    private let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var length: Int64? { Int64(bytes.count) }

    func read(at offset: Int64, count: Int) async throws -> [UInt8] {
        Array(bytes.dropFirst(Int(min(offset, Int64(bytes.count)))).prefix(count))
    }

    func isStored(_ range: ByteRange) -> Bool { true }
    var report: LoadReport { LoadReport() }
    func allowReadAhead(bytesPerSecond: Double) {}
    func fill() {}
    func reject() async {}
    func store(_ value: [UInt8], as fact: DerivedFact) {}
    func stored(_ fact: DerivedFact) -> [UInt8] { [] }
    func store(_ facts: TrackFacts) {}
    func close() async {}
}
