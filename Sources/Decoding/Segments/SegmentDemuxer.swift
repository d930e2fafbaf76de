import Media

/// A container of one stream of sound, whose bytes come in segments.
protocol SoundContainer {
    /// The bytes of the next segment follow.
    mutating func beginSegment()

    mutating func append(_ bytes: [UInt8])

    mutating func next() throws(Refusal) -> SoundPart
}

enum SoundPart: Equatable {
    /// Bytes of the sound. The first frame that begins in them has the time, if one is stated.
    case sound([UInt8], MediaTime?)
    /// The title of the sound that follows.
    case title(SafeText)
    /// The sound that follows is another stream.
    case restart
    /// Another part needs more bytes.
    case needMore
}

enum SegmentStep {
    /// The packets that follow are of this codec. It comes before the first packet, and with each change.
    case codec(SegmentCodec)
    /// A packet for `PacketCodec`, and its time, if the segment states it.
    case packet(ArraySlice<UInt8>, MediaTime?)
    /// The number of packets that are missing here.
    case missing(Int)
    /// The server has no sound for so long.
    case silence(Duration)
    /// The title of the sound that follows `after` the next packet begins.
    case title(SafeText, after: Duration)
    /// More bytes are needed, or the next segment, or `finish`.
    case needMore
    case end
}

/// Turns segments into packets: the bytes of one segment after the other, in pieces of any length. Pure.
///
/// The first bytes of a segment tell its kind; names and types are not believed. An initialisation section
/// counts as a segment of its own. Frames of ADTS and MPEG audio may go on in the next segment.
struct SegmentDemuxer {
    private let clock: MediaClock
    private var kind: SegmentKind?
    private var container: (any SoundContainer)?
    private var sound = SoundStream()
    private var fragments = FragmentStream()
    /// The bytes of a segment whose kind is unknown; `nil` once it is known.
    private var head: [UInt8]? = []
    /// The number of these bytes when its kind was looked for.
    private var searchedCount = 0
    /// `true` for the rest of a segment that is of no kind that is played.
    private var isSkipping = false
    /// `true` while the last packets of another stream are passed on.
    private var isRestarting = false
    private var isFinished = false

    /// If `time` is given, it is about the time of the first packet.
    init(near time: Duration? = nil) { clock = MediaClock(near: time) }

    /// The next segment begins. Call it only after `needMore`.
    mutating func beginSegment() {
        head = []
        searchedCount = 0
        isSkipping = false
        container?.beginSegment()
        fragments.beginSegment()
    }

    mutating func append(_ bytes: [UInt8]) {
        if isSkipping { return }
        if head != nil {
            head? += bytes
        } else if kind == .fragments {
            fragments.append(bytes)
        } else {
            container?.append(bytes)
        }
    }

    /// No segment follows, or one that does not continue these. Call it only after `needMore`.
    mutating func finish() {
        isFinished = true
        sound.finish()
    }

    /// The next step. Throws if a segment is damaged, or has no sound that is played; the next segment may
    /// have.
    mutating func next() throws(Refusal) -> SegmentStep {
        while true {
            if let step = try passSound() { return step }
            if try begin() { continue }
            var step = SegmentStep.needMore
            if kind == .fragments {
                step = try fragments.next()
            } else {
                switch try container?.next() ?? .needMore {
                case .sound(let bytes, let time):
                    sound.append(bytes, at: time)
                    continue
                case .title(let title):
                    sound.note(title)
                    continue
                case .restart:
                    restart()
                    continue
                case .needMore: break
                }
            }
            if case .needMore = step, isFinished { return .end }
            return step
        }
    }

    /// The next step that needs no more of the sound.
    private mutating func passSound() throws(Refusal) -> SegmentStep? {
        switch try sound.next() {
        case .needMore: return nil
        case .end:
            if isRestarting { sound = SoundStream() }
            isRestarting = false
            return nil
        case let step: return step
        }
    }

    private mutating func restart() {
        sound.finish()
        isRestarting = true
    }

    /// Determines the kind of the segment, unless it is known; `true` if it is another one than before.
    private mutating func begin() throws(Refusal) -> Bool {
        // As the bytes double from search to search, each is searched a few times at most.
        guard let bytes = head, bytes.count >= 2 * searchedCount else { return false }
        searchedCount = bytes.count
        let found: SegmentKind
        do throws(Refusal) {
            guard let kind = try SegmentKind.of(bytes) else { return false }
            found = kind
        } catch {
            head = nil
            isSkipping = true
            throw error
        }
        let isOther = found != kind
        if isOther {
            restart()
            kind = found
            container = found == .transport ? TransportStream(clock) : PackedAudio(clock)
            fragments = FragmentStream()
        }
        head = nil
        append(bytes)
        return isOther
    }
}

/// The kind of a segment.
enum SegmentKind {
    case transport, packed, fragments

    private static let boxes: Set = ["ftyp", "styp", "moov", "moof", "sidx", "emsg", "prft", "free"]
    /// Lengths of packets with further fields, which some recorders write.
    private static let otherPackets = [192, 204]
    private static let played: SafeText = "segments of AAC and MP3"

    /// The kind of the segment that begins with `bytes`; `nil` if more of them are needed. Throws if it is
    /// none that is played.
    static func of(_ bytes: [UInt8]) throws(Refusal) -> SegmentKind? {
        guard bytes.count >= AudioKind.headByteCount else { return nil }
        if boxes.contains(ID3Text.latin1(bytes[4..<8])) { return .fragments }
        let length = TransportPacket.byteCount
        if bytes[0] == TransportPacket.mark {
            guard bytes.count >= 2 * length else { return nil }
            if TransportPacket.hasMarks(bytes, 3, at: 0) { return .transport }
        }
        let isFrame = ADTSHeader(bytes, at: 0) != nil || FrameHeader(bytes, at: 0) != nil
        if isFrame || ID3v2Header(bytes[...]) != nil { return .packed }
        if let kind = AudioKind.byMagicNumber(bytes) {
            throw Refusal("Segments of " + SafeText(kind.name), played: played)
        }
        let last = bytes.count - 2 * length
        if last > 0, (0..<last).contains(where: { TransportPacket.hasMarks(bytes, 3, at: $0) }) {
            return .transport
        }
        for other in otherPackets where bytes.count > 3 * other {
            if (0..<other).contains(where: { TransportPacket.hasMarks(bytes, 3, at: $0, every: other) }) {
                let count = SafeText(String(other))
                throw Refusal("MPEG-TS in packets of " + count + " bytes", played: "those of 188")
            }
        }
        if StreamStart.kind(of: bytes, isWhole: false) != nil { return .packed }
        guard bytes.count < StreamStart.reach else { throw .damaged }
        return nil
    }
}
