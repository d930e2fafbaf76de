import Media

/// The packets of FLAC in Ogg (RFC 9639 §10.1): the first one has STREAMINFO, the next ones have one other
/// metadata block each, comments first, and all later ones have a frame each. Pure.
enum FLACMapping {
    static let mark = Array("\u{7F}FLAC".utf8)
    /// The mark, a version of two numbers, the number of packets with metadata, and the mark of a FLAC
    /// stream.
    private static let prefixByteCount = 13
    static let blockHeadByteCount = 4
    private static let majorVersion: UInt8 = 1
    private static let commentsKind: UInt8 = 4

    /// The STREAMINFO in `packet`, the first one of a stream.
    static func stream(_ packet: [UInt8]) throws(Refusal) -> FLACStreamInfo {
        let block = packet.dropFirst(prefixByteCount)
        guard packet.dropFirst(mark.count).first == majorVersion,
            packet.prefix(prefixByteCount).suffix(4).elementsEqual("fLaC".utf8), block.first.map(kind) == 0,
            let stream = FLACStreamInfo(
                block.dropFirst(blockHeadByteCount).prefix(FLACStreamInfo.byteCount)
            )
        else { throw .damaged }
        guard PCMLayout.rates.contains(stream.sampleRate) else {
            throw Refusal("Ogg FLAC with an impossible rate")
        }
        return stream
    }

    /// `true` if the metadata block in `packet`, number `number` of the stream, is the last one.
    static func isLast(_ packet: [UInt8], number: Int) -> Bool {
        let block = packet.dropFirst(number == 1 ? prefixByteCount : 0)
        return block.first.map { $0 & 0x80 != 0 } ?? false
    }

    /// The list of comments in `packet`; empty if it is another block.
    static func comments(in packet: [UInt8]) -> [UInt8] {
        packet.first.map(kind) == commentsKind ? Array(packet.dropFirst(blockHeadByteCount)) : []
    }

    private static func kind(_ byte: UInt8) -> UInt8 { byte & 0x7F }
}

extension FLACMapping {
    /// Decodes the stream that begins with the next page: `true` if it is FLAC whose samples do not have the
    /// MD5 that it states, because it is damaged or cut short. `false` for other codecs, for FLAC that states
    /// no MD5, and without libFLAC. Streams that follow in a chain are not checked.
    static func isDamaged(_ pages: OggPageReader) async throws -> Bool {
        let head: OggHead
        let decoder: FLACHandle
        do {
            head = try await OggHead.read(pages)
            guard case .flac(let stated) = head.codec, stated.digest != nil else { return false }
            decoder = try await FLACHandle.opened(for: stated, of: "", checksDigest: true)
        } catch is Refusal {
            return false
        } catch is MediaError {
            return false
        }
        var packets = OggPackets(upTo: head.codec.longestPacket)
        while let found = try await pages.next(), found.page.serial == head.serial || !found.page.isFirst {
            guard found.page.serial == head.serial else { continue }
            for packet in packets.take(found).packets where !packet.isEmpty {
                guard decoder.decode(packet[...]) > 0 else { return true }
            }
        }
        return !decoder.finish()
    }
}
