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
    /// `end` returns where the frame at an index ends, with the tags that follow it; `nil` if there is no
    /// frame of the stream. `isWhole` states that the resource ends with `bytes`.
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
        }
        return true
    }
}
