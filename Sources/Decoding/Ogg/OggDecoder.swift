package import Media

/// Plays Vorbis, Opus and FLAC in Ogg.
///
/// libvorbis, libopus and libFLAC only decode packets: this type decides which bytes are read, and where the
/// music begins and ends. After a seek, the samples are the same as when decoding from the start.
package final class OggDecoder: AudioDecoder {
    /// The most bytes between the last page that a search finds and the next logical stream: a window and two
    /// pages.
    private static let mostBeforeLink = GranuleSearch.window + 2 * Int64(OggPage.mostByteCount)
    /// Packets at hand are decoded up to this many bytes of frames, so that the sink is not woken for each.
    private static let mostDecoded = 64 << 10

    private var input: ProbedStream
    private var source: any ByteSource { input.source }
    private var leading: (tags: TrackTags, loudness: Loudness) = (TrackTags(), Loudness())

    package private(set) var info = StreamInfo.unopened

    /// The logical streams that were reached so far.
    private(set) var chain = StreamChain<OggLink>()
    private var place: Place?
    private var hasAskedForTail = false
    /// The streams that the end of the resource showed when it was looked at.
    private var tail: OggTail?
    /// `true` once the bytes behind the last known stream were searched for another stream in vain.
    private var hasSearchedForLink = false

    /// The place up to which the logical stream is decoded that is played.
    private struct Place {
        let pages: OggPageReader
        var packets: OggPackets
        var player: OggPlayer

        init(
            _ head: OggHead,
            _ codec: any PacketCodec,
            _ pages: OggPageReader,
            from wanted: FrameCount? = nil,
            isAtStart: Bool = true
        ) {
            self.pages = pages
            let skipped = head.codec.skippedFrames
            player = OggPlayer(codec, skipping: skipped, from: wanted, isAtStart: isAtStart)
            packets = OggPackets(upTo: head.codec.longestPacket)
        }
    }

    /// Creates a decoder for `stream`. It reads nothing before `open`.
    package init(_ stream: ProbedStream) { input = stream }

    package func open() async throws {
        try Task.checkCancellation()
        if chain.streams.isEmpty { try await opening() }
    }

    private func opening() async throws {
        let start = try await input.begun(as: .ogg)
        let pages = OggPageReader(source, at: start.offset, holding: start.bytes)
        var (made, link) = try await begin(try await head(pages), .zero, pages)
        guard !made.player.needsPage else {
            throw MediaError(.emptyResource, input.subject, "is empty: there is nothing to play")
        }
        if link.restore(input.seekTable) { chain.tailLength = source.length }
        leading = (start.tags, start.loudness)
        input.forgetStart()
        chain.streams = [link]
        place = made
        update()
        try await lookAtTail()
    }

    /// Begins the logical stream of `head` at `startTime`, up to the first page of its music, which states
    /// where it begins.
    private func begin(_ head: OggHead, _ startTime: Duration, _ pages: OggPageReader) async throws
        -> (Place, OggLink)
    {
        var link = OggLink(head, startTime: startTime, length: source.length)
        link.look(at: pages.walk)
        var place = Place(head, try await handle(of: head), pages)
        source.willRead(head.dataStart..<link.firstSoundEnd)
        _ = try await readPage(in: &place, of: &link)
        return (place, link)
    }

    private func head(_ pages: OggPageReader) async throws -> OggHead {
        try await input.reporting(isOpen: !chain.streams.isEmpty) { try await OggHead.read(pages) }
    }

    private func handle(of head: OggHead) async throws -> any PacketCodec {
        try await input.reporting(isOpen: !chain.streams.isEmpty) {
            try await head.codec.handle(headers: head.headers, subject: input.subject)
        }
    }

    // MARK: Decoding

    /// Reads pages until the player has packets, another logical stream begins, or the resource ends. Returns
    /// the first page of the other stream.
    private func readPage(in place: inout Place, of link: inout OggLink) async throws -> OggPageWalk.Found? {
        while place.player.needsPage {
            guard let found = try await place.pages.next() else { return nil }
            if found.page.isFirst { return found }
            guard found.page.serial == link.head.serial else { continue }
            link.note(found)
            place.player.receive(place.packets.receive(found))
            link.origin = place.player.origin ?? link.origin
        }
        return nil
    }

    /// The first page of the next logical stream, once it was read.
    private var nextHead: OggPageWalk.Found?

    package func decode(into pcm: UnsafeMutableRawBufferPointer) async throws -> DecodeStep {
        try await open()
        while true {
            if let format = place?.player.output.format, format != info.format {
                update()
                return .formatChanged
            }
            let count = decodeHeld(into: pcm)
            if count > 0 {
                chain.heard()
                return .frames(count)
            }
            guard try await readOn() else { return .end }
        }
    }

    /// Decodes the packets at hand, as far as there is room for their frames. Returns the number of frames.
    private func decodeHeld(into pcm: UnsafeMutableRawBufferPointer) -> Int {
        guard let output = place?.player.output else { return 0 }
        let width = output.format.bytesPerFrame
        let room = min(pcm.count, Self.mostDecoded)
        var count = 0
        while (count + 1) * width <= room {
            let passed = output.pass(into: UnsafeMutableRawBufferPointer(rebasing: pcm[count * width..<room]))
            count += passed
            if passed == 0, place?.player.decodeNext() != true { break }
        }
        return count
    }

    /// Reads pages until there are packets, or another logical stream has begun; `false` at the end of the
    /// music.
    private func readOn() async throws -> Bool {
        guard var place else { return false }
        if let nextHead { return try await beginLink(nextHead) }
        // Moved out, so that it has one owner and is changed in place. It is put back even if the task is
        // cancelled during a read.
        self.place = nil
        defer { self.place = place }
        nextHead = try await readPage(in: &place, of: &chain.streams[chain.playing])
        guard place.player.needsPage else { return true }
        self.place = place
        ended(place)
        return nextHead != nil
    }

    /// The music of the link at `place` has ended: its length is known now.
    private func ended(_ place: Place) {
        guard let position = place.player.position else { return }
        chain.streams[chain.playing].end = min(position, place.player.limit ?? position)
        chain.streams[chain.playing].endOffset = nextHead?.offset
        chain.streams[chain.playing].isFollowed = nextHead != nil
        update()
    }

    /// Continues with the logical stream whose first page is `first`.
    private func beginLink(_ first: OggPageWalk.Found) async throws -> Bool {
        guard let pages = place?.pages else { return false }
        pages.goBack(to: first)
        let head = try await head(pages)
        let next = Place(head, try await handle(of: head), pages)
        nextHead = nil
        var link = OggLink(head, startTime: chain.current.endTime, length: source.length)
        // The end of the resource shows later if others follow.
        link.isFollowed = true
        try chain.go(on: link, in: input)
        place = next
        // Another format is reported before its facts.
        if next.player.output.format == info.format { update() }
        return true
    }

    // MARK: What is known

    private func update() {
        guard let place else { return }
        chain.streams[chain.streams.count - 1].length = source.length
        let link = chain.current
        info.format = link.format
        info.audioStart = chain.streams[0].audioStart
        info.codec = "Ogg, " + place.player.output.codec.name
        info.tags = leading.tags.filled(from: link.head.comments.tags)
        info.songTitle = info.tags.songTitle
        info.loudness = leading.loudness.filled(from: link.head.comments.loudness)
        info.skippedByteCount = place.pages.walk.skippedByteCount
        info.revise(by: chain)
    }

    /// The bytes at the end of the resource, which show its length in time; `nil` if they were looked at.
    private var tailRange: ByteRange? {
        chain.tail(of: ByteWindow.requestByteCount, length: source.length)
    }

    /// Reads the end of the resource once it is stored, so that this needs no request.
    private func lookAtTail() async throws {
        guard let range = tailRange, let bytes = try await source.allStored(in: range) else { return }
        receiveTail(bytes, in: range)
    }

    /// Looks for the last page of the music in `bytes`, the end of the resource.
    private func receiveTail(_ bytes: [UInt8], in range: ByteRange) {
        chain.tailLength = range.upperBound
        tail = OggTail(OggPageWalk(at: range.lowerBound, holding: bytes))
        hasSearchedForLink = false
        noteTail()
    }

    /// Learns from the end of the resource if the last known logical stream ends there.
    private func noteTail() {
        guard let tail, var last = chain.streams.last else { return }
        let end = tail.end(of: last)
        last.isFollowed = end == nil && !tail.isEmpty
        if let end, end >= last.first { last.end = end }
        chain.streams[chain.streams.count - 1] = last
        update()
    }

    package func scanStored() async throws -> Bool {
        try await open()
        try await lookAtTail()
        // Requested only now: until the music plays, nothing else is requested.
        if let tailRange, chain.tailLength == nil, !hasAskedForTail {
            hasAskedForTail = true
            source.prefetch(tailRange)
        }
        return isRestStored ? try await findLink() : false
    }

    // MARK: Chained streams

    /// `true` if all from the last known logical stream on is stored, so that a search makes no request.
    private var isRestStored: Bool {
        guard let length = source.length, let start = chain.streams.last?.audioStart, start < length
        else { return false }
        return source.isStored(start..<length)
    }

    /// `true` if the music at `time` may be in a logical stream that is not known yet.
    private func isUnknown(_ time: Duration) -> Bool {
        guard let last = chain.streams.last, time >= last.startTime else { return false }
        return last.isFollowed && !last.reaches(time) || isRestStored
    }

    /// Finds where the last known logical stream ends, and the head of the one that follows it. Returns
    /// `false` if none does, or none that is played.
    private func findLink() async throws -> Bool {
        guard !hasSearchedForLink, !chain.isFull, source.length != nil, let last = chain.streams.last
        else { return false }
        let number = chain.streams.count - 1
        let mayRepeat = tail?.has(last.head.serial) ?? true
        let search = last.search(for: PlaceTable.farthest, mayRepeat: mayRepeat)
        let offset = try await page(for: PlaceTable.farthest, in: number, by: search)
        let start = offset ?? last.head.dataStart
        let pages = OggPageReader(source, at: start)
        var end: FrameCount?
        var first: OggPageWalk.Found?
        while first == nil, let found = try await pages.next(within: Self.mostBeforeLink),
            found.offset - start <= Self.mostBeforeLink
        {
            if found.page.isFirst {
                first = found
            } else if found.page.serial == last.head.serial {
                end = found.page.granule ?? end
            }
        }
        guard let first, let end else {
            hasSearchedForLink = true
            noteTail()
            return false
        }
        var known = chain.streams[number]
        known.end = end
        known.endOffset = first.offset
        known.isFollowed = true
        var next: OggLink?
        pages.goBack(to: first)
        do {
            next = try await begin(try await head(pages), known.endTime, pages).1
        } catch let error as MediaError where [.decodingFailed, .missingLibrary].contains(error.code) {}
        // Changed only after the last `await`, so that a cancelled search changes nothing.
        chain.streams[number] = known
        hasSearchedForLink = next == nil
        if let next {
            _ = chain.add(next, after: number)
            noteTail()
        } else {
            update()
        }
        return !hasSearchedForLink
    }

    // MARK: Seeking

    package func seek(to time: Duration) async throws -> SeekLanding {
        try await open()
        update()
        if let tailRange, chain.tailLength == nil, time > .zero,
            chain.streams.last.map({ $0.end == nil || time > $0.endTime }) ?? false
        {
            let window = try await source.window(of: tailRange)
            if window.end == tailRange.upperBound { receiveTail(window.bytes, in: tailRange) }
        }
        while isUnknown(time), try await findLink() {}
        let number = chain.number(at: time)
        let link = chain.streams[number]
        let frames = link.frames(before: time)
        let target = link.first + frames
        let offset = try await page(for: target, in: number, by: link.search(for: target))
        let handle = try await handle(of: link.head)
        // Changed only after the last `await`, so that a cancelled seek changes nothing.
        let pages = OggPageReader(source, at: offset ?? link.head.dataStart)
        chain.playing = number
        place = Place(link.head, handle, pages, from: target, isAtStart: offset == nil)
        nextHead = nil
        update()
        return link.landing(at: frames, isExact: link.end != nil || !link.isFollowed)
    }

    /// The offset of the page at which decoding begins for the granule position `target`; `nil` if it begins
    /// with the first one.
    private func page(for target: FrameCount, in number: Int, by search: GranuleSearch?) async throws
        -> Int64?
    {
        guard var search else { return nil }
        while true {
            switch search.next() {
            case .land(let offset):
                let end = search.requestEnd(for: target + chain.streams[number].firstSound)
                source.willRead((offset ?? chain.streams[number].audioStart)..<end)
                return offset
            case .read(let range):
                source.willRead(range)
                var window = ByteWindow(source, at: range.lowerBound)
                var isWanted = true
                while isWanted {
                    let isMore = try await window.grow(to: range.count)
                    isWanted = search.took(window.bytes, isAtEnd: !isMore)
                }
                note(window)
            }
        }
    }

    /// Records the pages in `window`, for later seeks.
    private func note(_ window: ByteWindow) {
        var walk = OggPageWalk(at: window.start, holding: window.bytes)
        while let found = walk.next() {
            guard let number = chain.streams.lastIndex(where: { $0.audioStart <= found.offset }),
                chain.streams[number].head.serial == found.page.serial,
                found.offset < chain.streams[number].endOffset ?? .max
            else { continue }
            chain.streams[number].note(found)
        }
    }

    package func isStored(at time: Duration) -> Bool {
        guard let first = chain.streams.first, let last = chain.streams.last, let length = source.length,
            chain.tailLength != nil || first.end != nil, !last.isFollowed || last.reaches(time)
        else { return false }
        let link = chain.streams[chain.number(at: time)]
        let target = link.first + link.frames(before: time)
        let search = link.search(for: target)
        let start = search?.bracket.lowerBound ?? link.audioStart
        let sound = search?.requestEnd(for: target + link.firstSound) ?? link.firstSoundEnd
        let end = max(sound, (search?.bracket.upperBound ?? start) + Int64(ByteWindow.requestByteCount))
        return source.isStored(start..<max(start, min(length, end)))
    }

    package func seekTable() -> [UInt8] {
        guard chain.streams.count == 1, !chain.current.isFollowed, source.length != nil else { return [] }
        update()
        // Until the tail was read, other streams may follow, even if this one states its length.
        return chain.current.stored(withEnd: chain.tailLength == source.length)
    }
}
