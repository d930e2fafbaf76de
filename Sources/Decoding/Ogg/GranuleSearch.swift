import Media

/// Finds the page of a logical Ogg stream at which decoding begins for a granule position: one at or before
/// it, near enough to read on from there. Pure.
///
/// It interpolates between known pages and looks at the heads of those in a window, which is one request. The
/// window is as long as the pages there need: 64 KiB for most Vorbis and Opus, and about 200 KiB for FLAC,
/// whose pages have up to 65,307 bytes. The page that it finds is always a right one: a wrong or hostile
/// granule position only makes the search longer.
struct GranuleSearch {
    /// A page, and the granule position at its end.
    typealias Place = PlaceTable.Place

    enum Step: Equatable {
        /// Request these bytes, read from their start, and call `took`. They include the first sound, if the
        /// page is where it is expected.
        case read(ByteRange)
        /// Decode from the page at this offset on; `nil` if from the start of the logical stream.
        case land(Int64?)
    }

    /// The least length of a window, and of a bracket that is narrow enough to read through.
    static let window = Int64(ByteWindow.requestByteCount)
    /// A window begins two pages and this margin before the estimate, since the wanted page ends before the
    /// one that has the target. It ends two pages, the margin and the first sound after the estimate. So it
    /// usually contains the wanted page and the one after it.
    private static let margin: Int64 = 16 << 10
    /// The most bytes of a request that are for the first sound (24 bits at 96 kHz). With the longest pages,
    /// a request has 416 KiB.
    private static let mostSound: Int64 = 128 << 10
    /// The most windows to look at. Interpolation needs up to four. From the seventh on, every second window
    /// halves the bracket, so the search ends for any file.
    private static let mostWindows = 64
    private static let mostInterpolations = 6
    /// The most by which the mean rate of a stream grows when its known part doubles.
    private static let mostGrowth = 1.5

    private let target: FrameCount
    private let link: OggLink
    /// `true` if a later stream may have the same serial number.
    private let mayRepeat: Bool
    /// The mean length of the pages seen last.
    private var pageByteCount: Int64
    /// The last known page at or before the target; `nil` for the start of the music.
    private var low: Place?
    /// The first known offset after the target, and the granule position there; `nil` if that is not known.
    private var high: (offset: Int64, position: FrameCount?)
    /// Bytes for one frame after the lower end of the bracket, and before the upper one, where they are
    /// known.
    private var rates: (low: Double, high: Double?)
    /// The end of the bracket that the last window has moved.
    private var movedEnd: End?
    private var windowCount = 0
    private var window: Window?

    private enum End { case low, high }

    /// The window that is being read, and the pages found in it.
    private struct Window {
        let start: Int64
        let limit: Int64
        var walk: Int64
        /// The number of pages, and their length together.
        var pageCount: Int64 = 0
        var pagesByteCount: Int64 = 0
        var seen: (first: Place, last: Place)?
        /// The last page at or before the target at which decoding can begin, and the first one after the
        /// target.
        var below: Place?
        var above: Place?
        /// `true` if another stream begins in the window.
        var isOver = false

        /// `true` if the pages that follow cannot change the result.
        var isDone: Bool {
            guard let above, let seen else { return isOver }
            return isOver || below != nil || seen.last != above
        }

        /// Bytes for one frame; `nil` if there are too few pages to compute it.
        var rate: Double? {
            guard let seen, seen.last.position > seen.first.position, seen.last.offset > seen.first.offset
            else { return nil }
            return Double(seen.last.offset - seen.first.offset)
                / Double(seen.last.position - seen.first.position)
        }
    }

    /// - Parameters:
    ///   - target: the granule position from which on decoding is needed.
    ///   - link: the logical stream, as far as it is known.
    ///   - end: the offset where its music ends, at the latest.
    ///   - mayRepeat: `true` if a later stream may have the same serial number.
    init(for target: FrameCount, in link: OggLink, upTo end: Int64, mayRepeat: Bool = false) {
        self.target = target
        self.link = link
        self.mayRepeat = mayRepeat
        pageByteCount = link.pageByteCount
        rates = (link.bytesPerFrame, nil)
        high = (end, link.end)
        let (below, above) = link.table.around(target)
        let range = link.audioStart..<max(link.audioStart, end)
        if let below, range.contains(below.offset), below.position >= link.origin { low = below }
        if let above, range.contains(above.offset) { high = (above.offset, above.position) }
    }

    /// `true` if the last page is looked for: no position leads to it, so the bracket is halved.
    private var isForEnd: Bool { target >= PlaceTable.farthest - OpusHead.primingFrames }
    private var lowOffset: Int64 { low?.offset ?? link.audioStart }
    private var lowPosition: FrameCount { low?.position ?? link.origin }

    /// The bytes in which the page is known to begin.
    var bracket: ByteRange { lowOffset..<max(lowOffset, high.offset) }

    /// Returns the next step. The caller asks at the beginning and after each window.
    mutating func next() -> Step {
        guard bracket.count > Self.window, windowCount < Self.mostWindows, lowPosition < target else {
            return .land(low?.offset)
        }
        let expected = estimate()
        // Begins no earlier than the known page: a window that begins with it shows the most.
        let start = min(max(expected - Self.margin - 2 * pageByteCount, lowOffset), high.offset - 1)
        let firstSound = Double(link.head.codec.primingFrames + link.firstSound)
        let sound = Int64(min(firstSound * rate, Double(Self.mostSound)))
        let end = max(start + Self.window, expected + Self.margin + 2 * pageByteCount + sound)
        windowCount += 1
        window = Window(start: start, limit: min(end, high.offset), walk: start)
        return .read(start..<end)
    }

