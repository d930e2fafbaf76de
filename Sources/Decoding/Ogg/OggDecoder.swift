package import Media

/// Plays Vorbis, Opus and FLAC in Ogg.
///
/// libvorbis, libopus and libFLAC only decode packets: this type decides which bytes are read, and where the
/// music begins and ends. After a seek, the samples are the same as when decoding from the start.
package final class OggDecoder: AudioDecoder {
    /// The bytes at the end of a resource in which its length in time is looked up.
    private static let tailByteCount = Int64(ByteWindow.requestByteCount)
    /// The most bytes of heads that are kept, and the most streams without sound in a row.
    private static let mostHeadBytes = 4 << 20
    private static let mostEmptyLinks = 64
    /// The most bytes between the last page that a search finds and the next logical stream: a window and two
    /// pages.
    private static let mostBeforeLink = GranuleSearch.window + 2 * Int64(OggPage.mostByteCount)
    /// Packets at hand are decoded up to this many bytes of frames, so that the sink is not woken for each.
    private static let mostDecoded = 64 << 10

    private var input: ProbedStream
    private var source: any ByteSource { input.source }
    private var leading: (tags: TrackTags, loudness: Loudness) = (TrackTags(), Loudness())

    package private(set) var info = StreamInfo.unopened

    /// The logical streams that were reached so far; empty before `open`.
    private(set) var links: [OggLink] = []
    private var headByteCount = 0
    /// The number of logical streams that began since the last sound.
    private var emptyLinkCount = 0
    private var place: Place?
    private var hasFormatChange = false

    /// The length of the resource when its end was looked at; `nil` before that.
    private var tailLength: Int64?
    private var hasAskedForTail = false
    /// The streams that the end showed then.
    private var tail: OggTail?
    /// `true` if other streams follow those of `links`, so that the length in time is unknown.
    private var isChained = false
    /// `true` once the bytes behind the last of `links` were searched for another stream in vain.
    private var hasSearchedForLink = false

    /// The place up to which the music is decoded.
    private struct Place {
        /// The number of the logical stream.
        var link: Int
        let pages: OggPageReader
        var packets: OggPackets
        var player: OggPlayer

        init(_ link: Int, of head: OggHead, _ pages: OggPageReader, _ player: OggPlayer) {
            self.link = link
            self.pages = pages
            self.player = player
            packets = OggPackets(upTo: head.codec.longestPacket)
        }
    }

    /// Creates a decoder for `stream`. It reads nothing before `open`.
    package init(_ stream: ProbedStream) { input = stream }

    package func open() async throws { if links.isEmpty { try await opening() } }

    private func opening() async throws {
        let start = try await input.begun(as: .ogg)
        let pages = OggPageReader(source, at: start.offset, holding: start.bytes)
        var (made, link) = try await begin(OggLink(try await head(pages)), number: 0, pages)
        guard !made.player.needsPage else {
            throw MediaError(.emptyResource, input.subject, "is empty: there is nothing to play")
        }
        if let length = source.length, link.takeStored(input.seekTable, length: length) {
            tailLength = length
        }
        leading = (start.tags, start.loudness)
        input.forgetStart()
        links = [link]
        place = made
        update()
        try await lookAtTail()
    }

    /// Begins `link`, logical stream number `number`, up to the first page of its music, which states where
    /// it begins.
    private func begin(_ link: OggLink, number: Int, _ pages: OggPageReader) async throws -> (Place, OggLink)
    {
        var link = link
        let head = link.head
        let handle = try await handle(of: head)
        link.look(at: pages.walk)
        source.willRead(head.dataStart..<link.firstSoundEnd)
        var place = Place(number, of: head, pages, OggPlayer(handle, skipping: head.codec.skippedFrames))
        _ = try await takePage(in: &place, of: &link)
        return (place, link)
    }

    private func head(_ pages: OggPageReader, after first: OggPageWalk.Found? = nil) async throws -> OggHead {
        do {
            return try await OggHead.read(pages, after: first)
        } catch let refusal as Refusal {
            throw refusal.error(of: input.subject, isOpen: !links.isEmpty)
        }
    }

    private func handle(of head: OggHead) async throws -> any PacketCodec {
        do {
            return try await head.codec.handle(headers: head.headers, subject: input.subject)
        } catch let refusal as Refusal {
            throw refusal.error(of: input.subject, isOpen: !links.isEmpty)
        }
    }

    // MARK: Decoding

    /// Reads pages until the player has packets, another logical stream begins, or the resource ends. Returns
    /// the first page of the other stream.
    private func takePage(in place: inout Place, of link: inout OggLink) async throws -> OggPageWalk.Found? {
        while place.player.needsPage {
            guard let found = try await place.pages.next() else { return nil }
            if found.page.isFirst { return found }
            guard found.page.serial == link.head.serial else { continue }
            link.note(found)
            place.player.receive(place.packets.take(found))
            link.origin = place.player.origin ?? link.origin
        }
        return nil
    }

    /// The first page of the next logical stream, once it was read.
    private var nextHead: OggPageWalk.Found?

    package func decode(into pcm: UnsafeMutableRawBufferPointer) async throws -> DecodeStep {
        try Task.checkCancellation()
        try await open()
        while true {
            if hasFormatChange {
                hasFormatChange = false
                return .formatChanged
            }
            let count = decodeHeld(into: pcm)
            if count > 0 {
                emptyLinkCount = 0
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
        let number = place.link
        nextHead = try await takePage(in: &place, of: &links[number])
        guard place.player.needsPage else { return true }
        self.place = place
        ended(place)
        return nextHead != nil
    }

    /// The music of the link at `place` has ended: its length is known now.
    private func ended(_ place: Place) {
        guard let position = place.player.position else { return }
        links[place.link].end = min(position, place.player.limit ?? position)
        links[place.link].endOffset = nextHead?.offset
        if place.link == links.count - 1 { isChained = nextHead != nil }
        update()
    }

    /// Continues with the logical stream whose first page is `first`. Throws after too many streams without
    /// sound.
    private func beginLink(_ first: OggPageWalk.Found) async throws -> Bool {
        guard let old = place else { return false }
        guard emptyLinkCount < Self.mostEmptyLinks else {
            throw input.brokenOff(because: "too many streams without sound follow one another")
        }
        emptyLinkCount += 1
        let head = try await head(old.pages, after: first)
        let handle = try await handle(of: head)
        nextHead = nil
        let number = note(OggLink(head, startTime: links[old.link].endTime), after: old.link)
        place = Place(number, of: head, old.pages, OggPlayer(handle, skipping: head.codec.skippedFrames))
        let format = info.format
        update()
        hasFormatChange = info.format != format
        return true
    }

    /// Returns the number of the logical stream `link`, which follows number `last`.
    private func note(_ link: OggLink, after last: Int) -> Int {
        let number = last + 1
        if number < links.count, links[number].head.dataStart == link.head.dataStart { return number }
        if number == links.count, headByteCount < Self.mostHeadBytes {
            headByteCount += link.head.byteCount
            links.append(link)
            return number
        }
        // There are too many streams to keep all, as on a radio station: the new one takes the place of the
        // last.
        links[links.count - 1] = link
        return links.count - 1
    }

    // MARK: What is known

    /// Updates `info`.
    private func update() {
        guard let place else { return }
        let link = links[place.link]
        var info = self.info
        info.format = link.format
        info.audioStart = links[0].head.dataStart
        info.codec = "Ogg, " + place.player.output.codec.name
        info.tags = leading.tags.filled(from: link.head.comments.tags)
        let names = [info.tags.artist, info.tags.title].compactMap { $0 }
        info.songTitle = names.isEmpty ? nil : names.dropFirst().reduce(names[0]) { $0 + " - " + $1 }
        info.loudness = leading.loudness.filled(from: link.head.comments.loudness)
        info.skippedByteCount = place.pages.walk.skippedByteCount
        info.revise(
            by: OggClock(links: links, playing: place.link, isChained: isChained, length: source.length)
        )
        self.info = info
    }

    /// Reads the end of the resource once it is stored, so that this needs no request.
    private func lookAtTail() async throws {
        guard let length = source.length, length != tailLength, length > links[0].head.dataStart
        else { return }
        let range = max(links[0].head.dataStart, length - Self.tailByteCount)..<length
        guard let bytes = try await source.allStored(in: range) else { return }
        takeTail(bytes, at: range.lowerBound, length: length)
    }

    /// Looks for the last page of the music in `bytes`, the end of the resource.
    private func takeTail(_ bytes: [UInt8], at offset: Int64, length: Int64) {
        tailLength = length
        tail = OggTail(OggPageWalk(at: offset, holding: bytes))
        hasSearchedForLink = false
        noteTail()
    }

    /// Learns from the end of the resource if the last known logical stream ends there.
    private func noteTail() {
        guard let tail, let last = links.last else { return }
        let isRepeated = links.dropLast().contains { $0.head.serial == last.head.serial }
        let end = !isRepeated || hasSearchedForLink ? tail.end(of: last, trusted: hasSearchedForLink) : nil
        isChained = end == nil && !tail.isEmpty
        if let end, end >= last.first { links[links.count - 1].end = end }
        update()
    }

    package func scanStored() async throws -> Bool {
        try Task.checkCancellation()
        try await open()
        try await lookAtTail()
        // Requested only now: until the music plays, nothing else is requested.
        if let length = source.length, tailLength == nil, !hasAskedForTail {
            hasAskedForTail = true
            source.prefetch(max(0, length - Self.tailByteCount)..<length)
        }
        return isRestStored ? try await findLink() : false
    }

    // MARK: Chained streams

    /// `true` if all from the last known logical stream on is stored, so that a search makes no request.
    private var isRestStored: Bool {
        guard let length = source.length, let start = links.last?.head.dataStart, start < length
        else { return false }
        return source.isStored(start..<length)
    }

    /// `true` if the music at `time` may be in a logical stream that is not known yet.
    private func isUnknown(_ time: Duration) -> Bool {
        guard let last = links.last, time >= last.startTime else { return false }
        return isChained && !last.reaches(time) || isRestStored
    }

    /// Finds where the last known logical stream ends, and the head of the one that follows it. Returns
    /// `false` if none does, or none that is played.
    private func findLink() async throws -> Bool {
        guard !hasSearchedForLink, headByteCount < Self.mostHeadBytes, let length = source.length,
            let last = links.last
        else { return false }
        let number = links.count - 1
        let mayRepeat = tail?.has(last.head.serial) ?? true
        let search = last.search(for: OggPage.farthestGranule, length: length, mayRepeat: mayRepeat)
        let offset = try await page(for: OggPage.farthestGranule, in: number, by: search)
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
        var known = links[number]
        known.end = end
        known.endOffset = first.offset
        var next: OggLink?
        do {
            let link = OggLink(try await head(pages, after: first), startTime: known.endTime)
            next = try await begin(link, number: number + 1, pages).1
        } catch let error as MediaError where [.decodingFailed, .missingLibrary].contains(error.code) {}
        // Changed only after the last `await`, so that a cancelled search changes nothing.
        links[number] = known
        isChained = true
        if let next {
            _ = note(next, after: number)
            noteTail()
        } else {
            hasSearchedForLink = true
            update()
        }
        return !hasSearchedForLink
    }

    // MARK: Seeking

    package func seek(to time: Duration) async throws -> SeekLanding {
        try Task.checkCancellation()
        try await open()
        if let length = source.length, tailLength == nil, time > .zero,
            links.last.map({ $0.end == nil || time > $0.endTime }) ?? false
        {
            let offset = max(links[0].head.dataStart, length - Self.tailByteCount)
            if let bytes = try await read(offset, until: length) {
                takeTail(bytes, at: offset, length: length)
            }
        }
        while isUnknown(time), try await findLink() {}
        let number = links.lastIndex { $0.startTime <= time } ?? 0
        let link = links[number]
        let frames = min(link.format.frames(in: time - link.startTime), link.frameCount ?? .max)
        let target = link.first + frames
        let search = link.search(for: target, length: source.length)
        let offset = try await page(for: target, in: number, by: search)
        let handle = try await handle(of: link.head)
        // Changed only after the last `await`, so that a cancelled seek changes nothing.
        let pages = OggPageReader(source, at: offset ?? link.head.dataStart)
        let player = OggPlayer(
            handle,
            skipping: link.head.codec.skippedFrames,
            from: target,
            isAtStart: offset == nil
        )
        place = Place(number, of: link.head, pages, player)
        nextHead = nil
        hasFormatChange = false
        update()
        return SeekLanding(
            frame: link.format.frames(in: link.startTime) + frames,
            isExact: link.end != nil || !isChained
        )
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
                let end = search.requestEnd(for: target + links[number].firstSound)
                source.willRead((offset ?? links[number].head.dataStart)..<end)
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
            guard let number = links.lastIndex(where: { $0.head.dataStart <= found.offset }),
                links[number].head.serial == found.page.serial,
                found.offset < links[number].endOffset ?? .max
            else { continue }
            links[number].note(found)
        }
    }

    /// The bytes from `offset` to `end`; `nil` if the resource ends before.
    private func read(_ offset: Int64, until end: Int64) async throws -> [UInt8]? {
        let count = Int(end - offset)
        var window = ByteWindow(source, at: offset)
        try await window.fill(count, askingUpTo: count)
        return window.bytes.count == count ? window.bytes : nil
    }

    package func isStored(at time: Duration) -> Bool {
        guard let number = links.lastIndex(where: { $0.startTime <= time }),
            tailLength != nil || links[0].end != nil, let length = source.length,
            !isChained || links.last?.reaches(time) == true
        else { return false }
        let link = links[number]
        let target = link.first + min(link.format.frames(in: time - link.startTime), link.frameCount ?? .max)
        let search = link.search(for: target, length: length)
        let start = search?.bracket.lowerBound ?? link.head.dataStart
        let sound = search?.requestEnd(for: target + link.firstSound) ?? link.firstSoundEnd
        let end = max(sound, (search?.bracket.upperBound ?? start) + Int64(ByteWindow.requestByteCount))
        return source.isStored(start..<max(start, min(length, end)))
    }

    package func seekTable() -> [UInt8] {
        guard links.count == 1, !isChained, let length = source.length, let link = links.first else {
            return []
        }
        // Until the tail was read, other streams may follow, even if this one states its length.
        let end = tailLength == length ? link.end : nil
        return link.stored(end: end, length: length)
    }
}
