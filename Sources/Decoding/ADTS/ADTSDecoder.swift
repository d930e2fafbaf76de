package import Media

/// Plays AAC in ADTS frames: `.aac` files and radio, with libfaad2 for the packets.
///
/// The frames do not state their position. A seek is exact among the frames that were counted from the start,
/// either while they were decoded or in stored bytes. Any other seek is an estimate, which is corrected once
/// the bytes before it are stored.
package final class ADTSDecoder: AudioDecoder {
    /// The bytes of one look at frames elsewhere.
    private static let lookByteCount: Int64 = 32 << 10
    /// The number of frames after which the map of times is refined.
    private static let framesPerRefinement: Int64 = 256

    private var input: ProbedStream
    private var source: any ByteSource { input.source }
    private var opened: Opened?

    package private(set) var info = StreamInfo.unopened
    package private(set) var correctedLanding: SeekLanding?

    /// An open stream. A class, so that the map and the bytes have one owner and are changed in place.
    private final class Opened {
        /// Plays the packets of frames like `header`. Another rate or other channels take another decoder.
        var output: PacketOutput
        var header: ADTSHeader
        var map: ADTSMap
        var walk: ADTSWalk
        /// `false` while the numbers of packets are estimates.
        var isExact = true
        /// The presumed frame and time of an estimated landing, and the packet that is decoded first: its
        /// presumed number, its offset, and the time from its start to the landing.
        var landing: FrameCount = 0
        var landingTime = Duration.zero
        var landed: ADTSMap.Place?
        var lead = Duration.zero
        /// The walk that counts stored packets, and the number of the next one.
        var scan: (walk: ADTSWalk, number: Int64)?

        init(_ output: PacketOutput, _ header: ADTSHeader, _ map: ADTSMap, _ walk: ADTSWalk) {
            self.output = output
            self.header = header
            self.map = map
            self.walk = walk
        }

        /// The frames of a packet.
        var width: FrameCount { output.packetFrames }
    }

    /// Creates a decoder for `stream`. It reads nothing before `open`.
    package init(_ stream: ProbedStream) { input = stream }

    package func open() async throws { _ = try await opening() }

    private func opening() async throws -> Opened {
        try Task.checkCancellation()
        if let opened { return opened }
        let start = try await input.begun(as: .adts)
        guard
            let first = ADTSHeader.firstRun(
                in: start.bytes,
                before: StreamStart.reach,
                isWhole: start.isWhole
            )
        else { throw start.notAudio(input.subject) }
        let origin = start.offset + Int64(first.index)
        let bytes = start.bytes[first.index...]
        let (packets, mean) = Self.packets(in: bytes, like: first.header, isWhole: start.isWhole)
        let output = try await output(of: first.header, trying: packets)
        let packetsPerSecond = Double(output.format.sampleRate) / Double(output.packetFrames)
        var map = ADTSMap(
            first.header,
            at: origin,
            meanLength: mean,
            length: source.length,
            statedPackets: input.statedDuration.map { $0.seconds * packetsPerSecond }
        )
        map.restore(input.seekTable)
        var walk = map.walk(at: map.parts[0].first)
        walk.append(bytes)
        let made = Opened(output, first.header, map, walk)
        made.output.restart(atPacket: 0, playing: made.width..<FrameCount.max)
        opened = made
        input.forgetStart()
        info.format = output.format
        info.audioStart = origin
        info.codec = "ADTS, " + output.codec.name
        info.tags = start.tags
        info.chapters = start.chapters
        info.loudness = start.loudness
        refine(made)
        return made
    }

    /// An output for packets of frames like `header`, of which `packets` are the first ones.
    private func output(of header: ADTSHeader, trying packets: [ArraySlice<UInt8>]) async throws
        -> PacketOutput
    {
        try await input.reporting(isOpen: opened != nil) {
            PacketOutput(try await AACHandle.make(try header.configuration(), trying: packets))
        }
    }

    /// The packets of the frames in `bytes`, and the mean length of these frames.
    private static func packets(
        in bytes: some Collection<UInt8>,
        like header: ADTSHeader,
        isWhole: Bool = false
    ) -> (packets: [ArraySlice<UInt8>], meanLength: Double) {
        var walk = ADTSWalk(like: header, meanLength: Double(header.frameByteCount), at: 0)
        walk.append(bytes)
        if isWhole { walk.finish() }
        var packets: [ArraySlice<UInt8>] = []
        var length = 0
        steps: while true {
            switch walk.next() {
            case .frame(let header, let range):
                packets.append(walk.bytes[range.dropFirst(header.headByteCount)])
                length += range.count
            case .missing: continue
            case .needMore, .end: break steps
            }
        }
        return (packets, Double(length) / Double(max(1, packets.count)))
    }

    // MARK: Decoding

    package func decode(into pcm: UnsafeMutableRawBufferPointer) async throws -> DecodeStep {
        let opened = try await opening()
        while true {
            if info.format != opened.output.format {
                info.format = opened.output.format
                return .formatChanged
            }
            let count = opened.output.pass(into: pcm)
            if count > 0 { return .frames(count) }
            switch opened.walk.next() {
            case .frame(let header, let range):
                if !header.isConsistent(with: opened.header) {
                    try await change(to: header, at: range.lowerBound, opened)
                }
                decode(header, range, opened)
            case .missing(let count):
                info.skippedByteCount += Int64(Double(count) * opened.map.meanLength)
                note(Int64(count), opened, like: nil)
                // Before the first frame after an estimated landing, the position is an estimate anyway.
                if opened.isExact || opened.landed != nil {
                    opened.output.skip(Int64(count) * opened.width)
                }
            case .needMore:
                let place = opened.walk.endOffset
                let bytes = try await source.read(at: place, count: ByteWindow.playingByteCount)
                if bytes.isEmpty { opened.walk.finish() } else { opened.walk.append(bytes) }
            case .end:
                if opened.isExact, opened.output.packet == opened.map.counted.position {
                    opened.map.ended(after: opened.output.packet)
                    refine(opened)
                }
                return .end
            }
        }
    }

    /// Continues with frames of another rate or with other channels, which begin with `header` at `index` of
    /// the walk's bytes. As at the start, the first packet brings no music.
    private func change(to header: ADTSHeader, at index: Int, _ opened: Opened) async throws {
        let (packets, _) = Self.packets(in: opened.walk.bytes[index...], like: header)
        let new = try await output(of: header, trying: packets)
        let old = opened.output
        let (packet, rest) = old.music.lowerBound.quotientAndRemainder(dividingBy: old.packetFrames)
        let wanted = packet * new.packetFrames + rest * new.packetFrames / old.packetFrames
        let first = max(wanted, (old.packet + 1) * new.packetFrames)
        new.restart(atPacket: old.packet, playing: first..<FrameCount.max)
        opened.output = new
        opened.header = header
        // The landing is in this part.
        if old.position <= old.music.lowerBound { opened.landed = nil }
        info.codec = "ADTS, " + new.codec.name
    }

    /// Decodes a frame, which is at `range` of the walk's bytes.
    private func decode(_ header: ADTSHeader, _ range: Range<Int>, _ opened: Opened) {
        let number = opened.output.packet
        if !opened.isExact, opened.landed == nil {
            let offset = opened.walk.offset + Int64(range.lowerBound)
            opened.landed = ADTSMap.Place(position: number, offset: offset)
            let frames = opened.output.music.lowerBound - opened.output.position
            opened.lead = opened.output.format.duration(of: frames)
        }
        note(Int64(header.packetCount), opened, like: header)
        let packet = opened.walk.bytes[range.dropFirst(header.headByteCount)]
        if !opened.output.decode(packet, expecting: opened.width) {
            info.skippedByteCount += Int64(packet.count)
        }
        // Frames of several packets are too rare to be supported: silence replaces all packets but the first.
        opened.output.skip(FrameCount(header.packetCount - 1) * opened.width)
        if number % Self.framesPerRefinement == 0 { refine(opened) }
    }

    /// Counts the next `count` packets, which end at the offset that the walk has reached.
    private func note(_ count: Int64, _ opened: Opened, like header: ADTSHeader?) {
        guard opened.isExact else { return }
        let number = opened.output.packet
        opened.map.count(number, upTo: number + count, at: opened.walk.nextOffset, like: header)
    }

    private func refine(_ opened: Opened) {
        opened.map.length = source.length
        info.revise(by: opened.map)
    }

    // MARK: Counting

    package func scanStored() async throws -> Bool {
        let opened = try await opening()
        opened.map.length = source.length
        let isMore = try await scan(opened)
        refine(opened)
        return isMore
    }

    /// Counts packets that are stored, from the last counted one on; `false` if the next bytes are not
    /// stored.
    private func scan(_ opened: Opened) async throws -> Bool {
        guard let length = source.length, opened.map.packetCount == nil else { return false }
        var number = opened.map.counted.position
        var walk = opened.map.walk(at: opened.map.counted)
        if let scan = opened.scan, scan.number == number { walk = scan.walk }
        let end = min(walk.endOffset + Int64(StoredWalk.slice), length)
        guard let bytes = try await source.allStored(in: walk.endOffset..<end) else { return false }
        walk.append(bytes)
        if end == length { walk.finish() }
        steps: while true {
            var count: Int64 = 0
            var header: ADTSHeader?
            switch walk.next() {
            case .frame(let found, _):
                count = Int64(found.packetCount)
                header = found
            case .missing(let missing): count = Int64(missing)
            case .needMore: break steps
            case .end:
                opened.map.ended(after: number)
                return false
            }
            opened.map.count(number, upTo: number + count, at: walk.nextOffset, like: header)
            if let header, let landed = opened.landed,
                landed.offset == walk.nextOffset - Int64(header.frameByteCount)
            {
                correct(landed, to: number, opened)
            }
            number += count
        }
        opened.scan = (walk, number)
        return true
    }

    /// Corrects the numbers of the packets since the landing: `landed`, the first one, is packet `number`.
    private func correct(_ landed: ADTSMap.Place, to number: Int64, _ opened: Opened) {
        opened.output.shift(by: (number - landed.position) * opened.width)
        opened.landed = nil
        opened.isExact = true
        // Both times were rounded down to a nanosecond.
        let time = opened.map.time(of: number) + opened.lead + .nanoseconds(1)
        let shift = info.format.frames(in: time) - info.format.frames(in: opened.landingTime)
        correctedLanding = SeekLanding(frame: max(0, opened.landing + shift), isExact: true)
    }

    // MARK: Seeking

    package func seek(to time: Duration) async throws -> SeekLanding {
        let opened = try await opening()
        opened.map.length = source.length
        var budget = SeekLander.mostWalked / StoredWalk.slice
        while opened.map.time(of: opened.map.counted.position) <= time, budget > 0, try await scan(opened) {
            try Task.checkCancellation()
            budget -= 1
        }
        let part = opened.map.part(at: time)
        let output = try await output(of: part, opened)
        let width = output.packetFrames
        // The first frame of the part's music.
        let start = (part.first.position + 1) * width
        let wanted = start + output.format.frames(in: time - part.start)
        // Samples are taken first, because they also improve the estimated length, which limits the target
        // below.
        if !source.arrivesInOrder,
            opened.map.place(before: output.firstPacket(toPlay: wanted)) == nil
        {
            while let offset = opened.map.nextSample {
                // The bytes begin in the middle of a frame.
                let bytes = try await source.sample(at: offset)
                let (packets, length) = Self.packets(in: bytes, like: part.header)
                opened.map.sample(packets.count > 1 ? length : 0, around: offset)
            }
        }
        let target = min(wanted, opened.map.estimatedCount.map { max(start, $0 * width) } ?? .max)
        let number = max(part.first.position, output.firstPacket(toPlay: target))
        var reached = number
        var walk = opened.map.walk(at: opened.map.counted)
        var isExact = true
        if let count = opened.map.packetCount, target >= count * width {
            reached = count
            walk.finish()
        } else if let place = opened.map.place(before: number) {
            let found = try await self.walk(from: place, to: number, opened)
            walk = found.walk
            reached = found.reached
        } else {
            let offset = opened.map.offset(of: number)
            let window = try await source.window(of: offset..<offset + Self.lookByteCount)
            let bytes = window.bytes
            let first = ADTSHeader.firstRun(of: 2, in: bytes, before: bytes.count, isWhole: window.isAtEnd)
            let index = first?.index ?? 0
            walk = ADTSWalk(
                like: first?.header ?? part.header,
                meanLength: opened.map.meanLength,
                at: offset + Int64(index)
            )
            walk.append(bytes[index...])
            isExact = false
        }
        // Changed only after the last `await`, so that a cancelled seek changes nothing.
        output.restart(atPacket: reached, playing: target..<FrameCount.max)
        opened.output = output
        opened.header = part.header
        opened.walk = walk
        opened.isExact = isExact
        opened.landing = output.format.frames(in: part.start) + target - start
        opened.landingTime = output.format.duration(of: opened.landing)
        opened.landed = nil
        correctedLanding = nil
        info.format = output.format
        info.codec = "ADTS, " + output.codec.name
        refine(opened)
        return SeekLanding(frame: opened.landing, isExact: isExact)
    }

    /// The output for `part`: the present one if its frames are like those of the part.
    private func output(of part: ADTSMap.Part, _ opened: Opened) async throws -> PacketOutput {
        if part.header.isConsistent(with: opened.header) { return opened.output }
        let start = part.first.offset
        let window = try await source.window(of: start..<start + Self.lookByteCount)
        let (packets, _) = Self.packets(in: window.bytes, like: part.header, isWhole: window.isAtEnd)
        return try await output(of: part.header, trying: packets)
    }

    /// Walks the frames from `place` on. Returns the walk at packet `number` and that number; at a later one
    /// if packet `number` does not begin a frame, and at an earlier one if the stream ends before it.
    private func walk(
        from place: ADTSMap.Place,
        to number: Int64,
        _ opened: Opened
    ) async throws -> (walk: ADTSWalk, reached: Int64) {
        var walk = opened.map.walk(at: place)
        var reached = place.position
        while reached < number {
            switch walk.next() {
            case .frame(let header, _): reached += Int64(header.packetCount)
            case .missing(let count): reached += Int64(count)
            case .end: return (walk, reached)
            case .needMore:
                let bytes = try await source.read(at: walk.endOffset, count: Int(Self.lookByteCount))
                if bytes.isEmpty { walk.finish() } else { walk.append(bytes) }
            }
        }
        return (walk, reached)
    }

    package func isStored(at time: Duration) -> Bool {
        guard let opened, let length = source.length else { return false }
        guard opened.map.duration.map({ time < $0 }) ?? true else { return true }
        let part = opened.map.part(at: time)
        guard part.header.isConsistent(with: opened.header) else { return false }
        let music = (part.first.position + 1) * opened.width
        let number = opened.output.firstPacket(toPlay: music + info.format.frames(in: time - part.start))
        let place = opened.map.place(before: number)
        guard place != nil || source.arrivesInOrder || opened.map.nextSample == nil else { return false }
        let offset = opened.map.offset(of: number)
        let start = min(place?.offset ?? offset, offset)
        return source.isStored(start..<max(start, min(offset + Self.lookByteCount, length)))
    }

    package func seekTable() -> [UInt8] { opened?.map.stored() ?? [] }
}
