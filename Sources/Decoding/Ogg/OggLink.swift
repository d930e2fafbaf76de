import Media

/// One of the logical streams that follow each other in an Ogg resource, as far as it is known. Most have
/// one.
struct OggLink {
    let head: OggHead
    let startTime: Duration
    /// The granule position of the first page's start: 0, except in a recording of a running stream.
    var origin: FrameCount = 0
    /// The granule position where the music ends; `nil` if unknown.
    var end: FrameCount?
    /// The offset after its last page; `nil` if unknown.
    var endOffset: Int64?
    /// Pages whose granule position is known.
    var table = PlaceTable()
    /// The length of the resource; `nil` if unknown.
    var length: Int64?
    /// `true` if streams follow that are not known, so that the length in time is unknown.
    var isFollowed = false
    /// Bytes for one second of the music that was seen; at first the usual rate.
    private var rate: Double
    /// The number of pages that were seen, and their length together; at first one of the usual length.
    private var pages: (count: Int64, byteCount: Int64)

    init(_ head: OggHead, startTime: Duration = .zero, length: Int64?) {
        self.head = head
        self.length = length
        self.startTime = startTime
        end = head.codec.frameCount
        rate = head.codec.usualBytesPerSecond
        pages = (1, head.codec.usualPageByteCount)
    }

    /// The granule position of the first frame that is played.
    var first: FrameCount { origin + head.codec.skippedFrames }

    /// `true` if the music at `time` is known to be in this stream or before it.
    func reaches(_ time: Duration) -> Bool {
        guard end == nil, time >= startTime else { return time < endTime }
        return first + format.frames(in: time - startTime) < table.places.last?.position ?? 0
    }

    /// Takes the pages in `walk`, which begin with the first one of the music, into account.
    mutating func look(at walk: OggPageWalk) {
        var walk = walk
        var last: OggPageWalk.Found?
        var seen: (count: Int64, byteCount: Int64) = (0, 0)
        while let found = walk.next() {
            guard found.page.serial == head.serial, found.page.granule != nil else { continue }
            last = found
            seen = (seen.count + 1, seen.byteCount + Int64(found.page.byteCount))
        }
        if seen.count > 0 { pages = seen }
        guard let last, let granule = last.page.granule, granule > origin, !last.page.isLast else { return }
        let time = format.duration(of: granule - origin)
        // Less than a second of music is too little for an estimate.
        guard time >= .seconds(1) else { return }
        rate = Double(last.end - head.dataStart) / time.seconds
    }

    mutating func note(_ found: OggPageWalk.Found) {
        pages.count += 1
        pages.byteCount += Int64(found.page.byteCount)
        guard let granule = found.page.granule, !found.page.isLast,
            found.page.hasWholePacket || !head.codec.primesWithPacket,
            found.offset > head.dataStart, granule > origin
        else { return }
        table.record(.init(position: granule, offset: found.offset))
    }

    /// The search for the page at which decoding begins, so that the frame at the granule position `target`
    /// is exact; `nil` if that is the first page.
    ///
    /// `mayRepeat` states that a later stream may have the same serial number.
    func search(for target: FrameCount, mayRepeat: Bool = false) -> GranuleSearch? {
        let needed = target - head.codec.primingFrames
        guard needed > origin, let length = endOffset ?? length, length > head.dataStart else { return nil }
        return GranuleSearch(for: needed, in: self, upTo: length, mayRepeat: mayRepeat)
    }

    /// The number of frames that are heard first: a quarter of a second.
    var firstSound: FrameCount { FrameCount(format.sampleRate / 4) }

    /// The offset up to which one request from the first page on probably has the first sound.
    var firstSoundEnd: Int64 { head.dataStart + 2 * pageByteCount + Int64(rate / 4) }

    var bytesPerFrame: Double { rate / Double(format.sampleRate) }

    /// The mean length of the pages that were seen.
    var pageByteCount: Int64 { pages.byteCount / pages.count }
}

extension OggLink: ChainedStream {
    var format: AudioFormat { head.codec.format }

    var frameCount: FrameCount? { end.map { max(0, $0 - first) } }

    var audioStart: Int64 { head.dataStart }

    var memory: Int { head.byteCount }

    /// All bytes up to the end of the resource.
    var audio: ByteRange? { length.map { audioStart..<max(audioStart, $0) } }

    var isDurationExact: Bool { frameCount != nil && !isFollowed && audio?.isEmpty == false }

    /// With streams that follow, and are not known.
    var duration: Duration? {
        guard let audio, !audio.isEmpty else { return nil }
        if isDurationExact { return endTime - startTime }
        // The bytes behind what is known are estimated.
        let rest = max(0, audio.upperBound - (endOffset ?? audioStart))
        let known = endOffset == nil ? .zero : endTime - startTime
        return known + .seconds(Double(rest) / max(rate, 1))
    }

    var bytesPerSecond: Double { isDurationExact ? meanBytesPerSecond ?? rate : rate }

    func offsets(at shares: [Double]) -> [Int64]? {
        guard isDurationExact, let frameCount, frameCount > 0, let audio else { return nil }
        let start = PlaceTable.Place(position: first, offset: audioStart)
        let end = PlaceTable.Place(position: first + frameCount, offset: audio.upperBound)
        return shares.map {
            table.offset(of: first + FrameCount(Double(frameCount) * $0), between: start, and: end)
        }
    }
}

/// The logical streams that end at the end of an Ogg resource, as its last pages show them. Pure.
struct OggTail {
    /// The offset of the last first page; 0 if there is none.
    private var headOffset: Int64 = 0
    /// The last granule position of each stream, by serial number.
    private var ends: [UInt32: FrameCount] = [:]

    init(_ walk: OggPageWalk) {
        var walk = walk
        repeat {
            while let found = walk.next() {
                if found.page.isFirst {
                    headOffset = found.offset
                    ends = [:]
                }
                if let granule = found.page.granule { ends[found.page.serial] = granule }
            }
        } while walk.ended()
    }

    var isEmpty: Bool { ends.isEmpty }

    /// `true` if a stream with this serial number ends here.
    func has(_ serial: UInt32) -> Bool { ends[serial] != nil }

    /// The granule position at the end of `link`; `nil` if it does not end here.
    ///
    /// A later stream may have the same serial number, against RFC 3533 §4. That shows only once it is
    /// reached, or once the whole resource is stored.
    func end(of link: OggLink) -> FrameCount? {
        headOffset < link.audioStart ? ends[link.head.serial] : nil
    }
}

/// The form that is stored with a resource of one logical stream and of known length.
extension OggLink {
    /// The known pages; `withEnd`, also the end of the music, if it is known.
    func stored(withEnd: Bool) -> [UInt8] {
        StoredPlaces(table.places, adding: [withEnd ? end ?? 0 : 0]).bytes(for: key)
    }

    /// Takes what `stored` returned in an earlier session for the same stream and resource; anything else
    /// changes nothing. Returns `true` if the end of the music was stored.
    mutating func restore(_ bytes: [UInt8]) -> Bool {
        guard let length, let stored = StoredPlaces(bytes, for: key, adding: 1, before: length),
            stored.numbers[0] <= PlaceTable.farthest
        else { return false }
        table = PlaceTable(stored)
        guard stored.numbers[0] > first else { return false }
        end = stored.numbers[0]
        return true
    }

    private var key: [Int64] { [Int64(head.serial), length ?? 0, origin] }
}
