import Glibc
import Media

/// The header of a FLAC frame (RFC 9639 §9.1). Pure.
struct FLACFrameHeader: Equatable {
    static let mostBytes = 16
    /// The fewest bytes of a header: the codes, a number of one byte, and the check.
    static let fewestBytes = 6

    /// The number of the first PCM frame.
    private(set) var position: FrameCount
    /// The position as libFLAC computes it: from the number of the frame if the header states that one, by
    /// the largest block size.
    let statedPosition: FrameCount
    /// The number that the header states: that of the frame, or that of its first PCM frame if `isVariable`.
    let number: Int64
    let isVariable: Bool
    /// The number of PCM frames.
    let count: Int
    /// The format of the samples; a rate or a size of 0 stands for that of the stream.
    let sampleRate: Int
    let channelCount: Int
    let bitsPerSample: Int
    let byteCount: Int

    /// The number of the PCM frame after the last one.
    var end: FrameCount { position + FrameCount(count) }

    /// `true` if this frame comes right after `frame`.
    func follows(_ frame: FLACFrameHeader) -> Bool {
        isVariable == frame.isVariable && (isVariable ? position == frame.end : number == frame.number + 1)
    }

    /// This header, at another position than it states.
    func moved(to position: FrameCount) -> FLACFrameHeader {
        var header = self
        header.position = position
        return header
    }

    /// `true` if the samples have the format of `stream`.
    func agrees(with stream: FLACStreamInfo) -> Bool {
        channelCount == stream.channelCount && [0, stream.sampleRate].contains(sampleRate)
            && [0, stream.bitsPerSample].contains(bitsPerSample)
    }

    /// The header at `index` of `bytes`; `nil` unless there is a whole one that passes its check (CRC-8) and
    /// agrees with the stream. With `inAnyFormat`, the samples may have another format.
    init?(
        _ bytes: UnsafeRawBufferPointer,
        at index: Int,
        in stream: FLACStreamInfo,
        inAnyFormat: Bool = false
    ) {
        guard index + Self.fewestBytes <= bytes.count, bytes[index] == 0xFF, bytes[index + 1] & 0xFE == 0xF8,
            bytes[index + 3] & 1 == 0
        else { return nil }
        let sizeCode = bytes[index + 2] >> 4
        let rateCode = bytes[index + 2] & 15
        let channelCode = Int(bytes[index + 3] >> 4)
        let bitCode = Int(bytes[index + 3] >> 1 & 7)
        // Codes 8, 9 and 10 are stereo with one channel stored as a difference.
        guard channelCode <= 10, bitCode != 3 else { return nil }
        channelCount = channelCode < 8 ? channelCode + 1 : 2
        bitsPerSample = Self.bits[bitCode]
        var place = index + 4
        guard let number = Self.codedNumber(bytes, &place),
            let count = Self.blockSize(sizeCode, bytes, &place), count <= stream.largestBlock,
            let rate = Self.rate(rateCode, bytes, &place),
            place < bytes.count, Self.check(bytes[index..<place]) == bytes[place]
        else { return nil }
        sampleRate = rate
        isVariable = bytes[index + 1] & 1 == 1
        self.number = number
        statedPosition = isVariable ? number : number * FrameCount(stream.largestBlock)
        position = statedPosition
        self.count = count
        byteCount = place + 1 - index
        guard inAnyFormat || agrees(with: stream) else { return nil }
    }

    /// The first header at `index` of `bytes` or after it, and its index.
    ///
    /// `isWhole` states that no bytes follow. If more may follow, a header is found only where even the
    /// longest header would be whole.
    static func first(
        in bytes: [UInt8],
        from index: Int,
        isWhole: Bool,
        of stream: FLACStreamInfo
    ) -> (index: Int, header: FLACFrameHeader)? {
        bytes.withUnsafeBytes { bytes in
            let end = bytes.count - (isWhole ? fewestBytes : mostBytes)
            var index = index
            while index <= end, let start = bytes.baseAddress,
                let found = memchr(start + index, 0xFF, end - index + 1)
            {
                index = UnsafeRawPointer(found) - start
                if let header = FLACFrameHeader(bytes, at: index, in: stream) { return (index, header) }
                index += 1
            }
            return nil
        }
    }

    /// The number of a frame or of its first sample: up to 36 bits, coded like a character in UTF-8.
    private static func codedNumber(_ bytes: UnsafeRawBufferPointer, _ place: inout Int) -> Int64? {
        let first = bytes[place]
        place += 1
        let ones = (~first).leadingZeroBitCount
        guard ones != 0 else { return Int64(first) }
        guard ones >= 2, ones <= 7, place + ones - 1 <= bytes.count else { return nil }
        var number = Int64(first) & (Int64(0x7F) >> Int64(ones))
        for _ in 1..<ones {
            guard bytes[place] & 0xC0 == 0x80 else { return nil }
            number = number << 6 | Int64(bytes[place] & 0x3F)
            place += 1
        }
        return number
    }

    private static func blockSize(_ code: UInt8, _ bytes: UnsafeRawBufferPointer, _ place: inout Int) -> Int?
    {
        switch code {
        case 0: nil
        case 1: 192
        case 2...5: 144 << Int(code)
        case 6: number(1, bytes, &place).map { $0 + 1 }
        case 7: number(2, bytes, &place).map { $0 + 1 }
        default: 1 << Int(code)
        }
    }

    /// The sample rate in Hz; 0 if it is that of the stream.
    private static func rate(_ code: UInt8, _ bytes: UnsafeRawBufferPointer, _ place: inout Int) -> Int? {
        switch code {
        case 12: number(1, bytes, &place).map { $0 * 1_000 }
        case 13: number(2, bytes, &place)
        case 14: number(2, bytes, &place).map { $0 * 10 }
        case 15: nil
        default: rates[Int(code)]
        }
    }

    private static func number(_ count: Int, _ bytes: UnsafeRawBufferPointer, _ place: inout Int) -> Int? {
        guard place + count <= bytes.count else { return nil }
        defer { place += count }
        return Int(bytes[place..<place + count].bigEndianNumber)
    }

    /// CRC-8 with the polynomial x⁸ + x² + x + 1.
    static func check(_ bytes: some Sequence<UInt8>) -> UInt8 {
        bytes.reduce(0) { checks[Int($0 ^ $1)] }
    }

    private static let checks: [UInt8] = (0...255).map { value in
        (0..<8).reduce(UInt8(value)) { rest, _ in rest << 1 ^ (rest & 0x80 != 0 ? 0x07 : 0) }
    }

    /// Sample rates by code; code 0 stands for the rate of the stream.
    private static let rates = [
        0, 88_200, 176_400, 192_000, 8_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 96_000,
    ]
    /// Bits per sample by code; code 0 stands for those of the stream, and code 3 is reserved.
    private static let bits = [0, 8, 12, 0, 16, 20, 24, 32]
}
