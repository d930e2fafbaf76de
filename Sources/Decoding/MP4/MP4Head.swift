import Media

/// A sound track or a text track of an MP4 file.
struct MP4Track {
    var id: Int64 = 0
    /// `soun`, `text`, ….
    var kind = ""
    /// The tracks that have the chapters of this one (QuickTime's reference `chap`).
    var chapterTracks: [Int64] = []
    var configuration: (any CodecConfiguration)?
    var refusal: Refusal?
    /// Units of time per second.
    var timescale: Int64 = 0
    /// The length in these units, as the packets state it, or else the track's header; 0 if unknown.
    var duration: Int64 = 0
    var edits: [MP4Edit] = []
    /// The times at which the first packets of a text track begin, in units of the track.
    var starts: [Int64] = []
    var table = SampleTable()

    var isText: Bool { kind == "text" || kind == "sbtl" }
}

/// Reads the boxes of an MP4 file for its first track that is played, the places of that track's packet
/// tables, the chapters and the tags. Pure.
///
/// `wanted` are the bytes to read next; they go to `took`. The walk jumps over the sound, if that comes
/// first, over pictures, and over the tables of packets, whose parts are read later, when they are needed.
struct MP4Head {
    /// The boxes that contain other boxes which are needed.
    private static let containers: Set = [
        "moov", "trak", "mdia", "minf", "stbl", "edts", "udta", "meta", "ilst", "mvex", "tref",
    ]
    private static let mostTexts = 4
    /// The most bytes to read of a box's content, by the box's name.
    private static let contents: [String: Int64] = [
        "mvhd": 32, "tkhd": 32, "mdhd": 32, "hdlr": 12, "elst": 12 + 20 * MP4Edit.mostCount, "stsd": 4_096,
        "stts": 8 + 8 * 8_192, "stsc": 8 + 12 * Int64(SampleTable.mostRuns), "stsz": 12, "stz2": 12,
        "stco": 8, "co64": 8, "trex": 24, "chap": 4 * 8, "chpl": MP4Chapters.longestList,
    ]

    private var walk: BoxWalk
    private var path: [String] = []
    /// The box whose content is wanted, and how much of it.
    private var pending: (box: Box, range: ByteRange)?
    private var isDone = false
    private var current = MP4Track()
    private var refusal: Refusal?
    /// The size of packets for which fragments state none, by track.
    private var defaultSizes: [Int64: Int64] = [:]

    private(set) var track: MP4Track?
    /// The text tracks, one of which may have the chapters.
    private var texts: [MP4Track] = []
    private(set) var tags = MP4Tags()
    /// The chapters in the list `chpl`.
    private(set) var chapters = ChapterList()
    /// Units of the movie's time per second.
    private(set) var movieTimescale: Int64 = 0
    /// `true` if the packets are in fragments, each with tables of its own.
    private(set) var isFragmented = false
    /// The offsets of the box `moov`.
    private(set) var movie: ByteRange = 0..<0

    init(at offset: Int64) { walk = BoxWalk(in: offset..<BoxWalk.farthest) }

    /// The bytes to read next; `nil` at the end.
    var wanted: ByteRange? { isDone ? nil : pending?.range ?? walk.wanted }

    /// The text track to which the sound track refers for its chapters; `nil` if there is none.
    var chapterTrack: MP4Track? {
        texts.first { track?.chapterTracks.contains($0.id) == true && $0.timescale > 0 }
    }

    /// The size of packets in fragments that state none.
    var defaultSize: Int64 { track.flatMap { defaultSizes[$0.id] } ?? 0 }

    /// Throws the reason if the file has no track that is played.
    func check() throws(Refusal) -> MP4Track {
        guard let track, track.configuration != nil, track.timescale > 0,
            isFragmented || track.table.isComplete
        else { throw refusal ?? .damaged }
        return track
    }

    /// Takes the bytes of `wanted`, or fewer at the end of the file.
    mutating func took(_ bytes: [UInt8]) {
        if let (box, _) = pending {
            pending = nil
            parse(box, bytes)
        } else if let box = walk.took(bytes) {
            begin(box)
        } else if path.isEmpty {
            isDone = true
        }
        while !isDone, pending == nil, walk.wanted == nil { leave() }
    }

