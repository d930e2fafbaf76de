import Media

/// One of the logical streams that follow each other in an Ogg resource, as far as it is known. Most have
/// one.
struct OggLink {
    let head: OggHead
    /// The position of its first frame in the music of the resource.
    let startTime: Duration
    /// The granule position of the first page's start: 0, except in a recording of a running stream.
    var origin: FrameCount = 0
    /// The granule position where the music ends; `nil` if unknown.
    var end: FrameCount?
    /// The offset after its last page; `nil` if unknown.
    var endOffset: Int64?
    /// Pages whose granule position is known.
    var table = PlaceTable()
    /// Bytes for one second of music, as far as is known.
    var bytesPerSecond: Double
    /// The number of pages that were seen, and their length together; at first one of the usual length.
    private var pages: (count: Int64, byteCount: Int64)

    init(_ head: OggHead, startTime: Duration = .zero) {
        self.head = head
        self.startTime = startTime
        end = head.codec.frameCount
        // An estimate until pages were seen.
        bytesPerSecond = head.codec.usualBytesPerSecond
        pages = (1, head.codec.usualPageByteCount)
    }

    var format: AudioFormat { head.codec.format }

    /// The granule position of the first frame that is played.
    var first: FrameCount { origin + head.codec.skippedFrames }

    /// The number of frames; `nil` if unknown.
    var frameCount: FrameCount? { end.map { max(0, $0 - first) } }

    /// The position after its last frame in the music of the resource; `startTime` if unknown.
    var endTime: Duration { startTime + format.duration(of: frameCount ?? 0) }

    /// `true` if the music at `time` is known to be in this stream or before it.
    func reaches(_ time: Duration) -> Bool {
        guard end == nil, time >= startTime else { return time < endTime }
        return first + format.frames(in: time - startTime) < table.places.last?.position ?? 0
    }

    /// The bytes of the music up to `page`, if its pages and its rate are as those that were seen.
    func expectedByteCount(upTo page: OggTail.Page) -> Double {
        max(
            Double(page.sequence) * Double(pageByteCount),
            format.duration(of: max(0, page.granule - origin)).seconds * bytesPerSecond
        )
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
        bytesPerSecond = Double(last.end - head.dataStart) / time.seconds
    }

    /// Records a page of the music.
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
    func search(for target: FrameCount, length: Int64?, mayRepeat: Bool = false) -> GranuleSearch? {
        let needed = target - head.codec.primingFrames
        guard needed > origin, let length = endOffset ?? length, length > head.dataStart else { return nil }
        return GranuleSearch(
            for: needed,
            in: head.serial,
            from: head.dataStart,
            at: origin,
            to: (length, end),
            knowing: table,
            bytesPerFrame: bytesPerSecond / Double(format.sampleRate),
            withWholePacket: head.codec.primesWithPacket,
            pageByteCount: pageByteCount,
            firstSound: head.codec.primingFrames + firstSound,
            mayRepeat: mayRepeat
        )
    }

    /// The number of frames that are heard first: a quarter of a second.
    var firstSound: FrameCount { FrameCount(format.sampleRate / 4) }

    /// The offset up to which one request from the first page on probably has the first sound.
    var firstSoundEnd: Int64 {
        head.dataStart + 2 * pageByteCount + Int64(bytesPerSecond / 4)
    }

    private var pageByteCount: Int64 { pages.byteCount / pages.count }

    /// The offsets at `shares` of the music, which has `count` frames and ends at `end` at the latest.
    func offsets(at shares: [Double], of count: FrameCount, upTo end: Int64) -> [Int64] {
        let places = table.places.filter {
            (head.dataStart..<end).contains($0.offset) && $0.position > first
        }
        var known = [PlaceTable.Place(position: first, offset: head.dataStart)] + places
        if known[known.count - 1].position < first + count {
            known.append(.init(position: first + count, offset: end))
        }
        var next = 1
        return shares.map { share in
            let position = first + FrameCount(Double(count) * share)
            while next < known.count - 1, known[next].position < position { next += 1 }
            let low = known[next - 1]
            let high = known[next]
            let share = Double(position - low.position) / Double(max(1, high.position - low.position))
            return low.offset + Int64(Double(high.offset - low.offset) * min(max(share, 0), 1))
        }
    }
}

/// The logical streams that end at the end of an Ogg resource, as its last pages show them. Pure.
struct OggTail {
    struct Page {
        let granule: FrameCount
        let offset: Int64
        let sequence: UInt32
    }

    /// If a stream of one serial number takes this many times the bytes that it should, others precede it.
    private static let leastExcess = 1.75

