import Media

/// The head of the music in an Ogg resource: one logical stream, and the packets in front of its music.
///
/// In a chained resource, each of the streams that follow one another has a head.
struct OggHead {
    /// The most bytes in front of the music. Only pictures, which may be among the comments, take more than
    /// some kilobytes.
    private static let mostByteCount: Int64 = 32 << 20
    /// The most packets that are skipped in search of the headers, such as empty ones and repeated headers.
    private static let mostOthers = 64
    /// The most packets in front of the music that are kept. FLAC's packets after the comments are not
    /// needed.
    private static let mostHeaders = 3

    let serial: UInt32
    let codec: any OggCodec
    /// The packets in front of the music. That of the comments, which no decoder needs, is empty.
    let headers: [[UInt8]]
    let comments: VorbisComments
    /// The offset of the first page of the music.
    let dataStart: Int64
    /// The most bytes of memory that the head takes.
    var byteCount: Int { headers.reduce(1_024 + 2 * comments.tags.textSize) { $0 + 2 * $1.count } }

    /// Reads the head that begins with the next page.
    ///
    /// Logical streams that are multiplexed with the music, such as video and Skeleton, are ignored. Throws
    /// if the resource has no music that is played.
    static func read(_ pages: OggPageReader) async throws -> OggHead {
        var chosen: (serial: UInt32, codec: any OggCodec)?
        var refusal: Refusal?
        var packets = OggPackets(upTo: Int(mostByteCount))
        var headers: [[UInt8]] = []
        var comments = VorbisComments([])
        var headerCount = 0
        var otherCount = 0
        let start = pages.walk.place
        while true {
            guard let found = try await pages.next(within: ByteWindow.mostForeignBytes),
                found.offset - start < Self.mostByteCount
            else { throw refusal ?? .damaged }
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
                    comments: comments,
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
                let isComments = headerCount == 2
                if isComments { comments = VorbisComments(chosen.codec.comments(in: packet)) }
                if headerCount <= mostHeaders { headers.append(isComments ? [] : packet) }
                if chosen.codec.endsHeaders(packet, number: headerCount) { return head(upTo: found.end) }
            }
        }
    }
}
