package import Media

/// Plays AAC and ALAC in MP4 files: M4A and M4B. A `PacketCodec` decodes the packets.
///
/// All packets bring the same number of frames, so a position is a packet's number, and the tables of the
/// file state where it is: a seek is exact.
package final class MP4Decoder: AudioDecoder {
    private static let readByteCount = 96 * 1024
    /// The longest packet: 4,096 frames of ALAC with 8 channels of 32 bits.
    static let longestPacket = 132 << 10
    /// The most boxes and tables that are read before the first sound.
    private static let mostSteps = 20_000
    /// The most bytes of tables that are fetched while the music plays: those of an hour and a half.
    private static let mostPrefetched: Int64 = 1 << 20

    /// For a second of music, until the length is known.
    private static let usualBytesPerSecond: Double = 16_000

    private var input: ProbedStream
    private var source: any ByteSource { input.source }
    private var opened: Opened?
    /// The bytes of the boxes, as `open` has read them.
    private var digest = HeadDigest()
    private var hasPrefetched = false
    /// The number of the part that is played.
    private var number = 0

    package private(set) var info = StreamInfo.unopened

    private struct Opened: StreamClock {
        let output: PacketOutput
        let index: any PacketIndex
        let bytes: HeldBytes
        let head: MP4Head
        /// The chapters' titles; `nil` if none have to be read.
        let titles: ChapterTitles?
        /// The parts of the music; nearly always one.
        let parts: [MP4Part]

        var frameCount: FrameCount? { frames(ofPackets: index.packetCount) }

        private func frames(ofPackets count: Int64?) -> FrameCount? {
            guard let last = parts.last else { return nil }
            let end = min(count.map { $0 * output.packetFrames } ?? .max, last.frames.upperBound)
            return end < .max ? last.start + max(0, end - last.frames.lowerBound) : nil
        }

        func begin(_ part: MP4Part, at frame: FrameCount = 0) {
            let first = part.frames.lowerBound + frame
            let packets = part.isSilent ? nil : index.packetCount
            let end = min(part.frames.upperBound, packets.map { $0 * output.packetFrames } ?? .max)
            let wanted = first..<max(first, end)
            guard !part.isSilent, !wanted.isEmpty else {
                output.restart(at: first, playing: wanted)
                return output.skip(FrameCount(wanted.count))
            }
            output.restart(atPacket: output.firstPacket(toPlay: first), playing: wanted)
        }

        /// The sound ends at the end of the file, or where the tables begin after it.
        /// `nil` for several parts, whose bytes may be played in any order.
        var audio: ByteRange? {
            guard parts.count == 1 else { return nil }
            let tables = head.movie.lowerBound
            return (tables > index.start ? tables : bytes.length).map { index.start..<max(index.start, $0) }
        }

        var duration: Duration? {
            frames(ofPackets: index.estimatedCount(length: bytes.length)).map(output.format.duration)
        }

        var isDurationExact: Bool { frameCount != nil }

        var bytesPerSecond: Double { meanBytesPerSecond ?? MP4Decoder.usualBytesPerSecond }
    }

    /// Creates a decoder for `stream`. It reads nothing before `open`.
    package init(_ stream: ProbedStream) { input = stream }

    package func open() async throws { _ = try await opening() }

    private func opening() async throws -> Opened {
        if let opened { return opened }
        let start = try await input.begun(as: .mp4)
        let bytes = HeldBytes(source, start.window)
        let head = try await head(bytes, at: start.offset)
        let made: Opened
        do {
            let track = try head.check()
            guard let configuration = track.configuration,
                let index = try await index(of: track, in: head, bytes)
            else { throw Refusal.damaged }
            let packets = try await firstPackets(configuration.triedPackets, of: index, bytes)
            let codec = try await configuration.codec(trying: packets)
            let parts = head.parts(of: track, in: codec, packetCount: index.packetCount)
            let output = PacketOutput(codec)
            let titles = titles(in: head, bytes)
            made = Opened(
                output: output,
                index: index,
                bytes: bytes,
                head: head,
                titles: titles,
                parts: parts
            )
            made.begin(parts[0])
        } catch let refusal as Refusal {
            throw refusal.error(of: input.subject)
        }
        _ = try await made.titles?.readStored(fetching: false)
        // Only after the last `await`, so that a cancelled opening begins again.
        opened = made
        input.forgetStart()
        info = info(of: made, start)
        return made
    }

    /// The titles to read, if the chapters are in a track.
    private func titles(in head: MP4Head, _ bytes: HeldBytes) -> ChapterTitles? {
        let listed = head.chapters.count
        // A list with the largest number of chapters may be cut.
        guard listed == 0 || listed >= MP4Chapters.mostListed, let track = head.chapterTrack,
            track.starts.count > listed
        else { return nil }
        let untitled = MP4Chapters.untitled(of: track, movieTimescale: head.movieTimescale)
        return ChapterTitles(untitled, track.table, bytes, source)
    }

    /// The index of the packets; `nil` if the track has no packets.
    private func index(of track: MP4Track, in head: MP4Head, _ bytes: HeldBytes) async throws -> (
        any PacketIndex
    )? {
        let seekTable = input.seekTable
        let length = source.length
        func fragments() async throws -> FragmentIndex? {
            let index = try await FragmentIndex(head, track, bytes)
            index?.restore(seekTable, length: length)
            return index
        }
        guard track.table.isComplete else { return head.isFragmented ? try await fragments() : nil }
        let table = try await TableIndex(track.table, bytes)
        guard head.isFragmented, let table,
            let last = try await table.place(of: track.table.packetCount - 1)
        else { return table }
        let end = max(last.upperBound, head.movie.upperBound)
        if let length, end + Int64(BoxWalk.headByteCount) > length { return table }
        table.goOn(behind: last.upperBound) {
            bytes.beginSearch()
            return try await fragments()
        }
        return table
    }

    /// Walks the boxes of the file, or what an earlier session has read of them.
    private func head(_ bytes: HeldBytes, at offset: Int64) async throws -> MP4Head {
        let known = HeadDigest(stored: input.seekTable, length: source.length)
        var head = MP4Head(at: offset)
        digest = HeadDigest()
        bytes.beginSearch()
        for _ in 0..<Self.mostSteps {
            guard let range = head.wanted, !bytes.isSearchOver else { break }
            let part =
                if let stored = known?.bytes(in: range) { stored } else {
                    Array(try await bytes.bytes(in: range))
                }
            digest.record(part, in: range)
            head.took(part)
        }
        return head
    }

    /// The first packet, and those after it that were read too: at most `count`.
    private func firstPackets(
        _ count: Int64,
        of index: any PacketIndex,
        _ bytes: HeldBytes
    ) async throws -> [ArraySlice<UInt8>] {
        var packets: [ArraySlice<UInt8>] = []
        for number in 0..<count {
            guard let place = try await index.place(of: number), place.count <= Self.longestPacket else {
                break
            }
            if number == 0 {
                packets.append(try await bytes.bytes(in: place))
            } else if let held = bytes.held(in: place) {
                packets.append(held)
            }
        }
        return packets
    }

    private func info(of opened: Opened, _ start: StreamStart) -> StreamInfo {
        var info = StreamInfo(format: opened.output.format, bytesPerSecond: Self.usualBytesPerSecond)
        info.audioStart = opened.index.start
        info.codec = "M4A, " + opened.output.codec.name
        info.tags = opened.head.tags.tags.filled(from: start.tags)
        info.chapters = opened.titles?.chapters ?? opened.head.chapters
        info.loudness = opened.head.tags.loudness.filled(from: start.loudness)
        info.revise(by: opened)
        return info
    }

    package func decode(into pcm: UnsafeMutableRawBufferPointer) async throws -> DecodeStep {
        try Task.checkCancellation()
        let opened = try await opening()
        let output = opened.output
        while true {
            if info.format != output.format {
                info.format = output.format
                return .formatChanged
            }
            let count = output.pass(into: pcm)
            if count > 0 { return .frames(count) }
            guard !output.isAtEnd, let place = try await opened.index.place(of: output.packet) else {
                let isIndexed = opened.index.packetCount.map { output.packet >= $0 } ?? false
                guard output.isAtEnd || isIndexed else {
                    throw input.brokenOff(because: "the index of the music ends too early (damaged)")
                }
                if number + 1 < opened.parts.count {
                    number += 1
                    opened.begin(opened.parts[number])
                    continue
                }
                info.revise(by: opened)
                return .end
            }
            guard (1...Self.longestPacket).contains(place.count) else {
                output.skip(output.packetFrames)
                continue
            }
            let packet = try await opened.bytes.bytes(in: place, ahead: Self.readByteCount)
            // The file is cut short here.
            guard packet.count == place.count else { return .end }
            if !output.decode(packet, expecting: output.packetFrames) {
                info.skippedByteCount += Int64(packet.count)
            }
        }
    }

    package func seek(to time: Duration) async throws -> SeekLanding {
        try Task.checkCancellation()
        let opened = try await opening()
        var target = min(info.format.frames(in: time), opened.frameCount ?? .max)
        let wanted = opened.parts.lastIndex { $0.start <= target } ?? 0
        let part = opened.parts[wanted]
        if !part.isSilent {
            let frame = part.frames.lowerBound + target - part.start
            let packet = opened.output.firstPacket(toPlay: frame)
            if let place = try await opened.index.place(of: packet), target != opened.frameCount {
                // Read already here, so that the read-ahead, which is allowed after a seek, continues from
                // this offset.
                if place.count <= Self.longestPacket { _ = try await opened.bytes.bytes(in: place) }
            } else {
                // The end is known now.
                target = min(target, opened.frameCount ?? target)
            }
        }
        number = wanted
        opened.begin(part, at: target - part.start)
        info.revise(by: opened)
        return SeekLanding(frame: target, isExact: true)
    }

    package func isStored(at time: Duration) -> Bool {
        guard let opened, let length = source.length, let map = info.timeMap else { return false }
        let frame = opened.parts[0].frames.lowerBound + info.format.frames(in: time)
        let tables = opened.index.tables(for: opened.output.firstPacket(toPlay: frame))
        // The exact place may differ a little, hence the margin.
        let offset = map.offset(at: time)
        let margin = Int64(ByteWindow.requestByteCount) / 2
        let start = min(max(0, offset - margin), length)
        let sound = start..<max(start, min(offset + margin, length))
        return (tables + [sound]).allSatisfy { $0.isEmpty || source.isStored($0) }
    }

    /// The places of the fragments; without fragments, what the walk has read of the head.
    package func seekTable() -> [UInt8] {
        guard let places = opened?.index.stored() else { return [] }
        return places.isEmpty ? digest.stored(length: source.length) : places
    }

    package func scanStored() async throws -> Bool {
        try Task.checkCancellation()
        let opened = try await opening()
        // Requested only now: until the music plays, nothing else is requested.
        let tables = opened.head.movie
        if !hasPrefetched, !source.isStored(tables), Int64(tables.count) <= Self.mostPrefetched {
            source.prefetch(tables)
        }
        hasPrefetched = true
        guard let titles = opened.titles, try await titles.readStored(fetching: true) else { return false }
        info.chapters = titles.chapters
        return true
    }
}
