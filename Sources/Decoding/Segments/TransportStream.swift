import Media

/// Finds the sound in an MPEG transport stream (ISO/IEC 13818-1): the bytes of the first stream that is
/// played, and titles in ID3 tags. Pure.
struct TransportStream: SoundContainer {
    /// The most scrambled packets before the first clear one; a few may be damaged.
    private static let mostScrambled = 64
    /// The longest tag that is read for its title.
    private static let longestTag = 16 << 10

    /// The bytes that were not unwrapped yet.
    private var bytes: [UInt8] = []
    /// The parts that were unwrapped; the first one comes last.
    private var parts: [SoundPart] = []
    /// The sound after them, and the time of the first frame that begins in it.
    private var run: [UInt8] = []
    private var time: MediaTime?
    private var tables = ProgramTables()
    private var clock: MediaClock
    private var sound = PESWalk()
    private var titles = PESWalk()
    /// The bytes of a tag that is not complete; empty outside tags.
    private var tag: [UInt8] = []
    /// The number of scrambled packets before the first clear one.
    private var scrambledCount = 0
    private var isClear = false

    init(_ clock: MediaClock) { self.clock = clock }

    mutating func beginSegment() {
        bytes = []
        // Each segment may count its packets anew.
        tables.forgetCounters()
        sound.counter = PacketCounter()
        titles.counter = PacketCounter()
    }

    mutating func append(_ more: [UInt8]) { bytes += more }

    mutating func next() throws(Refusal) -> SoundPart {
        if parts.isEmpty { try unwrap() }
        return parts.popLast() ?? .needMore
    }

    /// Unwraps all packets in `bytes`.
    private mutating func unwrap() throws(Refusal) {
        let all = bytes
        var index = 0
        defer {
            bytes = Array(all[index...])
            flush()
            parts.reverse()
        }
        while let start = TransportPacket.start(in: all, from: &index) {
            index = start + TransportPacket.byteCount
            if let packet = TransportPacket(all[start..<index]) { try receive(packet) }
        }
    }

    private mutating func flush() {
        guard !run.isEmpty else { return }
        parts.append(.sound(run, time))
        run = []
        time = nil
    }

    private mutating func receive(_ packet: TransportPacket) throws(Refusal) {
        let earlier = tables.sound
        try tables.receive(packet)
        if tables.sound != earlier {
            sound = PESWalk()
            flush()
            parts.append(.restart)
        }
        if packet.stream == tables.sound?.stream {
            guard !packet.isScrambled else { return try countScrambled() }
            isClear = true
            guard let (payload, stamp) = sound.receive(packet) else { return }
            if let stamp {
                flush()
                time = MediaTime(time: clock.time(of: stamp))
            }
            run += payload
        } else if packet.stream == tables.titles, let (payload, _) = titles.receive(packet) {
            collect(payload, isStart: packet.isStart)
        }
    }

    private mutating func countScrambled() throws(Refusal) {
        scrambledCount += isClear ? 0 : 1
        if scrambledCount > Self.mostScrambled { throw Refusal("Scrambled MPEG-TS (DRM)") }
    }

    /// Reads the title in the tag with which a PES packet begins, once the tag is complete.
    private mutating func collect(_ payload: ArraySlice<UInt8>, isStart: Bool) {
        if isStart { tag = [] } else if tag.isEmpty { return }
        tag += payload
        let length = ID3v2Header(tag[...])?.tagByteCount ?? ID3v2Header.byteCount
        guard tag.count >= length || length > Self.longestTag else { return }
        if length <= Self.longestTag, let title = ID3v2Tag(tag[..<length])?.tags.songTitle {
            flush()
            parts.append(.title(title))
        }
        tag = []
    }
}

/// A packet of a transport stream (§2.4.3.2).
struct TransportPacket {
    static let byteCount = 188
    static let mark: UInt8 = 0x47

