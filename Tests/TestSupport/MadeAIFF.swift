/// An AIFF or AIFC file of the samples of a `MadeWave`.
package struct MadeAIFF: Sendable, CustomStringConvertible {
    package var wave: MadeWave
    /// The codec that AIFC names; `nil` for AIFF, whose samples are integers with the most significant byte
    /// first.
    package var codec: String?
    /// Chunks in front of the samples and after them.
    package var before: [UInt8] = []
    package var after: [UInt8] = []
    /// `true` if the chunk that describes the samples follows them.
    package var isDescribedLast = false
    /// Bytes in front of the samples within their chunk, for alignment.
    package var offset = 0
    /// `true` if the sizes were never written, as by a program that writes into a pipe.
    package var isUnfinished = false

    package init(_ wave: MadeWave, codec: String? = nil) {
        self.wave = wave
        self.codec = codec
    }

    package var description: String {
        "\(codec.map { "AIFC \($0)" } ?? "AIFF") \(wave.samples), \(wave.channels) channels, \(wave.rate) Hz"
    }

    package var pcm: [UInt8] { wave.pcm }

    /// The samples as the file has them. Those of 8 bits are signed, but for the codec `raw `.
    private var data: [UInt8] {
        let width = wave.samples.byteCount
        if width == 1 { return codec == "raw " ? wave.data : wave.data.map { $0 ^ 0x80 } }
        guard codec != "sowt" else { return wave.data }
        var data = wave.data
        for start in stride(from: 0, to: data.count, by: width) { data[start..<start + width].reverse() }
        return data
    }

    /// The whole file.
    package var bytes: [UInt8] {
        let name: [UInt8] = codec.map { Array($0.utf8) + [0, 0] } ?? []
        let frames = isUnfinished ? 0 : wave.frames
        let numbers = big(wave.channels, 2) + big(frames, 4) + big(wave.samples.byteCount * 8, 2)
        let description = iffChunk("COMM", numbers + Self.extended(wave.rate) + name)
        let head = big(offset, 4) + big(0, 4) + [UInt8](repeating: 7, count: offset)
        let sound = iffChunk("SSND", head + data, size: isUnfinished ? 0 : nil)
        let type = Array((codec == nil ? "AIFF" : "AIFC").utf8)
        let chunks = before + (isDescribedLast ? sound + description : description + sound) + after
        return Array("FORM".utf8) + big(isUnfinished ? 0 : type.count + chunks.count, 4) + type + chunks
    }

    /// The integer `value` as an 80-bit floating-point number.
    private static func extended(_ value: Int) -> [UInt8] {
        let shift = value.leadingZeroBitCount
        return big(16_383 + 63 - shift, 2) + big(value << shift, 8)
    }
}

/// A chunk of an IFF file, padded, which states `size`, by default its real one.
package func iffChunk(_ name: String, _ content: [UInt8], size: Int? = nil) -> [UInt8] {
    Array(name.utf8) + big(size ?? content.count, 4) + content
        + [UInt8](repeating: 0, count: content.count % 2)
}

/// The lowest `count` bytes of `value`, the highest first.
private func big(_ value: Int, _ count: Int) -> [UInt8] {
    little(UInt64(bitPattern: Int64(value)), count).reversed()
}
