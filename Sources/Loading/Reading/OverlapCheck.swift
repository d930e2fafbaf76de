import Media

/// Compares what a server sends again with what is stored.
struct OverlapCheck {
    let expected: [UInt8]
    let start: Int64

    init(expected: [UInt8], at start: Int64) {
        self.expected = expected
        self.start = start
    }

    /// Whether `chunk`, which begins at `offset`, agrees with the stored bytes where both have any.
    func passes(_ chunk: [UInt8], at offset: Int64) -> Bool {
        let shared = (start..<start + Int64(expected.count)).intersection(
            offset..<offset + Int64(chunk.count)
        )
        guard !shared.isEmpty else { return true }
        let mine = expected[Int(shared.lowerBound - start)..<Int(shared.upperBound - start)]
        let sent = chunk[Int(shared.lowerBound - offset)..<Int(shared.upperBound - offset)]
        return mine.elementsEqual(sent)
    }
}

extension ByteStore {
    /// The bytes of `range` as far as they are stored from its start on.
    func bytes(in range: ByteRange) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < range.count {
            let offset = range.lowerBound + Int64(bytes.count)
            let more = try await read(at: offset, count: range.count - bytes.count)
            guard !more.isEmpty else { break }
            bytes += more
        }
        return bytes
    }
}
