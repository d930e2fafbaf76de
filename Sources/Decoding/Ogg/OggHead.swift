import Media

/// The head of the music in an Ogg resource: one logical stream, and the packets in front of its music.
///
/// In a chained resource, each of the streams that follow one another has a head.
struct OggHead {
    /// The most bytes in front of the music. Only pictures in comments take more than some kilobytes.
    private static let mostByteCount: Int64 = 32 << 20
    /// The most packets that are skipped in search of the headers, such as empty ones and repeated headers.
    private static let mostOthers = 64
    /// The most packets in front of the music that are kept. FLAC's packets after the comments are not
    /// needed.
    private static let mostHeaders = 3

    let serial: UInt32
    let codec: any OggCodec
    let headers: [[UInt8]]
    let comments: VorbisComments
    /// The offset of the first page of the music.
    let dataStart: Int64
    /// The most bytes of memory that the head takes. A longer packet of comments is cut to
    /// `OggPackets.longestPacket`.
    var byteCount: Int { headers.reduce(1_024) { $0 + 2 * $1.count } }

    /// Reads the head that begins with the next page, or with `first`, which was read already.
    ///
    /// Logical streams that are multiplexed with the music, such as video and Skeleton, are ignored. Throws
    /// if the resource has no music that is played.
    static func read(_ pages: OggPageReader, after first: OggPageWalk.Found? = nil) async throws -> OggHead {
        var chosen: (serial: UInt32, codec: any OggCodec)?
        var refusal: Refusal?
        var packets = OggPackets()
        var headers: [[UInt8]] = []
        var headerCount = 0
        var otherCount = 0
        var next = first
        let start = first?.offset ?? pages.walk.place
        while true {
            let read =
                if let next { Optional(next) } else {
                    try await pages.next(within: ByteWindow.mostForeignBytes)
                }
            next = nil
            guard let found = read, found.offset - start < Self.mostByteCount else {
                throw refusal ?? .damaged
            }
            let page = found.page
            if page.isFirst, chosen == nil {
                // A first page holds one short packet, so its body is that packet.
                do throws(Refusal) {
                    chosen = (page.serial, try OggCodecs.codec(of: found.body, after: refusal))
                } catch {
                    refusal = error
                }
            }
            guard let chosen else {
                // All first pages come before any other.
                guard page.isFirst else { throw refusal ?? .damaged }
                continue
            }
            guard page.serial == chosen.serial else { continue }
            func head(upTo end: Int64) -> OggHead {
                OggHead(
                    serial: chosen.serial,
                    codec: chosen.codec,
                    headers: headers,
                    comments: VorbisComments(headers.dropFirst().first.map(chosen.codec.comments) ?? []),
                    dataStart: end
                )
            }
            if headerCount > 0, !page.isContinued, chosen.codec.beginsMusic(found) {
                pages.goBack(to: found)
                return head(upTo: found.offset)
            }
            for packet in packets.receive(found).packets {
                guard chosen.codec.isHeader(packet, number: headerCount + 1) else {
                    otherCount += 1
                    guard otherCount <= mostOthers else { throw Refusal.damaged }
                    continue
                }
                headerCount += 1
                if headerCount <= mostHeaders { headers.append(packet) }
                if chosen.codec.endsHeaders(packet, number: headerCount) { return head(upTo: found.end) }
            }
            // The second header has the comments.
            if headerCount == 1 { packets.expectComments(after: chosen.codec.commentsMarkByteCount) }
        }
    }
}
