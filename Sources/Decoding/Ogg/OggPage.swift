import Glibc
import Media

/// A page of an Ogg stream (RFC 3533 §6). Pure.
struct OggPage: Equatable {
    /// The length of a head without its table of lacing values.
    static let headByteCount = 27
    /// The largest page: a head, 255 lacing values, and as many segments of 255 bytes.
    static let mostByteCount = headByteCount + 255 + 255 * 255
    private static let mark = Array("OggS".utf8)

    /// `true` if the first segments continue a packet of the page before.
    let isContinued: Bool
    /// `isFirst` is `true` for the first page of a logical stream, and `isLast` for the last one.
    let isFirst: Bool
    let isLast: Bool
    /// The position at the end of the last packet that ends on the page, in a unit of the codec; `nil` if no
    /// packet does, or if the number is impossible.
    let granule: Int64?
    /// Identifies the logical stream.
    let serial: UInt32
    /// Counts the pages of the logical stream.
    let sequence: UInt32
    /// The lengths of the segments; a packet ends with the first one below 255.
    let lacing: [UInt8]

    /// The length of the page with its head.
    var byteCount: Int { headByteCount + bodyByteCount }
    var headByteCount: Int { Self.headByteCount + lacing.count }
    private var bodyByteCount: Int { lacing.reduce(0) { $0 + Int($1) } }

    /// `true` if a packet begins on the page and ends on it, so that decoding can begin with the page.
    var hasWholePacket: Bool { lacing.count { $0 < 255 } > (isContinued ? 1 : 0) }

    /// The head of the page that begins at `index` of `bytes`; `nil` if there is none, or if its table of
    /// lacing values is not in `bytes`. The checksum is not checked.
    init?(headAt index: Int, of bytes: UnsafeRawBufferPointer) {
        let rest = bytes.count - index
        guard rest >= Self.headByteCount, Self.isMark(bytes, at: index), bytes[index + 4] == 0,
            bytes[index + 5] < 8
        else { return nil }
        let segments = Int(bytes[index + 26])
        guard rest >= Self.headByteCount + segments else { return nil }
        func number<Value: FixedWidthInteger>(_ offset: Int) -> Value {
            Value(littleEndian: bytes.loadUnaligned(fromByteOffset: index + offset, as: Value.self))
        }
        let flags = bytes[index + 5]
        isContinued = flags & 1 != 0
        isFirst = flags & 2 != 0
        isLast = flags & 4 != 0
        let granule: Int64 = number(6)
        self.granule = (0...PlaceTable.farthest).contains(granule) ? granule : nil
        serial = number(14)
        sequence = number(18)
        let table = index + Self.headByteCount
        lacing = Array(bytes[table..<table + segments])
    }

    /// The first index in `bytes`, from `index` on, at which a page may begin; at the end of `bytes` its mark
    /// may be cut.
    static func firstMark(in bytes: UnsafeRawBufferPointer, from index: Int) -> Int {
        var index = index
        while index < bytes.count, let start = bytes.baseAddress {
            guard let found = memchr(start + index, CInt(mark[0]), bytes.count - index) else { break }
            index = UnsafeRawPointer(found) - start
            if isMark(bytes, at: index) { return index }
            index += 1
        }
        return max(index, bytes.count)
    }

    private static func isMark(_ bytes: UnsafeRawBufferPointer, at index: Int) -> Bool {
        for offset in 0..<min(mark.count, bytes.count - index) where bytes[index + offset] != mark[offset] {
            return false
        }
        return true
    }

    /// `true` if `bytes`, a whole page, have the checksum that their head states.
    static func isIntact(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let stated = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 22, as: UInt32.self))
        return checksum(of: bytes) == stated
    }

    /// The checksum of a page, in which the bytes of the checksum itself count as zeros: CRC-32 with the
    /// polynomial 0x04C11DB7, without reflection.
    static func checksum(of bytes: UnsafeRawBufferPointer) -> UInt32 {
        var sum: UInt32 = 0
        checksums.withUnsafeBufferPointer { table in
            var index = 0
            while index < bytes.count {
                let byte = index < 22 || index >= 26 ? bytes[index] : 0
                sum = sum << 8 ^ table[Int(UInt8(truncatingIfNeeded: sum >> 24) ^ byte)]
                index += 1
            }
        }
        return sum
    }

    /// The checksum of each byte.
    static let checksums: [UInt32] = (0..<256).map { byte in
        (0..<8).reduce(UInt32(byte) << 24) { sum, _ in sum << 1 ^ (sum >> 31 == 1 ? 0x04C1_1DB7 : 0) }
    }
}

