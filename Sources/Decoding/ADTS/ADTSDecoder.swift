package import Media

/// Plays AAC in ADTS frames: `.aac` files and radio, with libfaad2 for the packets.
///
/// The frames do not state their position. A seek is exact among the frames that were counted from the start, either
/// while they were decoded or in stored bytes. Any other seek is an estimate, which is corrected once the bytes before
/// it are stored.
package final class ADTSDecoder: AudioDecoder {
    /// The bytes of one read while playing, of one look at frames elsewhere, and of one scan.
    private static let readByteCount = 96 * 1024
    private static let lookByteCount = 32 << 10
    private static let sliceByteCount = 64 << 10
    /// The most stored bytes that one seek scans, which takes far less than a second.
    private static let mostScanned = 32 << 20
    /// The number of frames after which the map of times is refined.
    private static let framesPerRefinement: Int64 = 256

    private var input: ProbedStream
    private var source: any ByteSource { input.source }
    private var opened: Opened?

    package private(set) var info = StreamInfo.unopened
    package private(set) var correctedLanding: SeekLanding?

    /// An open stream. A class, so that the map and the bytes have one owner and are changed in place.
    private final class Opened: StreamClock {
        let output: PacketOutput
        var map: ADTSMap
        var walk: ADTSWalk
        /// `false` while the numbers of packets are estimates.
        var isExact = true
        /// The presumed frame of an estimated landing, and the presumed number and the offset of the packet decoded first.
        var landing: FrameCount = 0
        var landed: ADTSMap.Place?
        /// The offset at which scanning waits for more bytes.
        var scanStop: Int64 = -1

        init(_ handle: AACHandle, _ map: ADTSMap, _ walk: ADTSWalk) {
            output = PacketOutput(handle)
            self.map = map
            self.walk = walk
        }

        /// The frames of a packet.
        var width: FrameCount { output.packetFrames }

        /// The number of frames; `nil` if unknown. The first packet adds none: it only overlaps with the next one.
        var frameCount: FrameCount? { map.estimatedCount.map { max(0, $0 - 1) * width } }

        var audio: ByteRange? { map.length.map { map.origin..<max(map.origin, $0) } }

        var duration: Duration? { frameCount.map(output.format.duration) }

        var isDurationExact: Bool { map.packetCount != nil }

        var bytesPerSecond: Double {
            map.countedLength * Double(output.format.sampleRate) / Double(width)
        }

        func offsets(at shares: [Double]) -> [Int64]? {
            map.estimatedCount.map { count in shares.map { map.offset(of: Int64(Double(count) * $0)) } }
        }
    }

    /// Creates a decoder for `stream`. It reads nothing before `open`.
    package init(_ stream: ProbedStream) { input = stream }

    package func open() async throws { _ = try await opening() }

    private func opening() async throws -> Opened {
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
        let (packets, mean) = Self.packets(in: bytes, like: first.header, at: origin, isWhole: start.isWhole)
        let handle: AACHandle
        do {
            let configuration = try first.header.configuration()
            handle = try await AACHandle.make(configuration, trying: packets, input.subject)
        } catch let refusal as Refusal {
            throw refusal.error(of: input.subject)
        }
        let packetsPerSecond = Double(handle.format.sampleRate) / Double(handle.packetFrames)
        var map = ADTSMap(
            first.header,
            at: origin,
            meanLength: mean,
            length: source.length,
            statedPackets: input.statedDuration.map { $0.seconds * packetsPerSecond }
        )
        map.takeStored(input.seekTable)
        var walk = map.walk(at: origin)
        walk.append(bytes)
        let made = Opened(handle, map, walk)
        land(on: 0, at: 0, with: walk, isExact: true, made)
        opened = made
        input.forgetStart()
        var info = StreamInfo(format: handle.format, bytesPerSecond: 1)
        info.audioStart = origin
        info.codec = "ADTS, " + handle.name
        info.tags = start.tags
        info.chapters = start.chapters
        info.loudness = start.loudness
        self.info = info
        refine(made)
        return made
    }

    /// The packets of the frames in `bytes`, and the mean length of these frames.
    private static func packets(
        in bytes: ArraySlice<UInt8>,
        like header: ADTSHeader,
        at offset: Int64,
        isWhole: Bool
    ) -> (packets: [ArraySlice<UInt8>], meanLength: Double) {
        var walk = ADTSWalk(like: header, meanLength: Double(header.frameByteCount), at: offset)
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
        try Task.checkCancellation()
        let opened = try await opening()
        while true {
            if let format = opened.output.takeFormatChange() {
                info.format = format
                return .formatChanged
            }
            let count = opened.output.pass(into: pcm)
            if count > 0 { return .frames(count) }
            switch opened.walk.next() {
            case .frame(let header, let range): decode(header, range, opened)
            case .missing(let count):
                info.skippedByteCount += Int64(Double(count) * opened.map.meanLength)
                note(Int64(count), opened)
                opened.output.skip(Int64(count) * opened.width)
            case .needMore:
                let bytes = try await source.read(at: opened.walk.endOffset, count: Self.readByteCount)
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

    /// Decodes a frame, which is at `range` of the walk's bytes.
    private func decode(_ header: ADTSHeader, _ range: Range<Int>, _ opened: Opened) {
        let number = opened.output.packet
        if !opened.isExact, opened.landed == nil {
            let offset = opened.walk.offset + Int64(range.lowerBound)
            opened.landed = ADTSMap.Place(position: number, offset: offset)
        }
        note(Int64(header.packetCount), opened)
        let packet = opened.walk.bytes[range.dropFirst(header.headByteCount)]
        if !opened.output.decode(packet, expecting: opened.width) {
            info.skippedByteCount += Int64(packet.count)
        }
        // Frames of several packets are too rare to be supported: silence replaces all packets but the first.
        opened.output.skip(FrameCount(header.packetCount - 1) * opened.width)
        if number % Self.framesPerRefinement == 0 { refine(opened) }
    }

    /// Counts the next `count` packets, which end at the offset that the walk has reached.
    private func note(_ count: Int64, _ opened: Opened) {
        guard opened.isExact else { return }
        let number = opened.output.packet
        opened.map.count(number, upTo: number + count, at: opened.walk.nextOffset)
    }

    /// Brings `info` up to date.
    private func refine(_ opened: Opened) {
        opened.map.length = source.length
        info.revise(by: opened)
    }

    // MARK: Counting

    package func scanStored() async throws -> Bool {
        try Task.checkCancellation()
        let opened = try await opening()
        opened.map.length = source.length
        let isMore = try await scan(opened)
        refine(opened)
        return isMore
    }

    /// Counts packets that are stored, from the last counted one on; `false` if the next bytes are not stored.
    private func scan(_ opened: Opened) async throws -> Bool {
        let offset = opened.map.counted.offset
        guard let length = source.length, opened.map.packetCount == nil, offset != opened.scanStop else {
            return false
        }
        let end = min(offset + Int64(Self.sliceByteCount), length)
        guard let bytes = try await source.allStored(in: offset..<end) else { return false }
        var walk = opened.map.walk(at: offset)
        walk.append(bytes)
        if end == length { walk.finish() }
        var number = opened.map.counted.position
        steps: while true {
            let place = walk.nextOffset
            var count: Int64 = 0
            switch walk.next() {
            case .frame(let header, _):
                if let landed = opened.landed, landed.offset == place {
                    correct(by: number - landed.position, opened)
                }
                count = Int64(header.packetCount)
            case .missing(let missing): count = Int64(missing)
            case .needMore: break steps
            case .end:
                opened.map.ended(after: number)
                return false
            }
            opened.map.count(number, upTo: number + count, at: walk.nextOffset)
            number += count
        }
        if opened.map.counted.offset == offset { opened.scanStop = offset }
        return true
    }

    /// Corrects the numbers of the packets since the landing, which are too low by `packets`.
    private func correct(by packets: Int64, _ opened: Opened) {
        opened.output.shift(by: packets * opened.width)
        opened.landed = nil
        opened.isExact = true
        let frame = max(0, opened.landing + packets * opened.width)
        correctedLanding = SeekLanding(frame: frame, isExact: true)
    }

    // MARK: Seeking

    package func seek(to time: Duration) async throws -> SeekLanding {
        try Task.checkCancellation()
        let opened = try await opening()
        opened.map.length = source.length
        let wanted = info.format.frames(in: time)
        var budget = Self.mostScanned / Self.sliceByteCount
        // Frame 0 of the music is the first one of packet 1.
        while opened.map.counted.position <= wanted / opened.width + 1, budget > 0, try await scan(opened) {
            try Task.checkCancellation()
            budget -= 1
        }
        // Samples are taken first, because they also improve the estimated length, which limits the target below.
        if !source.arrivesInOrder,
            opened.map.place(before: opened.output.firstPacket(toPlay: wanted + opened.width)) == nil
        {
            while let offset = opened.map.nextSample {
                source.willRead(offset..<offset + Int64(RateProfile.sampleByteCount))
                let (bytes, _) = try await look(at: offset, count: RateProfile.sampleByteCount)
                // The bytes begin in the middle of a frame.
                let (packets, length) = Self.packets(
                    in: bytes[...],
                    like: opened.map.header,
                    at: offset,
                    isWhole: false
                )
                opened.map.sample(packets.count > 1 ? length : 0, around: offset)
            }
        }
        let target = min(wanted, opened.frameCount ?? .max)
        let number = opened.output.firstPacket(toPlay: target + opened.width)
        if let count = opened.map.packetCount, target >= max(0, count - 1) * opened.width {
            var walk = opened.map.walk(at: opened.map.counted.offset)
            walk.finish()
            land(on: target, at: count, with: walk, isExact: true, opened)
        } else if let place = opened.map.place(before: number) {
            let (walk, reached) = try await walk(from: place, to: number, opened)
            land(on: target, at: reached, with: walk, isExact: true, opened)
        } else {
            let offset = opened.map.offset(of: number)
            let (bytes, isWhole) = try await look(at: offset)
            let first = ADTSHeader.firstRun(
                of: 2,
                in: bytes,
                before: bytes.count,
                isWhole: isWhole,
                like: opened.map.header
            )
            let index = first?.index ?? 0
            var walk = opened.map.walk(at: offset + Int64(index))
            walk.append(bytes[index...])
            land(on: target, at: number, with: walk, isExact: false, opened)
        }
        refine(opened)
        return SeekLanding(frame: target, isExact: opened.isExact)
    }

    /// Continues with packet `number`, the first one of `walk`, and plays from `frame` on. Called after the last `await`
    /// of a seek, so that a cancelled one changes nothing.
    private func land(
        on frame: FrameCount,
        at number: Int64,
        with walk: ADTSWalk,
        isExact: Bool,
        _ opened: Opened
    ) {
        opened.walk = walk
        opened.output.restart(atPacket: number, playing: frame + opened.width..<FrameCount.max)
        (opened.isExact, opened.landing, opened.landed) = (isExact, frame, nil)
        correctedLanding = nil
    }

    /// Walks the frames from `place` on. Returns the walk at packet `number` and that number; at a later one if packet
    /// `number` does not begin a frame, and at an earlier one if the stream ends before it.
    private func walk(
        from place: ADTSMap.Place,
        to number: Int64,
        _ opened: Opened
    ) async throws -> (walk: ADTSWalk, reached: Int64) {
        var walk = opened.map.walk(at: place.offset)
        var reached = place.position
        while reached < number {
            switch walk.next() {
            case .frame(let header, _): reached += Int64(header.packetCount)
            case .missing(let count): reached += Int64(count)
            case .end: return (walk, reached)
            case .needMore:
                let bytes = try await source.read(at: walk.endOffset, count: Self.lookByteCount)
                if bytes.isEmpty { walk.finish() } else { walk.append(bytes) }
            }
        }
        return (walk, reached)
    }

    /// Reads `count` bytes at `offset` with one request; fewer at the end of the resource.
    private func look(
        at offset: Int64,
        count: Int = lookByteCount
    ) async throws -> (bytes: [UInt8], isWhole: Bool) {
        var window = ByteWindow(source, at: offset)
        try await window.fill(count, askingUpTo: count)
        return (window.bytes, window.isAtEnd)
    }

    package func isStored(at time: Duration) -> Bool {
        guard let opened, let length = source.length else { return false }
        let target = info.format.frames(in: time)
        guard target < opened.frameCount ?? .max else { return true }
        let number = opened.output.firstPacket(toPlay: target + opened.width)
        let place = opened.map.place(before: number)
        guard place != nil || source.arrivesInOrder || opened.map.nextSample == nil else { return false }
        let offset = opened.map.offset(of: number)
        let start = min(place?.offset ?? offset, offset)
        return source.isStored(start..<max(start, min(offset + Int64(Self.lookByteCount), length)))
    }

    package func seekTable() -> [UInt8] { opened?.map.stored() ?? [] }
}