    private mutating func begin(_ box: Box) {
        let parent = path.last
        if parent == "ilst" {
            if box.name == "covr" { return tags.noteCover(in: box.content) }
            if Int64(box.content.count) <= MP4Tags.longestItem { pending = (box, box.content) }
        } else if Self.containers.contains(box.name), parent != nil || box.name == "moov" {
            if box.name == "mvex" { isFragmented = true }
            if box.name == "trak" { current = MP4Track() }
            if box.name == "moov" { movie = box.offset..<box.content.upperBound }
            if walk.enter(box, after: box.name == "meta" ? 4 : 0) { path.append(box.name) }
        } else if parent != nil, let most = Self.contents[box.name] {
            pending = (box, box.content.first(most))
        }
    }

    private mutating func leave() {
        guard let name = path.popLast(), walk.leave() else {
            isDone = true
            return
        }
        if name == "trak", current.isText, texts.count < Self.mostTexts { texts.append(current) }
        if name == "trak", current.kind == "soun", track == nil {
            if current.configuration != nil { track = current } else { refusal = refusal ?? current.refusal }
        }
        // Boxes after `moov` are not needed, and may be large.
        if name == "moov" { isDone = true }
    }

    private mutating func parse(_ box: Box, _ bytes: [UInt8]) {
        guard path.last != "ilst" else { return tags.parse(box.name, bytes) }
        let isLong = bytes.first == 1
        var reader = BigEndianReader(bytes, at: 4)
        switch box.name {
        case "mvhd": movieTimescale = Self.time(&reader, isLong: isLong).scale
        case "mdhd":
            let (scale, duration) = Self.time(&reader, isLong: isLong)
            current.timescale = scale
            if current.duration == 0 { current.duration = duration }
        case "tkhd":
            _ = reader.take(isLong ? 16 : 8)
            current.id = reader.next(4) ?? 0
        case "hdlr" where path.last == "mdia":
            current.kind = ID3Text.latin1(bytes.dropFirst(8))
        case "chap" where path.last == "tref":
            reader = BigEndianReader(bytes)
            while let id = reader.next(4) { current.chapterTracks.append(id) }
        case "chpl": chapters = chapters.isEmpty ? MP4Chapters.list(in: bytes) : chapters
        case "elst": current.edits = MP4Edit.list(&reader, isLong: isLong)
        case "stsd":
            do throws(Refusal) {
                current.configuration = try SoundEntry.configuration(in: bytes)
            } catch { current.refusal = error }
        case "stts": parseTimes(&reader, isWhole: bytes.count == box.content.count)
        case "stsc": current.table.parseRuns(bytes)
        case "stsz", "stz2":
            let size = reader.next(4) ?? 0
            let count = reader.next(4) ?? 0
            let isCompact = box.name == "stz2"
            let width = isCompact ? size & 0xFF : 32
            guard [4, 8, 16, 32].contains(width) else { return }
            current.table.packetCount = count
            current.table.fixedSize = isCompact ? 0 : size
            if current.table.fixedSize == 0 {
                let sizes = NumberTable(in: box.content, after: 12, width: width, count: count)
                current.table.sizes = sizes
                current.table.packetCount = sizes.count
            }
        case "stco", "co64":
            let width: Int64 = box.name == "co64" ? 64 : 32
            let count = reader.next(4) ?? 0
            current.table.chunks = NumberTable(in: box.content, after: 8, width: width, count: count)
        case "trex":
            if let id = reader.next(4), reader.next(4) != nil, reader.next(4) != nil,
                let size = reader.next(4)
            {
                defaultSizes[id] = size
            }
        default: break
        }
    }

    /// Reads the number of units per second, and a length in these units.
    private static func time(_ reader: inout BigEndianReader, isLong: Bool) -> (scale: Int64, duration: Int64)
    {
        _ = reader.take(isLong ? 16 : 8)
        let scale = reader.next(4) ?? 0
        if isLong { _ = reader.next(1) }
        let duration = reader.next(isLong ? 7 : 4) ?? 0
        let isUnknown = duration == (isLong ? 1 << 56 - 1 : Int64(UInt32.max))
        return (scale, isUnknown ? 0 : duration)
    }

    /// Sums the times of all packets, if the table is not too long.
    private mutating func parseTimes(_ reader: inout BigEndianReader, isWhole: Bool) {
        guard isWhole, reader.next(4) != nil else { return }
        var sum: Int64 = 0
        while let count = reader.next(4), let delta = reader.next(4) {
            let (product, isLarge) = count.multipliedReportingOverflow(by: delta)
            guard !isLarge, product < BoxWalk.farthest - sum else { return }
            if current.isText {
                let most = Int64(ChapterList.mostChapters - current.starts.count)
                for index in 0..<min(count, most) { current.starts.append(sum + index * delta) }
            }
            sum += product
        }
        if sum > 0 { current.duration = sum }
    }
}
