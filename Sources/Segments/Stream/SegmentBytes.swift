import Media
import System

extension ByteSource {
    /// All bytes, if there are at most `most`. Throws `.listTooLarge` if there are more; `subject` names
    /// them.
    func allBytes(atMost most: Int, of subject: SafeText) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        while true {
            let offset = Int64(bytes.count)
            willRead(offset..<offset + Int64(ByteSlice.requestByteCount))
            let more = try await read(at: offset, count: ByteSlice.requestByteCount)
            if more.isEmpty { return bytes }
            bytes += more
            guard bytes.count <= most else {
                throw MediaError(.listTooLarge, subject, "longer than any of its kind – try another stream")
            }
        }
    }
}

/// The bytes of a resource that are one segment. Each request brings up to 1 MiB of them.
final class ByteSlice: ByteSource {
    static let requestByteCount = 1 << 20

    private let source: any ByteSource
    private let range: ByteRange
    /// The offset in `source` up to which reads were announced.
    private let announced: Locked<Int64>

    /// The bytes `range` of `source`, or all of them.
    init(_ source: any ByteSource, _ range: ByteRange?) {
        self.source = source
        self.range = range ?? 0..<Int64.max
        announced = Locked(self.range.lowerBound)
    }

    /// Announces that the bytes from `offset` on are read, unless they were announced.
    private func announce(_ offset: Int64) {
        let end = min(range.upperBound, offset + Int64(Self.requestByteCount))
        let isNew = announced.withLock { announced in
            guard offset >= announced else { return false }
            announced = end
            return true
        }
        if isNew, offset < end { source.willRead(offset..<end) }
    }

    var length: Int64? {
        guard range.upperBound == .max else { return Int64(range.count) }
        return source.length
    }

    var arrivesInOrder: Bool { source.arrivesInOrder }

    func read(at offset: Int64, count: Int) async throws -> [UInt8] {
        let wanted = wanted(offset, count)
        guard !wanted.isEmpty else { return [] }
        announce(wanted.lowerBound)
        return try await source.read(at: wanted.lowerBound, count: wanted.count)
    }

    func readStored(at offset: Int64, count: Int) async throws -> [UInt8] {
        let wanted = wanted(offset, count)
        return wanted.isEmpty ? [] : try await source.readStored(at: wanted.lowerBound, count: wanted.count)
    }

    func willRead(_ range: ByteRange) { source.willRead(wanted(range.lowerBound, range.count)) }

    func prefetch(_ range: ByteRange) { source.prefetch(wanted(range.lowerBound, range.count)) }

    func isStored(_ range: ByteRange) -> Bool { source.isStored(wanted(range.lowerBound, range.count)) }

    private func wanted(_ offset: Int64, _ count: Int) -> ByteRange {
        let start = range.lowerBound + min(offset, Int64(range.count))
        return start..<start + min(Int64(count), range.upperBound - start)
    }
}

/// Bytes in memory, such as an initialisation section.
final class HeldSection: ByteSource {
    private let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var length: Int64? { Int64(bytes.count) }

    func read(at offset: Int64, count: Int) async throws -> [UInt8] {
        Array(bytes.dropFirst(Int(min(offset, Int64(bytes.count)))).prefix(count))
    }

    func isStored(_ range: ByteRange) -> Bool { true }
}

/// The segment of a stream, for which there is a remedy if it cannot be loaded: the server may have removed
/// it, or changed its URL.
final class ReplaceableSource: ByteSource {
    enum Remedy {
        /// These are the same bytes, at another place.
        case other(any ByteSource)
        /// The bytes that follow are passed over.
        case passOver
    }

    /// `nil` once its bytes are passed over.
    private let source: Locked<(any ByteSource)?>
    private let onRead: @Sendable (MediaError?) async throws -> Remedy?

    /// Calls `onRead` after each read that needs the network, with the error if there is one, which is thrown
    /// if there is no remedy and `onRead` throws no other one.
    init(_ source: any ByteSource, onRead: @escaping @Sendable (MediaError?) async throws -> Remedy?) {
        self.source = Locked(source)
        self.onRead = onRead
    }

    private var current: (any ByteSource)? { source.withLock { $0 } }

    var length: Int64? { current?.length }
    var arrivesInOrder: Bool { current?.arrivesInOrder ?? false }

    func read(at offset: Int64, count: Int) async throws -> [UInt8] {
        while let source = current {
            do {
                let bytes = try await source.read(at: offset, count: count)
                _ = try await onRead(nil)
                return bytes
            } catch let error as MediaError {
                switch try await onRead(error) {
                case .other(let other): self.source.withLock { $0 = other }
                case .passOver: self.source.withLock { $0 = nil }
                case nil: throw error
                }
            }
        }
        return []
    }

    func isStored(_ range: ByteRange) -> Bool { current?.isStored(range) ?? true }
}
