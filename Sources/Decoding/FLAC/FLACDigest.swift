package import Media

/// Compares FLAC, also in Ogg, with the MD5 of its samples that it states.
package enum FLACDigest {
    /// Decodes all of `source`: `true` if it is FLAC whose samples do not have the MD5 that it states,
    /// because it is damaged or cut short. `false` for everything else, for FLAC that states no MD5, and
    /// without libFLAC. Only the first of streams that follow one another is checked.
    package static func isDamaged(_ source: any ByteSource) async throws -> Bool {
        var start = StreamStart(of: source)
        do {
            try await start.skipTags(of: "")
            switch try await start.kind() {
            case .flac: return try await isDamaged(source, from: start)
            case .ogg:
                return try await isDamaged(OggPageReader(source, at: start.offset, holding: start.bytes))
            default: return false
            }
        } catch  where error is Refusal || error is MediaError {
            return false
        }
    }

    private static func isDamaged(_ source: any ByteSource, from start: StreamStart) async throws -> Bool {
        let (_, stream, frames) = try await FLACHead.read(ChunkReader(start), at: start.offset)
        guard let decoder = try await decoder(of: stream) else { return false }
        var walk = FLACFrameWalk(stream, at: frames.start, expecting: nil)
        walk.append(frames.bytes)
        while true {
            switch walk.next() {
            case .frame(_, let range): guard decoder.decode(walk.bytes[range]) > 0 else { return true }
            case .missing: return true
            case .needMore:
                let bytes = try await source.read(at: walk.endOffset, count: ByteWindow.playingByteCount)
                if bytes.isEmpty { walk.finish() } else { walk.append(bytes) }
            case .turn, .end: return !decoder.finish()
            }
        }
    }

    private static func isDamaged(_ pages: OggPageReader) async throws -> Bool {
        let head = try await OggHead.read(pages)
        guard let decoder = try await decoder(of: (head.codec as? FLACMapping)?.stream) else { return false }
        var packets = OggPackets(upTo: head.codec.longestPacket)
        while let found = try await pages.next(), found.page.serial == head.serial || !found.page.isFirst {
            guard found.page.serial == head.serial else { continue }
            for packet in packets.receive(found).packets where !packet.isEmpty {
                guard decoder.decode(packet[...]) > 0 else { return true }
            }
        }
        return !decoder.finish()
    }

    /// `nil` if the stream states no MD5.
    private static func decoder(of stream: FLACStreamInfo?) async throws -> FLACHandle? {
        guard let stream, stream.digest != nil else { return nil }
        return try await FLACHandle.opened(for: stream, of: "", checksDigest: true)
    }
}
