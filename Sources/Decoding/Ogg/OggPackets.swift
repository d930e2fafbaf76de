/// Joins the segments of one logical stream's pages to packets (RFC 3533 §5). Pure.
struct OggPackets {
    /// The most bytes of a packet that are kept, unless a codec has longer packets.
    static let longestPacket = 256 << 10

    /// The packets that end on a page.
    struct Content {
        var packets: [[UInt8]] = []
        /// The position at the end of the last packet.
        var granule: Int64?
        /// `true` if nothing of the logical stream follows.
        var isLast = false
        /// `true` if packets in front of these are missing.
        var followsHole = false
    }

    /// The packet that the next page continues; `nil` if none does.
    private var partial: [UInt8]?
    private var sequence: UInt32?
    private let mostBytes: Int

    init(upTo mostBytes: Int = longestPacket) { self.mostBytes = mostBytes }

    /// Takes the next page of the logical stream.
    mutating func receive(_ found: OggPageWalk.Found) -> Content {
        let page = found.page
        var content = Content(granule: page.granule, isLast: page.isLast)
        let isNext = sequence.map { $0 &+ 1 == page.sequence } ?? true
        sequence = page.sequence
        if !isNext {
            partial = nil
            content.followsHole = true
        }
        // The page begins with the end of a packet whose start is missing, which is dropped.
        var isLost = page.isContinued && partial == nil
        var start = 0
        // Only the open packet counts, not the page's flag: some encoders forget to set it.
        var isOpen = page.isContinued || partial != nil
        var packet = partial ?? []
        partial = nil
        for length in page.lacing {
            let end = start + Int(length)
            if !isLost, packet.count < mostBytes { packet += found.body[start..<end] }
            start = end
            isOpen = length == 255
            guard !isOpen else { continue }
            if !isLost { content.packets.append(packet) }
            packet = []
            isLost = false
        }
        if isOpen, !isLost { partial = packet }
        return content
    }
}
