/// Decides what of a file is read before it is asked for. Pure.
///
/// A reader that reads on where its last read ended decodes between two reads. Meanwhile the next bytes are read, and
/// checked if necessary. They are held in memory until they are asked for or a read goes elsewhere.
package struct ReadAheadState: Sendable {
    /// The most bytes held, whatever a read asks for.
    package static let mostHeld = 128 * 1024

    /// The offset at which the last read ended.
    private var end: Int64?
    private var held: (start: Int64, bytes: [UInt8])?

    package init() {}

    /// Takes at most `count` held bytes for a read at `offset`; `nil` if none are held for it.
    package mutating func take(at offset: Int64, count: Int) -> [UInt8]? {
        guard let (start, bytes) = held, start == offset else { return nil }
        held = bytes.count > count ? (start + Int64(count), Array(bytes[count...])) : nil
        return bytes.count > count ? Array(bytes[..<count]) : bytes
    }

    /// A read at `offset` was answered with `count` bytes. Returns the offset from which to read ahead; `nil` if the read
    /// did not follow the one before, was empty, or left some held bytes.
    package mutating func answered(at offset: Int64, count: Int) -> Int64? {
        let (next, goesOn) = (offset + Int64(count), offset == end && count > 0)
        end = next
        guard goesOn, held?.start == next else {
            held = nil
            return goesOn ? next : nil
        }
        return nil
    }

    /// `bytes` were read ahead at `offset`; none if they are not stored or were damaged.
    package mutating func arrived(_ bytes: [UInt8], at offset: Int64) {
        // Useless if a read went elsewhere meanwhile.
        if offset == end, !bytes.isEmpty { held = (offset, bytes) }
    }

    /// Drops what is held, and what still arrives.
    package mutating func stop() {
        end = nil
        held = nil
    }
}