    /// The offset of the last first page; 0 if there is none.
    private var headOffset: Int64 = 0
    /// The first page and the last one of each stream, of those with a granule position.
    private var pages: [UInt32: (first: Page, last: Page)] = [:]

    init(_ walk: OggPageWalk) {
        var walk = walk
        repeat {
            while let found = walk.next() {
                if found.page.isFirst {
                    headOffset = found.offset
                    pages = [:]
                }
                guard let granule = found.page.granule else { continue }
                let page = Page(granule: granule, offset: found.offset, sequence: found.page.sequence)
                pages[found.page.serial, default: (page, page)].last = page
            }
        } while walk.ended()
    }

    var isEmpty: Bool { pages.isEmpty }

    /// `true` if a stream with this serial number ends here.
    func has(_ serial: UInt32) -> Bool { pages[serial] != nil }

    /// The granule position at the end of `link`; `nil` if it does not end here.
    ///
    /// A later stream may have the same serial number. Then, the last page has too low a number and position
    /// for its distance from the start of `link`. With `trusted`, that does not count.
    func end(of link: OggLink, trusted: Bool) -> FrameCount? {
        guard let (first, last) = pages[link.head.serial], headOffset < link.head.dataStart else {
            return nil
        }
        guard !trusted, last.granule != link.head.codec.frameCount else { return last.granule }
        // Both ends count: one of them may be quiet.
        let share = Double(last.offset - first.offset)
        let expected = max(
            link.expectedByteCount(upTo: last),
            share * Double(last.sequence) / Double(max(1, last.sequence &- first.sequence)),
            share * Double(last.granule) / Double(max(1, last.granule - first.granule))
        )
        let distance = Double(last.offset - link.head.dataStart) - Double(GranuleSearch.window)
        return distance > Self.leastExcess * expected ? nil : last.granule
    }
}

/// The length of a resource of `length` bytes, of whose logical streams `links` were reached.
struct OggClock: StreamClock {
    let links: [OggLink]
    /// The number of the one that is played.
    let playing: Int
    /// `true` if others follow, so that the length in time is unknown.
    let isChained: Bool
    let length: Int64?

    var audio: ByteRange? {
        let start = links[0].head.dataStart
        return length.map { start..<max(start, $0) }
    }

    /// The number of frames of the last one; `nil` if its end, or what follows it, is unknown.
    private var lastCount: FrameCount? {
        guard !isChained, let audio, !audio.isEmpty else { return nil }
        return links.last?.frameCount
    }

    var duration: Duration? {
        guard let last = links.last, let audio, !audio.isEmpty else { return nil }
        if isDurationExact { return last.endTime }
        // The bytes behind what is known are estimated.
        let rest = max(0, audio.upperBound - (last.endOffset ?? last.head.dataStart))
        let known = last.endOffset == nil ? last.startTime : last.endTime
        return known + .seconds(Double(rest) / max(last.bytesPerSecond, 1))
    }

    var isDurationExact: Bool { lastCount != nil }

    var bytesPerSecond: Double {
        let mean = isDurationExact ? meanBytesPerSecond : nil
        return mean ?? links[playing].bytesPerSecond
    }

    func offsets(at shares: [Double]) -> [Int64]? {
        guard links.count == 1, let lastCount, lastCount > 0, let audio else { return nil }
        return links[0].offsets(at: shares, of: lastCount, upTo: audio.upperBound)
    }
}

/// The form that is stored with a resource of one logical stream.
extension OggLink {
    /// The known pages, and the granule position `end` of the music's end, `nil` if unknown, in a resource of
    /// `length` bytes.
    func stored(end: FrameCount?, length: Int64) -> [UInt8] {
        StoredPlaces(table.places, adding: [end ?? 0]).bytes(for: key(length))
    }

    /// Takes what `stored` returned in an earlier session for the same stream in a resource of `length`
    /// bytes; anything else changes nothing. Returns `true` if the end of the music was stored.
    mutating func takeStored(_ bytes: [UInt8], length: Int64) -> Bool {
        guard
            let stored = StoredPlaces(
                bytes,
                for: key(length),
                adding: 1,
                atMost: PlaceTable.mostPlaces,
                before: length
            ), stored.numbers[0] <= OggPage.farthestGranule
        else { return false }
        table = PlaceTable(stored)
        guard stored.numbers[0] > first else { return false }
        end = stored.numbers[0]
        return true
    }

    private func key(_ length: Int64) -> [Int64] { [Int64(head.serial), length, origin] }
}
