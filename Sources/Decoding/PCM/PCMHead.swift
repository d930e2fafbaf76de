import Media

/// The chunks of a PCM file that matter: the layout of its samples, their place, and tags. Pure.
struct PCMHead {
    /// The most bytes to read of a chunk, by its name. Pictures in tags usually follow the texts.
    static let contents: [String: Int] = [
        "fmt ": WaveFormat.byteCount, "LIST": mostTag, "id3 ": mostTag, "ID3 ": mostTag,
        "COMM": AIFFFormat.byteCount, "SSND": soundHeadByteCount, "NAME": mostText, "AUTH": mostText,
    ]
    private static let mostText = 1_024
    /// Two numbers precede the samples in `SSND`: their offset, and the size of their blocks.
    private static let soundHeadByteCount = 8
    private static let mostTag = 65_536

    /// The length of the resource when it was opened; `nil` if unknown.
    private let length: Int64?
    private(set) var layout: PCMLayout?
    /// The offsets of all samples, as they are stated, which may exceed the resource; up to
    /// `ChunkWalk.farthest` if no end is stated.
    private(set) var samples: ByteRange?
    /// The number of frames as AIFF states it; 0 if unknown.
    private var statedFrames: FrameCount = 0
    private var id3: ID3v2Tag?
    private var information = TrackTags()

    /// `true` once the samples can be played. The chunks after them have at most tags.
    var isComplete: Bool { layout != nil && samples != nil }

    /// The tags found so far. ID3 takes precedence, since it states its encoding and does not cut its texts.
    var tags: TrackTags { id3?.tags.filled(from: information) ?? information }
    var loudness: Loudness { id3?.loudness ?? Loudness() }

    init(length: Int64?) { self.length = length }

    /// The offsets of all whole frames, in a resource of `length` bytes if that is known; `nil` unless the
    /// head is complete.
    func music(inLength length: Int64? = nil) -> ByteRange? {
        guard let samples, let width = layout?.bytesPerFrame else { return nil }
        let start = samples.lowerBound
        let end = min(samples.upperBound, max(start, length ?? .max))
        let frames = (end - start) / FrameCount(width)
        let count = statedFrames > 0 ? min(frames, statedFrames) : frames
        return start..<start + count * FrameCount(width)
    }

    /// `true` if no end of the samples is stated.
    var isEndless: Bool { samples?.upperBound == ChunkWalk.farthest && statedFrames == 0 }

    /// Takes a chunk. Chunks of other kinds change nothing. Of several chunks of one kind the first counts;
    /// further `LIST` chunks only add missing tags.
    ///
    /// Throws if the file holds samples that are not played.
    mutating func receive(_ chunk: Chunk) throws(Refusal) {
        switch chunk.name {
        case "fmt ":
            guard layout == nil else { return }
            layout = try WaveFormat(bytes: chunk.bytes).layout()
        case "COMM":
            guard layout == nil else { return }
            let format = AIFFFormat(bytes: chunk.bytes)
            layout = try format.layout()
            statedFrames = format.frameCount
        case "data": samples = samples ?? extent(of: chunk.content)
        case "SSND":
            let offset = chunk.bytes.prefix(4).bigEndianNumber
            let start = chunk.content.lowerBound + Int64(Self.soundHeadByteCount) + offset
            samples = samples ?? extent(of: start..<max(start, chunk.content.upperBound))
        case "LIST": information = information.filled(from: InformationList.tags(in: chunk.bytes))
        case "id3 ", "ID3 ": id3 = id3 ?? ID3v2Tag(chunk.bytes[...], at: chunk.content.lowerBound)
        case "NAME": information.title = information.title ?? ID3Text.text(chunk.bytes[...])
        case "AUTH": information.artist = information.artist ?? ID3Text.text(chunk.bytes[...])
        default: break
        }
    }

    /// The samples in `content`, which have no end if it states none.
    ///
    /// Programs that write into a pipe, or that were killed, state a size of 0 or the largest one. Sizes have
    /// 32 bits: files of more than 4 GiB that are not RF64 state theirs without the upper bits. An end after
    /// that of the resource is kept: the file was cut, or is still being written.
    private func extent(of content: ByteRange) -> ByteRange {
        let start = content.lowerBound
        let end = content.isEmpty ? ChunkWalk.farthest : content.upperBound
        let missing = (max(0, (length ?? 0) - end) >> 32) << 32
        return start..<max(start, min(end + missing, ChunkWalk.farthest))
    }
}
