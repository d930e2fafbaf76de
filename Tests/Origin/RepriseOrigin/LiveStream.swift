/// A radio station: one resource in a loop, without a length, with titles between its bytes.
package struct LiveStream: Sendable, Equatable {
    /// A title that the station announces at an offset.
    package struct Title: Sendable, Equatable {
        /// Bytes of music before it, counted from the answer's first one.
        package var offset: Int64
        package var text: String

        package init(at offset: Int64, _ text: String) {
            self.offset = offset
            self.text = text
        }
    }

    /// `icy-name`; `nil` sends none.
    package var name: String?
    /// `icy-br`, in kbit/s; `nil` sends none.
    package var bitRate: Int?
    /// Bytes of music between two title blocks. Only clients that ask for titles get blocks.
    package var interval: Int
    /// In the order of their offsets; each is sent in the first block at or after its offset.
    package var titles: [Title]
    /// The offset in the resource at which the answer begins.
    package var start: Int64

    package init(
        name: String? = "Test Radio",
        bitRate: Int? = nil,
        interval: Int = 8_192,
        titles: [Title] = [],
        start: Int64 = 0
    ) {
        precondition(interval > 0, "there is music between two blocks")
        self.name = name
        self.bitRate = bitRate
        self.interval = interval
        self.titles = titles
        self.start = start
    }

    /// Longer than any client reads.
    static let length: Int64 = 1 << 50

    /// The fields that such a stream adds to an answer.
    func fields(withTitles: Bool) -> [HTTPField] {
        var fields: [HTTPField] = []
        if let name { fields.append(HTTPField("icy-name", name)) }
        if let bitRate { fields.append(HTTPField("icy-br", "\(bitRate)")) }
        if withTitles { fields.append(HTTPField("icy-metaint", "\(interval)")) }
        return fields
    }

    /// The block after `music` bytes of music: its length in units of 16 bytes, then the text, filled up
    /// with zeros.
    func block(after music: Int64) -> [UInt8] {
        guard let title = titles.last(where: { $0.offset <= music && $0.offset > music - Int64(interval) })
        else { return [0] }
        // The length is one byte, in units of 16 bytes.
        let text = Array("StreamTitle='\(title.text)';".utf8.prefix(255 * 16))
        let units = (text.count + 15) / 16
        return [UInt8(units)] + text + [UInt8](repeating: 0, count: units * 16 - text.count)
    }
}

/// The bytes of a live stream by their offset on the wire, title blocks included.
struct LiveBody: Sendable {
    let stream: LiveStream
    let music: [UInt8]
    let hasTitles: Bool

    /// `count` bytes from `offset` on, counted from the first byte on the wire; empty if there is no music.
    func bytes(at offset: Int64, count: Int) -> [UInt8] {
        guard !music.isEmpty else { return [] }
        guard hasTitles else { return piece(at: offset, count: count) }
        var result: [UInt8] = []
        var wire: Int64 = 0
        var played: Int64 = 0
        // The blocks differ in length, so this walks from the start; a test streams megabytes at most.
        while result.count < count {
            let place = offset + Int64(result.count)
            let blockStart = wire + Int64(stream.interval)
            if place < blockStart {
                let most = Int(min(Int64(count - result.count), blockStart - place))
                result += piece(at: played + place - wire, count: most)
            }
            played += Int64(stream.interval)
            let block = stream.block(after: played)
            let next = offset + Int64(result.count)
            let blockEnd = blockStart + Int64(block.count)
            if result.count < count, next < blockEnd {
                result += block.dropFirst(Int(next - blockStart)).prefix(count - result.count)
            }
            wire = blockEnd
        }
        return result
    }

    private func piece(at offset: Int64, count: Int) -> [UInt8] {
        let length = Int64(music.count)
        var result: [UInt8] = []
        while result.count < count {
            let place = Int((stream.start + offset + Int64(result.count)) % length)
            result += music[place..<min(music.count, place + count - result.count)]
        }
        return result
    }
}
