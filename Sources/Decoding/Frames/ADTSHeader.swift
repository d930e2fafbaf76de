/// The header of an ADTS frame: AAC as radio stations send it, and as `.aac` files have it (ISO/IEC 13818-7 §6.2).
///
/// Its sync word is that of MPEG audio; the layer bits, 00, tell them apart.
package struct ADTSHeader: Sendable, Equatable {
    package static let byteCount = 7

    /// The length of the frame with its header.
    package let frameByteCount: Int
    /// Version, profile, sample rate and channels, which all frames of a stream share.
    private let stream: [UInt8]

    /// Parses the header at `index` of `bytes`; `nil` if there is none.
    package init?(_ bytes: [UInt8], at index: Int) {
        guard index >= 0, index <= bytes.count - Self.byteCount else { return nil }
        // A sync word, layer 00, and a sample rate that is in the table.
        guard bytes[index] == 0xFF, bytes[index + 1] & 0xF6 == 0xF0, bytes[index + 2] & 0x3C < 13 << 2 else {
            return nil
        }
        let length = bytes[index + 3...index + 5].reduce(0) { $0 << 8 | Int($1) }
        frameByteCount = length >> 5 & 0x1FFF
        let hasCheck = bytes[index + 1] & 1 == 0
        guard frameByteCount > Self.byteCount + (hasCheck ? 2 : 0) else { return nil }
        stream = [bytes[index + 1], bytes[index + 2] & 0xFD, bytes[index + 3] & 0xC0]
    }

    /// `true` if `bytes` have a run of ADTS frames that begins within the first `reach` bytes. `isWhole` states that the
    /// resource ends with them.
    package static func isStream(_ bytes: [UInt8], within reach: Int, isWhole: Bool) -> Bool {
        for index in 0..<min(reach, bytes.count) where bytes[index] == 0xFF {
            guard let first = ADTSHeader(bytes, at: index) else { continue }
            let isRun = FrameRun.isConfirmed(
                FrameRun.length,
                from: index,
                in: bytes,
                isWhole: isWhole,
                isAtStart: index == 0
            ) { place in
                guard let next = ADTSHeader(bytes, at: place), next.stream == first.stream else { return nil }
                return place + next.frameByteCount
            }
            if isRun { return true }
        }
        return false
    }
}
