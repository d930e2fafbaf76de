package import Media

/// Plays AAC in MP4 files: M4A and M4B, with libfaad2 for the packets.
///
/// All packets bring the same number of frames, so a position is a packet's number, and the tables of the file state
/// where it is: a seek is exact.
package final class MP4Decoder: AudioDecoder {
    /// The bytes of one read while playing.
    private static let readByteCount = 96 * 1024
    /// The longest packet: more than 8 channels can have (ISO/IEC 14496-3 §4.5.3.1).
    private static let longestPacket = 64 << 10
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

    package private(set) var info = StreamInfo.unopened

    /// An open file.
    private final class Opened: StreamClock {
        let output: PacketOutput
        let index: any PacketIndex
        let bytes: HeldBytes
        let head: MP4Head
        /// The chapters' titles; `nil` if none have to be read.
        let titles: ChapterTitles?
        /// The frames of the music, counted from the first one of packet 0; up to the largest number if its end is unknown.
        let music: Range<FrameCount>

        init(
            _ codec: any PacketCodec,
            _ index: any PacketIndex,
            _ bytes: HeldBytes,
            _ head: MP4Head,
            _ titles: ChapterTitles?,
            music: Range<FrameCount>
        ) {
            output = PacketOutput(codec)
            self.index = index
            self.bytes = bytes
            self.head = head
            self.titles = titles
            self.music = music
        }

        /// The number of frames; `nil` if unknown.
        var frameCount: FrameCount? { frames(ofPackets: index.packetCount) }

        private func frames(ofPackets count: Int64?) -> FrameCount? {
            let end = min(count.map { $0 * output.packetFrames } ?? .max, music.upperBound)
            return end < .max ? max(0, end - music.lowerBound) : nil
        }

        /// The sound ends at the end of the file, or where the tables begin after it.
        var audio: ByteRange? {
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
            let packets = try await firstPackets(index, bytes)
            let codec = try await AACHandle.make(configuration, trying: packets)
            let music = head.music(of: track, in: codec)
            made = Opened(codec, index, bytes, head, titles(in: head, bytes), music: music)
            let first = made.output.firstPacket(toPlay: music.lowerBound)
            made.output.restart(atPacket: first, playing: music)
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
        guard MP4Chapters.prefersTrack(to: head.chapters), let track = head.chapterTrack,
            track.starts.count > head.chapters.count
        else { return nil }
        let untitled = MP4Chapters.untitled(of: track, movieTimescale: head.movieTimescale)
        return ChapterTitles(untitled, track.table, bytes, source)
    }

    /// The index of the packets; `nil` if the track has no packets.
    private func index(of track: MP4Track, in head: MP4Head, _ bytes: HeldBytes) async throws -> (
        any PacketIndex
    )? {
        let (seekTable, length) = (input.seekTable, source.length)
        func fragments() async throws -> FragmentIndex? {
            let index = try await FragmentIndex(head, track, bytes)
            index?.takeStored(seekTable, length: length)
            return index
        }
        guard track.table.isComplete else { return head.isFragmented ? try await fragments() : nil }
        let (table, count) = (try await TableIndex(track.table, bytes), track.table.packetCount)
        guard head.isFragmented, let table, let last = try await table.place(of: count - 1) else {
            return table
        }
        let end = max(last.upperBound, head.movie.upperBound)
        if let length, end + Int64(BoxWalk.headByteCount) > length { return table }
        return JoinedIndex(table, count, upTo: last.upperBound) {
            bytes.beginSearch()
            return try await fragments()
        }
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

    /// The first packet, and those after it that were read too.
    private func firstPackets(_ index: any PacketIndex, _ bytes: HeldBytes) async throws -> [ArraySlice<
        UInt8
    >] {
        var packets: [ArraySlice<UInt8>] = []
        for number in 0..<Int64(AACHandle.mostTried) {
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
        var number = opened.output.firstPacket(toPlay: opened.music.lowerBound + target)
        if let place = try await opened.index.place(of: number), target != opened.frameCount {
            // Read already here, so that the read-ahead, which is allowed after a seek, continues from this offset.
            if place.count <= Self.longestPacket { _ = try await opened.bytes.bytes(in: place) }
        } else {
            // The end is known now.
            target = min(target, opened.frameCount ?? target)
            number = opened.index.packetCount ?? number
        }
        let frame = opened.music.lowerBound + target
        opened.output.restart(atPacket: number, playing: frame..<max(frame, opened.music.upperBound))
        info.revise(by: opened)
        return SeekLanding(frame: target, isExact: true)
    }

    package func isStored(at time: Duration) -> Bool {
        guard let opened, let length = source.length, let map = info.timeMap else { return false }
        let frame = opened.music.lowerBound + info.format.frames(in: time)
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

extension MP4Head {
    /// The frames of `track` to play, counted from the first one of packet 0.
    ///
    /// The edit list states them if its part begins after 0; otherwise `iTunSMPB`, or, without that, the edit list.
    /// Without both, the first packet is not played: it only overlaps with the next one.
    fileprivate func music(of track: MP4Track, in codec: any PacketCodec) -> Range<FrameCount> {
        let rate = Double(codec.format.sampleRate)
        func frames(_ units: Int64, per scale: Int64) -> FrameCount {
            scale > 0 ? FrameCount(min((Double(units) * rate / Double(scale)).rounded(), 1e15)) : 0
        }
        var end = track.duration > 0 ? frames(track.duration, per: track.timescale) : .max
        if isFragmented { end = .max }
        var start = FrameCount(codec.packetFrames)
        if let gapless = tags.gapless, (track.edit?.start ?? 0) == 0 {
            (start, end) = (gapless.start, min(end, gapless.start + gapless.count))
        } else if let edit = track.edit {
            start = frames(edit.start, per: track.timescale)
            // The length is stated in units of the movie, often milliseconds. If it is shorter than the track by at
            // most one unit, that is only rounding.
            let stated = start + frames(edit.length, per: movieTimescale)
            // It has not counted fragments that come later.
            if edit.length > 0, !(isFragmented && track.table.isComplete),
                end == .max || end - stated > frames(1, per: movieTimescale)
            {
                end = stated
            }
        }
        return start..<max(start, end)
    }
}
