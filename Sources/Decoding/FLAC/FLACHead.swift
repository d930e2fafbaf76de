import Media

/// The metadata blocks in front of the frames of a FLAC stream (RFC 9639 §8). Pure.
///
/// `wanted` are the bytes to read next; they go to `took`. A large stated size costs nothing: only the heads
/// of blocks are read, and the contents of the few kinds that are needed.
struct FLACHead {
    /// The most blocks that are walked; no ordinary file has so many.
    private static let mostBlocks = 512
    private static let pointByteCount = 18
    static let mark = Array("fLaC".utf8)
    private static let headByteCount: Int64 = 4
    /// The bytes of the mark, and of STREAMINFO with its head.
    static let leastByteCount = 8 + FLACStreamInfo.byteCount

    /// The blocks that are needed.
    private enum Kind: UInt8 {
        case streamInfo = 0
        case seekTable = 3
        case comments = 4
        case picture = 6
    }

    /// The most bytes to read of a block's content, by its kind: of a seek table, a point for each second of
    /// five hours. Pictures in comments usually follow the texts.
    private static let contents: [Kind: Int64] = [
        .streamInfo: Int64(FLACStreamInfo.byteCount), .seekTable: 18_000 * Int64(pointByteCount),
        .comments: 65_536,
    ]

    /// The block whose content is wanted; `nil` while the head of a block is.
    private var block: (kind: Kind, content: ByteRange)?
    private var blockCount = 0
    private var isLast = false
    /// The bytes to read next; `nil` at the end of the blocks.
    private(set) var wanted: ByteRange?
    private(set) var stream: FLACStreamInfo?
    /// The places that the stream's own seek table states, sorted; their offsets count from the first frame
    /// until all blocks were walked, and then from the start of the resource. They are not trusted.
    private(set) var seekPoints: [PlaceTable.Place] = []
    private(set) var comments: VorbisComments?
    /// The offsets of the first block with a picture.
    private(set) var cover: ByteRange?
    /// The offset of the first frame; `nil` until all blocks were walked.
    private(set) var audioStart: Int64?

    /// A walk over the stream whose mark is at `offset`.
    init(at offset: Int64) { go(to: offset + Int64(Self.mark.count)) }

    /// `true` if `bytes` begin with the mark, and with STREAMINFO as the first block.
    static func isStart(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.starts(with: mark) && bytes.dropFirst(mark.count).first.map { $0 & 0x7F } == 0
            && FLACStreamInfo(bytes.prefix(leastByteCount).dropFirst(8)) != nil
    }

    /// Takes the bytes of `wanted`; fewer if the resource ends there, or if the caller reads no more of a
    /// block's content.
    ///
    /// Throws if this is not a FLAC stream that can be played.
    mutating func took(_ bytes: some Collection<UInt8>) throws(Refusal) {
        guard let range = wanted else { return }
        guard let (kind, content) = block else { return try begin(Array(bytes), at: range.lowerBound) }
        switch kind {
        case .streamInfo: try describe(bytes)
        case .seekTable: parsePoints(bytes)
        case .comments: comments = comments ?? VorbisComments(Array(bytes))
        case .picture: break
        }
        go(to: content.upperBound)
    }

    private mutating func begin(_ head: [UInt8], at offset: Int64) throws(Refusal) {
        blockCount += 1
        guard head.count == Self.headByteCount, blockCount <= Self.mostBlocks else { throw Refusal.damaged }
        isLast = head[0] & 0x80 != 0
        let kind = Kind(rawValue: head[0] & 0x7F)
        // STREAMINFO must be the first block, and the only one of its kind.
        guard (kind == .streamInfo) == (blockCount == 1) else { throw Refusal.damaged }
        let start = offset + Self.headByteCount
        let content = start..<start + head[1...].bigEndianNumber
        if kind == .picture { cover = cover ?? content }
        guard let kind, let most = Self.contents[kind], !content.isEmpty else {
            return go(to: content.upperBound)
        }
        block = (kind, content)
        wanted = content.first(most)
    }

    /// Walks on at `offset`, where a block has ended.
    private mutating func go(to offset: Int64) {
        block = nil
        wanted = isLast ? nil : offset..<offset + Self.headByteCount
        guard isLast else { return }
        audioStart = offset
        // Offsets in the table count from the first frame.
        seekPoints = seekPoints.map { PlaceTable.Place(position: $0.position, offset: $0.offset + offset) }
    }

    private mutating func describe(_ bytes: some Collection<UInt8>) throws(Refusal) {
        guard let stream = FLACStreamInfo(bytes) else { throw Refusal.damaged }
        guard PCMLayout.rates.contains(stream.sampleRate) else {
            throw Refusal(SafeText("FLAC with \(stream.sampleRate) Hz"), played: "1,000 to 768,000 Hz")
        }
        self.stream = stream
    }

    /// Takes the points of a seek table up to the first one that is not in order. Placeholders, which have
    /// the largest number and come last, end it too.
    private mutating func parsePoints(_ bytes: some Collection<UInt8>) {
        guard seekPoints.isEmpty else { return }
        var reader = BigEndianReader(Array(bytes))
        while reader.remaining >= Self.pointByteCount {
            // Position and offset have eight bytes each, the highest of which is 0 in any real file.
            guard reader.next(1) == 0, let position = reader.next(7), reader.next(1) == 0,
                let offset = reader.next(7), reader.next(2) != nil,
                seekPoints.last.map({ position > $0.position && offset > $0.offset }) ?? true
            else { return }
            seekPoints.append(PlaceTable.Place(position: position, offset: offset))
        }
    }
}

extension FLACHead {
    /// Reads the head at `offset`, where `reader` begins. Returns it with its stream and the first bytes of
    /// the frames, as far as they were read. Throws `Refusal` if the stream can't be played.
    static func read(_ reader: ChunkReader, at offset: Int64) async throws -> (
        head: FLACHead, stream: FLACStreamInfo, frames: ByteWindow
    ) {
        var reader = reader
        var head = FLACHead(at: offset)
        while let range = head.wanted { try head.took(try await reader.bytes(in: range)) }
        guard let stream = head.stream, let start = head.audioStart else { throw Refusal.damaged }
        return (head, stream, reader.window.dropping(Int(start - reader.window.start)))
    }
}
