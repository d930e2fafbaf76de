/// What is read of a file before it is asked for: pure, without files or threads.
///
/// Who reads on where the last read ended uses the time between two reads for something else, mostly decoding:
/// meanwhile the next bytes are read, and checked where that has to be. They are held in memory until they are
/// asked for or a read goes elsewhere.
package struct ReadAheadState: Sendable {
    /// The most bytes that are to be held, whatever a read asks for.
    package static let mostHeld = 128 * 1024

    /// Where the last read ended.
    private var end: Int64?
    private var held: (start: Int64, bytes: [UInt8])?

    package init() {}

    /// Takes what is held for a read at `offset`, at most `count` bytes; nil where that is nothing.
    package mutating func take(at offset: Int64, count: Int) -> [UInt8]? {
        guard let (start, bytes) = held, start == offset else { return nil }
        held = bytes.count > count ? (start + Int64(count), Array(bytes[count...])) : nil
        return bytes.count > count ? Array(bytes[..<count]) : bytes
    }

    /// A read at `offset` was answered with `count` bytes. Returns from where on to read ahead; nil where it did
    /// not go on from the read before, gave nothing, or left some of what is held.
    package mutating func answered(at offset: Int64, count: Int) -> Int64? {
        let (next, goesOn) = (offset + Int64(count), offset == end && count > 0)
        end = next
        guard goesOn, held?.start == next else {
            held = nil
            return goesOn ? next : nil
        }
        return nil
    }

    /// What was read ahead at `offset`: no bytes, where none were stored or they were damaged.
    package mutating func arrived(_ bytes: [UInt8], at offset: Int64) {
        // Of no use any more where a read went elsewhere meanwhile.
        if offset == end, !bytes.isEmpty { held = (offset, bytes) }
    }

    /// Nothing is held any more, and nothing that arrives will be.
    package mutating func stop() {
        end = nil
        held = nil
    }
}
