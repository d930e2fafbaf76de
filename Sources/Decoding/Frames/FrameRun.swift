import Media

/// Tests if frames follow one another without a gap. Four bytes that look like a header only by chance never
/// begin such a run. Pure.
enum FrameRun {
    /// The number of consecutive frames that prove a stream.
    static let length = 4
    /// The number of free-format frames that prove a stream: in quiet PCM, 16-bit samples of 0 and -1 look
    /// like their headers (FF FF 00 00) and often follow one another at equal distances.
    static let freeFormatLength = 8

    /// `true` if `count` frames follow one another from `index` of `bytes` on. At the start of a resource
    /// (`isAtStart`), fewer frames suffice if the resource ends after them; the last one may be cut short.
    ///
    /// Tags may follow each frame. `end` returns where the frame at an index ends; `nil` if there is no frame
    /// of the stream. `isWhole` states that the resource ends with `bytes`.
    static func isConfirmed(
        _ count: Int,
        from index: Int,
        in bytes: [UInt8],
        isWhole: Bool,
        isAtStart: Bool,
        end: (Int) -> Int?
    ) -> Bool {
        var place = index
        for number in 0..<count {
            guard place + FrameHeader.byteCount <= bytes.count else {
                let complete = place <= bytes.count ? number : number - 1
                return isWhole && isAtStart && complete > 0
            }
            guard let next = end(place) else { return false }
            place = next
            while let length = tagByteCount(in: bytes, at: place) { place += length }
        }
        return true
    }

    /// The length of the tag that begins at `index` of `bytes`; `nil` if there is none.
    ///
    /// `TAG` is common in text, and the footer of an APE tag looks like its header, so both are accepted only
    /// after a frame.
    static func tagByteCount(in bytes: [UInt8], at index: Int, isAfterFrame: Bool = true) -> Int? {
        guard index < bytes.count else { return nil }
        switch bytes[index] {
        case UInt8(ascii: "T"):
            return isAfterFrame && bytes[index...].starts(with: "TAG".utf8) ? ID3v1Tag.byteCount : nil
        case UInt8(ascii: "I"):
            return ID3v2Header(bytes[index...].prefix(ID3v2Header.byteCount))?.tagByteCount
        case UInt8(ascii: "A"):
            let head = Array(bytes[index...].prefix(APETag.byteCount))
            return isAfterFrame ? APETag.byteCount(ofHeader: head).map { Int($0) } : nil
        default: return nil
        }
    }
}