/// Finds the pages in consecutive bytes. Pure.
///
/// Bytes that are not part of an intact page are skipped. No more than a page and one read is held.
struct OggPageWalk {
    struct Found {
        let page: OggPage
        /// The offset of the page in the resource.
        let offset: Int64
        /// The segments, one after the other.
        let body: [UInt8]

        /// The offset after the page.
        var end: Int64 { offset + Int64(page.byteCount) }
    }

    private var bytes: [UInt8]
    /// The number of `bytes` that were walked.
    private var index = 0
    /// The offset in the resource of the first of `bytes`.
    private var start: Int64
    /// Bytes so far that belong to no intact page.
    private(set) var skippedByteCount: Int64 = 0
    /// The number of bytes in damaged pages whose checksums were computed.
    private(set) var vainByteCount: Int64 = 0
    /// The most damaged pages that may contain a skipped byte, on average. Stated lengths can make pages
    /// overlap, and the checksum of each is computed, so a hostile stream could cost much time.
    private static let mostVain: Int64 = 16

    /// A walk from `offset` on. `bytes` are those at `offset` that were read already.
    init(at offset: Int64, holding bytes: [UInt8] = []) {
        start = offset
        self.bytes = bytes
    }

    /// The offset of the next byte to add.
    var end: Int64 { start + Int64(bytes.count) }

    /// The offset of the first byte that was not walked yet.
    var place: Int64 { start + Int64(index) }

    /// Finds `page` again with the next call of `next`. It is the page that was found last.
    mutating func goBack(to page: Found) { index = max(0, Int(page.offset - start)) }

    mutating func add(_ more: [UInt8]) {
        if index > 0 {
            bytes.removeFirst(index)
            start += Int64(index)
            index = 0
        }
        bytes += more
    }

    /// The next page; `nil` if more bytes are needed.
    mutating func next() -> Found? {
        while true {
            let (mark, page, isCut, isIntact) = bytes.withUnsafeBytes { bytes in
                let mark = OggPage.firstMark(in: bytes, from: index)
                let isCut = bytes.count - mark < OggPage.headByteCount
                guard !isCut, let page = OggPage(headAt: mark, of: bytes) else {
                    // The head of a page with many segments may be cut too.
                    let isLong = !isCut && bytes.count - mark < OggPage.headByteCount + Int(bytes[mark + 26])
                    return (mark, OggPage?.none, isCut || isLong, false)
                }
                guard bytes.count - mark >= page.byteCount else { return (mark, page, true, false) }
                let whole = UnsafeRawBufferPointer(rebasing: bytes[mark..<mark + page.byteCount])
                return (mark, page, false, OggPage.isIntact(whole))
            }
            skippedByteCount += Int64(mark - index)
            index = mark
            if isCut { return nil }
            guard let page, isIntact else {
                // This is no page, or a damaged one with perhaps a wrong length: the next page may begin
                // within it.
                let length = page?.byteCount ?? 0
                vainByteCount += Int64(length)
                let isTooMany =
                    vainByteCount > Self.mostVain * (skippedByteCount + Int64(OggPage.mostByteCount))
                let step = isTooMany ? length : 1
                index += step
                skippedByteCount += Int64(step)
                continue
            }
            let end = mark + page.byteCount
            let found = Found(
                page: page,
                offset: start + Int64(mark),
                body: Array(bytes[mark + page.headByteCount..<end])
            )
            index = end
            return found
        }
    }

    /// Declares that the resource ends with the bytes added so far. Bytes that looked like a page which is
    /// cut are then damage: `next` continues after their first byte. Returns `false` if no bytes are left.
    mutating func ended() -> Bool {
        guard index < bytes.count else { return false }
        index += 1
        skippedByteCount += 1
        return true
    }
}