    /// The number of its stream, the PID.
    let stream: Int
    /// `true` if a PES packet or a section begins in it.
    let isStart: Bool
    let isScrambled: Bool
    let counter: UInt8
    let payload: ArraySlice<UInt8>

    /// `nil` if the packet is damaged or has no payload.
    init?(_ bytes: ArraySlice<UInt8>) {
        let first = bytes.startIndex
        let flags = bytes[first + 3]
        guard bytes[first + 1] & 0x80 == 0, flags & 0x10 != 0 else { return nil }
        isStart = bytes[first + 1] & 0x40 != 0
        stream = Int(bytes[first + 1...first + 2].bigEndianNumber & 0x1FFF)
        isScrambled = flags & 0xC0 != 0
        counter = flags & 15
        let adaptation = flags & 0x20 == 0 ? 0 : 1 + Int(bytes[first + 4])
        guard 4 + adaptation < Self.byteCount else { return nil }
        payload = bytes[(first + 4 + adaptation)...]
    }

    /// The index of the first packet in `bytes` from `index` on; `nil` if none is complete. `index` becomes
    /// that of the first byte that is still needed.
    static func start(in bytes: [UInt8], from index: inout Int) -> Int? {
        while index + byteCount <= bytes.count {
            if bytes[index] == mark { return index }
            // Elsewhere a mark counts only if another one follows.
            repeat { index += 1 } while index < bytes.count && !hasMarks(bytes, 2, at: index)
        }
        return nil
    }

    /// `true` if the marks of `count` packets of `length` bytes begin at `index`, as far as `bytes` go.
    static func hasMarks(_ bytes: [UInt8], _ count: Int, at index: Int, every length: Int = byteCount) -> Bool
    {
        stride(from: index, to: min(index + count * length, bytes.count), by: length)
            .allSatisfy { bytes[$0] == mark }
    }
}

/// Detects packets that were lost from a stream. What was begun in them is then not completed.
struct PacketCounter {
    private var last: UInt8?

    /// `true` if packets are missing before `packet`, the next one of the stream.
    mutating func hasGap(before packet: TransportPacket) -> Bool {
        defer { last = packet.counter }
        return last.map { packet.counter != ($0 + 1) & 15 } ?? false
    }
}

/// Finds what the PES packets of a stream contain (§2.4.3.6). Pure.
///
/// Their stated lengths are not believed: a PES packet ends where the next one begins. So those of unknown
/// length need no rule of their own.
struct PESWalk {
    private static let shortestHead = 9

    var counter = PacketCounter()
    /// The bytes of a head that is not complete; `nil` after it.
    private var head: [UInt8]?
    /// `true` if the content of a PES packet goes on.
    private var isInside = false

    /// The content in `packet`, and the time that a head in it states, in 90,000ths of a second; `nil`
    /// without content.
    mutating func receive(_ packet: TransportPacket) -> (content: ArraySlice<UInt8>, stamp: Int64?)? {
        let hasGap = counter.hasGap(before: packet)
        if packet.isStart {
            head = []
            isInside = false
        } else if hasGap {
            head = nil
        }
        guard var bytes = head else { return isInside ? (packet.payload, nil) : nil }
        bytes += packet.payload
        head = bytes
        guard bytes.count >= Self.shortestHead else { return nil }
        // Another packet, or one without these fields, is passed over up to the next start.
        guard bytes.starts(with: [0, 0, 1]), bytes[6] & 0xC0 == 0x80 else {
            head = nil
            return nil
        }
        let end = Self.shortestHead + Int(bytes[8])
        guard bytes.count >= end else { return nil }
        head = nil
        isInside = true
        return (bytes[end...], bytes[7] & 0x80 != 0 && bytes[8] >= 5 ? Self.stamp(bytes[9..<14]) : nil)
    }

    private static func stamp(_ bytes: ArraySlice<UInt8>) -> Int64 {
        let all = bytes.bigEndianNumber
        return (all >> 33 & 7) << 30 | (all >> 17 & 0x7FFF) << 15 | (all >> 1 & 0x7FFF)
    }
}
