import Media

/// The bytes of a resource in windows that were read, the last few of which are held.
final class HeldBytes {
    private static let readByteCount = ByteWindow.requestByteCount
    private static let mostWindows = 3
    /// The most bytes before the wanted ones that a window keeps: a packet, and boxes.
    private static let mostBehind = 128 << 10
    /// The most bytes to read in search of packets; a jump counts as much as a read.
    private static let mostSearched = ByteWindow.mostForeignBytes

    private let source: any ByteSource
    /// The one that was used last comes last.
    private var windows: [ByteWindow]
    private var searched: Int64 = 0

    init(_ source: any ByteSource, _ first: ByteWindow) {
        self.source = source
        windows = [first]
    }

    var length: Int64? { source.length }

    /// Begins to count a search, for the head of the file or for a packet.
    func beginSearch() { searched = 0 }

    /// `true` if the search that began last has cost too much to go on.
    var isSearchOver: Bool { searched >= Self.mostSearched }

    /// Counts `byteCount` bytes that were examined in the search.
    func search(_ byteCount: Int) { searched += Int64(byteCount) }

    /// The bytes of `range`; fewer at the end of the resource. A read requests `ahead` bytes after the held
    /// ones.
    func bytes(in range: ByteRange, ahead: Int = readByteCount) async throws -> ArraySlice<UInt8> {
        var index = windows.lastIndex { window in
            (window.start...window.end).contains(range.lowerBound)
                && (window.end > range.lowerBound || !window.isAtEnd)
        }
        if index == nil {
            windows.append(ByteWindow(source, at: range.lowerBound))
            search(Self.readByteCount)
            if windows.count > Self.mostWindows { windows.removeFirst() }
            index = windows.count - 1
        }
        guard let index else { return [] }
        // The window is put back even if the task is cancelled during a read.
        var window = windows.remove(at: index)
        defer { windows.append(window) }
        let needed = Int(range.upperBound - window.start)
        if window.bytes.count < needed {
            let behind = Int(range.lowerBound - window.start)
            if behind > Self.mostBehind { window = window.dropping(behind) }
            let count = Int(range.upperBound - window.start)
            let held = window.bytes.count
            try await window.fill(count, askingUpTo: max(count, held + ahead))
            search(window.bytes.count - held)
        }
        let first = Int(range.lowerBound - window.start)
        return window.bytes[min(first, window.bytes.count)...].prefix(range.count)
    }

    func held(in range: ByteRange) -> ArraySlice<UInt8>? {
        guard let window = windows.last(where: { $0.start <= range.lowerBound && range.upperBound <= $0.end })
        else { return nil }
        return window.bytes[Int(range.lowerBound - window.start)...].prefix(range.count)
    }

    /// The bytes of `range` in a table; fewer at the end of the resource. Stored bytes are read without
    /// affecting the music's read-ahead.
    func tableBytes(in range: ByteRange) async throws -> [UInt8] {
        if let held = held(in: range) { return Array(held) }
        if let stored = try await source.allStored(in: range) { return stored }
        return Array(try await bytes(in: range))
    }
}