    /// The offset up to which one request from the page of the landing on probably has the music up to
    /// `position`.
    func requestEnd(for position: FrameCount) -> Int64 {
        let music = max(0, Double(position - lowPosition) * rate)
        let most = Double(Self.window + Self.mostSound)
        return lowOffset + max(Self.window, 2 * pageByteCount + Int64(min(music, most)))
    }

    /// Bytes for one frame near the target, as far as is known.
    private var rate: Double {
        switch movedEnd {
        case .low: return rates.low
        case .high: return rates.high ?? rates.low
        case nil:
            guard let position = high.position, position > lowPosition else { return rates.low }
            return Double(high.offset - lowOffset) / Double(position - lowPosition)
        }
    }

    /// The offset at which the target probably is.
    ///
    /// Uses the rate in the last window, which the music near it usually keeps. Uses the mean rate of the
    /// bracket before the first window, or if the last window's rate leads out of the bracket.
    private func estimate() -> Int64 {
        let width = Double(high.offset - lowOffset)
        if isForEnd {
            let middle = lowOffset + Int64(width / 2)
            // In the next stream, but not farther behind its start, positions are lower than those known.
            return mayRepeat ? min(middle, lowOffset + (lowOffset - link.audioStart)) : middle
        }
        guard windowCount < Self.mostInterpolations || windowCount % 2 == 1 else {
            return lowOffset + Int64(width / 2)
        }
        let frames = Double(target - lowPosition)
        var near: Double?
        switch movedEnd {
        case .low: near = frames * rates.low
        case .high:
            if let position = high.position, let rate = rates.high {
                near = width - Double(position - target) * rate
            }
        case nil: break
        }
        if let near, near > 0, near < width { return lowOffset + Int64(near) }
        guard let position = high.position, position > lowPosition else {
            return lowOffset + Int64(min(max(frames * rates.low, 0), width))
        }
        return lowOffset + Int64(min(max(frames / Double(position - lowPosition) * width, 0), width))
    }

    /// Takes the next bytes of the window, which begin where the last ones ended. Returns `true` if more are
    /// wanted.
    ///
    /// `bytes` are all that were read of the window so far. Without new ones the resource ends there.
    mutating func took(_ bytes: [UInt8], isAtEnd: Bool) -> Bool {
        guard var window else { return false }
        defer { self.window = window }
        bytes.withUnsafeBytes { bytes in
            while !window.isDone {
                let index = OggPage.firstMark(in: bytes, from: Int(window.walk - window.start))
                guard let page = OggPage(headAt: index, of: bytes) else {
                    // A head may be cut by the end of the bytes.
                    guard bytes.count - index >= OggPage.headByteCount + 255 else { break }
                    window.walk = window.start + Int64(index) + 1
                    continue
                }
                let offset = window.start + Int64(index)
                note(page, at: offset, in: &window)
                window.walk = offset + Int64(page.byteCount)
            }
        }
        let isWhole = isAtEnd || window.start + Int64(bytes.count) >= window.limit
        guard window.isDone || isWhole else { return true }
        finish(&window)
        return false
    }

    private func note(_ page: OggPage, at offset: Int64, in window: inout Window) {
        // A first page begins a later stream: the pages from there on do not belong to this one.
        if page.isFirst { window.isOver = true }
        guard !page.isFirst, page.serial == link.head.serial, let granule = page.granule,
            offset < high.offset,
            !isRepeated(granule, at: offset)
        else { return }
        let place = Place(position: granule, offset: offset)
        window.pageCount += 1
        window.pagesByteCount += Int64(page.byteCount)
        window.seen = (window.seen?.first ?? place, place)
        if granule > target {
            window.above = window.above ?? place
        } else if page.hasWholePacket || !link.head.codec.primesWithPacket, !page.isLast,
            granule >= lowPosition,
            window.above == nil
        {
            window.below = place
        }
    }

    /// `true` if a page has too low a granule position for its distance from the start: it is of a later
    /// stream.
    private func isRepeated(_ granule: FrameCount, at offset: Int64) -> Bool {
        guard mayRepeat, let low, low.offset > link.audioStart else { return false }
        let growth = Double(offset - link.audioStart) / Double(low.offset - link.audioStart)
        return growth * Double(low.position - link.origin) > Self.mostGrowth * Double(granule - link.origin)
    }

    /// Narrows the bracket by what the window has shown.
    private mutating func finish(_ window: inout Window) {
        if window.pageCount > 0 { pageByteCount = window.pagesByteCount / window.pageCount }
        if let below = window.below {
            low = below
            rates.low = window.rate ?? rates.low
            movedEnd = .low
            // The next page is after the target.
            if window.isDone { high.offset = below.offset }
        } else {
            // The page at which decoding begins is before this window.
            high.offset = window.start
            movedEnd = nil
            guard let above = window.above else { return }
            let rate = window.rate
            let frames = rate.map { Double(above.offset - window.start) / $0 } ?? 0
            high.position = max(above.position - FrameCount(min(frames, 1e15)), target)
            rates.high = rate ?? rates.high
            movedEnd = .high
        }
    }
}
