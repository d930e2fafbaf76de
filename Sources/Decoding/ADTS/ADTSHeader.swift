import Media

/// The header of an ADTS frame: AAC as radio stations send it, and as `.aac` files have it (ISO/IEC 13818-7
/// §6.2).
///
/// Its sync word is that of MPEG audio; the layer bits, 00, distinguish the two.
package struct ADTSHeader: Sendable, Equatable {
    package static let byteCount = 7
    /// The largest length that a header can state.
    static let longestFrame = 0x1FFF

    /// The length of the frame with its header.
    package let frameByteCount: Int
    /// The length of the header with its check.
    let headByteCount: Int
    /// The number of packets in the frame; nearly always 1.
    let packetCount: Int
    /// Version, profile, sample rate and channels, which all frames of a stream share.
    private let stream: UInt32

    /// Parses the header at `index` of `bytes`; `nil` if no header begins there.
    package init?(_ bytes: [UInt8], at index: Int) {
        guard index >= 0, index <= bytes.count - Self.byteCount else { return nil }
        // A sync word, layer 00, and a sample rate that is in the table.
        guard bytes[index] == 0xFF, bytes[index + 1] & 0xF6 == 0xF0, bytes[index + 2] & 0x3C < 13 << 2 else {
            return nil
        }
        frameByteCount = Int(bytes[index + 3...index + 5].bigEndianNumber >> 5 & 0x1FFF)
        let hasCheck = bytes[index + 1] & 1 == 0
        packetCount = Int(bytes[index + 6] & 3) + 1
        // A check has two bytes, and so has the position of each packet but the first, which such a frame
        // states too.
        headByteCount = Self.byteCount + (hasCheck ? 2 * packetCount : 0)
        guard frameByteCount > headByteCount else { return nil }
        stream =
            UInt32(bytes[index + 1]) << 16 | UInt32(bytes[index + 2] & 0xFD) << 8
            | UInt32(bytes[index + 3] & 0xC0)
    }

    /// `true` if both can be frames of one stream.
    func isConsistent(with other: ADTSHeader) -> Bool { stream == other.stream }

    /// The time of `count` packets. It is the same with SBR, which doubles both their frames and the sample
    /// rate.
    func duration(of count: Int64) -> Duration {
        Duration(count * 1_024, per: Int64(AACConfiguration.rates[Int(stream >> 10 & 15)]))
    }

    func configuration() throws(Refusal) -> AACConfiguration {
        try AACConfiguration(
            objectType: Int(stream >> 14 & 3) + 1,
            rateIndex: Int(stream >> 10 & 15),
            channelIndex: Int(stream >> 6 & 7)
        )
    }

    /// A header without a check for the same stream, and as many packets, in `byteCount` bytes.
    func head(forPackets byteCount: Int) -> [UInt8] {
        let length = byteCount + Self.byteCount
        let high = UInt8(truncatingIfNeeded: stream >> 16) | 1
        let last = 0xFC | UInt8(packetCount - 1)
        return [0xFF, high, UInt8(truncatingIfNeeded: stream >> 8)]
            + [UInt8(truncatingIfNeeded: stream) | UInt8(length >> 11 & 3), UInt8(length >> 3 & 0xFF)]
            // The fullness of a variable rate.
            + [UInt8(length & 7) << 5 | 0x1F, last]
    }

    /// The first frame in `bytes`, from `start` on and before `limit`, that begins a run of `count`
    /// consistent frames: frames like `reference`, if it is given. `isWhole` states that the resource ends
    /// with `bytes`.
    static func firstRun(
        of count: Int = FrameRun.length,
        in bytes: [UInt8],
        from start: Int = 0,
        before limit: Int,
        isWhole: Bool,
        like reference: ADTSHeader? = nil
    ) -> (index: Int, header: ADTSHeader)? {
        for index in start..<max(start, min(limit, bytes.count)) where bytes[index] == 0xFF {
            guard let first = ADTSHeader(bytes, at: index), reference?.isConsistent(with: first) != false
            else { continue }
            let isRun = FrameRun.isConfirmed(
                count,
                from: index,
                in: bytes,
                isWhole: isWhole,
                isAtStart: index == 0
            ) { place in
                guard let next = ADTSHeader(bytes, at: place), next.isConsistent(with: first) else {
                    return nil
                }
                return place + next.frameByteCount
            }
            if isRun { return (index, first) }
        }
        return nil
    }
}
