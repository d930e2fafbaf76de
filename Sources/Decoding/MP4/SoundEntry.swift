import Media

/// The description of a sound track in `stsd` (ISO/IEC 14496-12 §8.5.2, 14496-14 §5.6, and QuickTime's).
/// Pure.
enum SoundEntry {
    private static let names = [
        "Opus": "Opus", "fLaC": "FLAC", "ac-3": "AC-3", "ec-3": "E-AC-3", ".mp3": "MP3",
        "samr": "AMR", "sawb": "AMR", "drms": "protected AAC (DRM)", "enca": "encrypted sound",
        "sowt": "PCM", "twos": "PCM", "lpcm": "PCM", "ipcm": "PCM", "fpcm": "PCM", "in24": "PCM",
        "fl32": "PCM", "dtsc": "DTS", "ulaw": "G.711", "alaw": "G.711",
    ]
    /// The object types of AAC in a decoder's configuration: that of MPEG-4, and three of MPEG-2.
    private static let aacTypes: Set<Int64> = [0x40, 0x66, 0x67, 0x68]

    /// The configuration of the track whose `stsd` has `content`. Throws if its codec is not played.
    static func configuration(in content: [UInt8]) throws(Refusal) -> any CodecConfiguration {
        // Version, count, and the head of the first entry.
        guard content.count >= 16 + 28 else { throw .damaged }
        let format = ID3Text.latin1(content[12..<16])
        let isALAC = format == "alac"
        guard isALAC || format == "mp4a" else {
            throw Refusal.m4a(with: names[format].map { SafeText($0) } ?? "an unknown codec")
        }
        let entry = 8..<8 + content[8..<12].bigEndianNumber
        // QuickTime has longer entries: versions 1 and 2.
        let extra: Int64 = content[25] == 1 ? 16 : content[25] == 2 ? 36 : 0
        let boxes = 16 + 28 + extra..<max(16 + 28 + extra, min(entry.upperBound, Int64(content.count)))
        guard let settings = box(isALAC ? "alac" : "esds", in: content, boxes, depth: 0) else {
            throw .damaged
        }
        return isALAC ? try ALACConfiguration(settings) : try configuration(ofDescriptor: settings)
    }

    /// The content of the box `name`, which QuickTime puts into `wave`.
    private static func box(
        _ name: String,
        in content: [UInt8],
        _ range: ByteRange,
        depth: Int
    ) -> ArraySlice<UInt8>? {
        for box in BoxWalk.boxes(in: range, of: content) {
            if box.name == name {
                return content[Int(box.content.lowerBound)..<Int(box.content.upperBound)]
            }
            if box.name == "wave", depth == 0 { return self.box(name, in: content, box.content, depth: 1) }
        }
        return nil
    }

    /// The configuration in an elementary stream's descriptor (ISO/IEC 14496-1 §7.2.6.5).
    private static func configuration(ofDescriptor bytes: ArraySlice<UInt8>) throws(Refusal)
        -> AACConfiguration
    {
        var reader = BigEndianReader(Array(bytes), at: 4)
        guard reader.next(1) == 3, length(&reader) != nil, reader.next(2) != nil, let flags = reader.next(1)
        else { throw .damaged }
        if flags & 0x80 != 0 { _ = reader.next(2) }
        if flags & 0x40 != 0, let count = reader.next(1) { _ = reader.take(Int(count)) }
        if flags & 0x20 != 0 { _ = reader.next(2) }
        guard reader.next(1) == 4, length(&reader) != nil, let type = reader.next(1) else { throw .damaged }
        guard aacTypes.contains(type) else {
            throw Refusal.m4a(with: type == 0x69 || type == 0x6B ? "MP3" : "an unknown codec")
        }
        _ = reader.take(12)
        guard reader.next(1) == 5, let count = length(&reader), count <= reader.remaining else {
            throw .damaged
        }
        return try AACConfiguration(Array(reader.take(count)))
    }

    /// The length of a descriptor, stored as seven bits in each of up to four bytes.
    private static func length(_ reader: inout BigEndianReader) -> Int? {
        var value = 0
        for _ in 0..<4 {
            guard let byte = reader.next(1) else { return nil }
            value = value << 7 | Int(byte & 0x7F)
            if byte & 0x80 == 0 { return value }
        }
        return value
    }
}
