import Media
import System

/// The music of a segment that is encrypted with AES-128 in CBC mode and padding by PKCS #7 (RFC 8216
/// §4.3.2.4).
///
/// A block is decrypted with the block before it, so reads may begin anywhere. The padding, and with it the
/// length, is known once the last block was read. Bytes after the last whole block are ignored, and padding
/// that is none is taken for music: the demuxer passes over it.
final class DecryptedSource: ByteSource {
    static let blockByteCount: Int64 = 16

    private let cipher: any ByteSource
    private let key: [UInt8]
    private let vector: [UInt8]
    private let decrypt: SegmentParts.Decrypt
    /// `nil` until the last block was read.
    private let end = Locked<Int64?>(nil)

    /// `vector` is the block before the first one of `cipher`.
    init(_ cipher: any ByteSource, key: [UInt8], vector: [UInt8], decrypt: @escaping SegmentParts.Decrypt) {
        self.cipher = cipher
        self.key = key
        self.vector = vector
        self.decrypt = decrypt
    }

    var length: Int64? { end.withLock { $0 } }
    var arrivesInOrder: Bool { cipher.arrivesInOrder }

    func read(at offset: Int64, count: Int) async throws -> [UInt8] {
        try await read(at: offset, count: count, waits: true)
    }

    func readStored(at offset: Int64, count: Int) async throws -> [UInt8] {
        try await read(at: offset, count: count, waits: false)
    }

    func willRead(_ range: ByteRange) { cipher.willRead(Self.blocks(of: range)) }

    func prefetch(_ range: ByteRange) { cipher.prefetch(Self.blocks(of: range)) }

    func isStored(_ range: ByteRange) -> Bool {
        let blocks = Self.blocks(of: range)
        return cipher.isStored(blocks.lowerBound..<min(blocks.upperBound, cipher.length ?? .max))
    }

    /// The blocks that are needed for `range`: those with its bytes, the one before them, and the one after
    /// them, which shows that they are not the last.
    private static func blocks(of range: ByteRange) -> ByteRange {
        let first = range.lowerBound / blockByteCount * blockByteCount
        let last = (range.upperBound / blockByteCount + 2) * blockByteCount
        return max(0, first - blockByteCount)..<last
    }

    /// With `waits`, reads from the network too.
    private func read(at offset: Int64, count: Int, waits: Bool) async throws -> [UInt8] {
        guard count > 0, offset < length ?? .max else { return [] }
        let size = Int(Self.blockByteCount)
        let needed = Self.blocks(of: offset..<offset + Int64(count))
        let first = offset / Self.blockByteCount * Self.blockByteCount
        var blocks: [UInt8] = []
        var isAtEnd = false
        // Until one block is known to be no last one, or the source ends.
        while Int64(blocks.count) < first - needed.lowerBound + 2 * Self.blockByteCount {
            let next = needed.lowerBound + Int64(blocks.count)
            let left = needed.count - blocks.count
            let more =
                waits
                ? try await cipher.read(at: next, count: left)
                : try await cipher.readStored(at: next, count: left)
            blocks += more
            if more.isEmpty {
                isAtEnd = waits
                break
            }
        }
        let reached = needed.lowerBound + Int64(blocks.count)
        isAtEnd = isAtEnd || reached == cipher.length
        let before = first == 0 ? vector : Array(blocks.prefix(size))
        var body = first == 0 ? blocks[...] : blocks.dropFirst(size)
        body = body.prefix(body.count / size * size)
        // Without the end, the last block may be padded.
        if !isAtEnd { body = body.dropLast(size) }
        guard before.count == size, !body.isEmpty else { return [] }
        var plain = try await decrypt(body, key, before)
        if isAtEnd {
            plain.removeLast(Self.padding(of: plain))
            end.withLock { $0 = first + Int64(plain.count) }
        }
        return Array(plain.dropFirst(Int(offset - first)).prefix(count))
    }

    /// The number of padding bytes at the end of `plain`; 0 if there is no correct padding.
    private static func padding(of plain: [UInt8]) -> Int {
        guard let last = plain.last, (1...UInt8(blockByteCount)).contains(last),
            plain.suffix(Int(last)).allSatisfy({ $0 == last })
        else { return 0 }
        return Int(last)
    }
}
