package import Media

/// Plays the segments of a list as one stream.
///
/// A seek is exact if the segments state their times; else the stated durations lead to an estimate. After a
/// discontinuity the stream begins anew, without a gap.
package final class SegmentedDecoder: AudioDecoder {
    /// Until the rate is known: 128 kbit/s.
    private static let usualBytesPerSecond: Double = 16_000
    /// The most earlier segments that a seek tries if the expected one begins too late.
    private static let mostStepsBack = 3
    /// The most parts of a live stream whose times are known.
    private static let mostAnchors = 100

    private let list: any SegmentList
    private let subject: SafeText
    private var stream: Stream?
    /// A packet whose frame number is exact, and its time, for each part between discontinuities: the first
    /// one of a recording, and the last one of a live stream, which may lose segments.
    private var anchors: [Int: (frame: FrameCount, time: Duration)] = [:]

    /// `nil` after an exact landing, and once it stays an estimate.
    private var guess: GuessedLanding?

    package private(set) var info = StreamInfo.unopened
    package private(set) var correctedLanding: SeekLanding?

    /// What is played. The first frames of a part between discontinuities are not music: frame `skipped` of
    /// the output is the first one of the music. A class, so that the bytes have one owner and are changed in
    /// place.
    private final class Stream {
        var reading: SegmentReading
        var codec: SegmentCodec
        var output: PacketOutput
        var skipped: FrameCount
        /// The number of discontinuities before it.
        var discontinuity: Int
        /// `false` if the numbers of its frames are estimates.
        var isExact: Bool
        /// The segment whose first packet came last.
        var segment: Int?
        /// The difference between the times of the list and those of the frames; 0 for a recording. That of a
        /// live stream changes: its list counts lost segments, and stated durations are inexact.
        var drift: Duration = .zero
        /// The titles that begin at coming frames, in order.
        var titles: [(frame: FrameCount, text: SafeText)] = []

        init(_ reading: SegmentReading, _ codec: SegmentCodec, _ output: PacketOutput, isExact: Bool) {
            self.reading = reading
            self.codec = codec
            self.output = output
            self.isExact = isExact
            skipped = codec.skippedFrames(in: output.codec)
            discontinuity = reading.discontinuity
        }

        /// The time in the music at which `frame` is played.
        func time(of frame: FrameCount) -> Duration { output.format.duration(of: max(0, frame - skipped)) }

        /// The frames from here on have numbers that are greater by `frames`, and exact.
        func correct(by frames: FrameCount) {
            output.shift(by: frames)
            for index in titles.indices { titles[index].frame += frames }
            isExact = true
        }

        /// Notes a title that begins `time` after `frame`.
        func note(_ title: SafeText, after time: Duration, _ frame: FrameCount) {
            titles.append((frame + output.format.frames(in: max(.zero, time)), title))
        }
    }

    /// Creates a decoder for the segments of `list`; `subject` names it in errors. It reads nothing before
    /// `open`.
    package init(_ list: any SegmentList, subject: SafeText) {
        self.list = list
        self.subject = subject
    }

    package func open() async throws {
        guard stream == nil else { return }
        let stream = try await begin(isLive ? list.place(at: list.startTime).number : 0)
        stream.reading.passOver()
        self.stream = stream
        info = StreamInfo(format: stream.output.format, bytesPerSecond: Self.usualBytesPerSecond)
        if let segment = stream.reading.segment, let length = segment.bytes.length, segment.duration > .zero {
            info.bytesPerSecond = max(1, Double(length) / segment.duration.seconds)
        }
        info.duration = list.duration
        info.isRewindable = isLive
        info.hasTitles = true
        info.codec = stream.output.codec.name
    }

    /// `true` for a stream that goes on while it is played.
    private var isLive: Bool { list.duration == nil }

    /// Begins with segment `number`.
    private func begin(_ number: Int) async throws -> Stream {
        let drift = self.stream?.drift ?? .zero
        var reading = SegmentReading(list, from: number, passesOver: self.stream != nil) {
            [anchors, format = self.stream?.output.format] segment in
            guard let format, let anchor = anchors[segment.discontinuity] else { return nil }
            return anchor.time + segment.start - drift - format.duration(of: anchor.frame)
        }
        var titles: [(time: Duration, text: SafeText)] = []
        while true {
            switch try await first(of: &reading) {
            case .codec(let codec):
                guard let output = try await output(of: codec, in: &reading) else { break }
                let start = max(.zero, (reading.segment?.start ?? .zero) - drift)
                // Of a live stream, the first place defines the times.
                let isFirst = self.stream == nil || !isLive && number == 0
                let stated = isFirst ? nil : exactFrame(reading, in: output, near: start)
                let stream = Stream(reading, codec, output, isExact: isFirst || stated != nil)
                let frame = stated ?? output.format.frames(in: start)
                output.restart(at: frame, playing: frame + stream.skipped..<FrameCount.max)
                stream.drift = drift
                noteSegment(of: stream, at: frame)
                if let time = stream.reading.firstTime { anchor(time, stream) }
                for title in titles { stream.note(title.text, after: title.time, frame) }
                return stream
            case .end: throw Refusal.damaged.error(of: subject, isOpen: self.stream != nil)
            case .title(let text, let time): titles.append((time, text))
            case .packet, .missing, .silence, .needMore: break
            }
            reading.removeFirst()
        }
    }

    /// The number of the frame with which `reading` begins, by the time that its first packet states; `nil`
    /// if it states none, or one that can't be true. The packet is expected at `start`.
    private func exactFrame(_ reading: SegmentReading, in output: PacketOutput, near start: Duration)
        -> FrameCount?
    {
        guard let time = reading.firstTime, let anchor = anchors[reading.discontinuity],
            let segment = reading.segment
        else { return nil }
        let frames = (time.time - anchor.time).seconds * Double(output.format.sampleRate)
        let packets = (frames / Double(output.packetFrames)).rounded()
        guard abs(packets) < 1e12 else { return nil }
        let frame = anchor.frame + FrameCount(packets) * output.packetFrames
        let difference = output.format.duration(of: frame) - start
        let isPlausible = !time.isHint || abs(difference.seconds) <= segment.duration.seconds
        // The first frame of a live stream has a time that was rounded.
        return frame > -output.packetFrames && isPlausible ? max(0, frame) : nil
    }

    private func first(of reading: inout SegmentReading) async throws -> SegmentStep {
        do {
            return try await reading.first()
        } catch let refusal as Refusal {
            throw refusal.error(of: subject, isOpen: stream != nil)
        }
    }

    /// An output for packets of `codec`, the next step of `reading`; `nil` if none follow.
    private func output(of codec: SegmentCodec, in reading: inout SegmentReading) async throws
        -> PacketOutput?
    {
        do {
            let packets = try await reading.packets(atMost: codec.triedPackets)
            if packets.isEmpty { return nil }
            return PacketOutput(try await codec.decoder(trying: packets, of: subject))
        } catch let refusal as Refusal {
            throw refusal.error(of: subject, isOpen: stream != nil)
        }
    }

    // MARK: Decoding

    package func decode(into pcm: UnsafeMutableRawBufferPointer) async throws -> DecodeStep {
        try Task.checkCancellation()
        try await open()
        guard let stream else { return .end }
        while true {
            let output = stream.output
            if info.format != output.format {
                info.format = output.format
                return .formatChanged
            }
            let count = output.pass(into: pcm)
            if count > 0 { return .frames(count) }
            switch try await first(of: &stream.reading) {
            case .codec(let codec): try await change(to: codec, stream)
            case .packet(let packet, let time):
                if let time { anchor(time, stream) }
                noteSegment(of: stream, at: output.position)
                while let title = stream.titles.first, title.frame <= output.position {
                    info.songTitle = title.text
                    stream.titles.removeFirst()
                }
                if !output.decode(packet, expecting: output.packetFrames) {
                    info.skippedByteCount += Int64(packet.count)
                }
            case .missing(let count): output.skip(FrameCount(count) * output.packetFrames)
            case .silence(let duration): output.skip(output.wholePackets(in: duration))
            case .title(let title, let time): stream.note(title, after: time, output.position)
            case .needMore: break
            case .end:
                if stream.isExact {
                    info.duration = stream.time(of: output.position)
                    info.isDurationExact = true
                }
                return .end
            }
            stream.reading.removeFirst()
        }
    }

    /// Continues with packets of `codec`. With another codec or format, the decoder begins anew. Otherwise it
    /// goes on also over a discontinuity, and leaves out what an encoder has added before the music.
    private func change(to codec: SegmentCodec, _ stream: Stream) async throws {
        let isContinued = stream.discontinuity == stream.reading.discontinuity
        let isAlike = stream.codec.isContinued(by: codec)
        guard !isContinued || !isAlike, let output = try await output(of: codec, in: &stream.reading)
        else { return }
        stream.codec = codec
        stream.discontinuity = stream.reading.discontinuity
        let old = stream.output
        let wanted = max(old.position, old.music.lowerBound)
        if isAlike, output.format == old.format, output.packetFrames == old.packetFrames {
            let packets = try await stream.reading.packets(atMost: 2)
            let added = codec.addedFrames(before: packets, in: output.codec)
            guard added > 0 else { return }
            return old.restart(at: old.position - added, playing: wanted..<FrameCount.max)
        }
        let time = stream.time(of: wanted)
        let frame = output.format.frames(in: stream.time(of: old.position))
        stream.skipped = codec.skippedFrames(in: output.codec)
        stream.output = output
        output.restart(at: frame, playing: output.format.frames(in: time) + stream.skipped..<FrameCount.max)
        info.codec = output.codec.name
    }

    /// Notes that the next packet has `time`.
    private func anchor(_ time: MediaTime, _ stream: Stream) {
        guard stream.isExact, isLive || anchors[stream.discontinuity] == nil else { return }
        // Seeks lead only to parts that the list still names.
        if isLive, anchors.count > Self.mostAnchors { anchors = [:] }
        anchors[stream.discontinuity] = (stream.output.position, time.time)
    }

    /// Notes the time of the next packet, which begins at `frame`, if it is the first one of a segment of a
    /// live stream.
    private func noteSegment(of stream: Stream, at frame: FrameCount) {
        guard isLive, let segment = stream.reading.segment, segment.number != stream.segment else { return }
        stream.segment = segment.number
        stream.drift = segment.start - stream.output.format.duration(of: frame)
    }

    // MARK: Seeking

    package func seek(to time: Duration) async throws -> SeekLanding {
        try Task.checkCancellation()
        try await open()
        guard let opened = stream else { return SeekLanding(frame: 0, isExact: true) }
        let drift = opened.drift
        let target = max(.zero, list.place(at: time + drift).time - drift)
        let lead = lead(in: opened)
        var number = list.place(at: max(.zero, target + drift - lead)).number
        var stream = try await begin(number)
        for _ in 0..<Self.mostStepsBack where stream.time(of: stream.output.position) > target - lead {
            // A live stream may have lost the segments before.
            guard number > list.place(at: .zero).number, stream.reading.segment?.number == number else {
                break
            }
            number -= 1
            stream = try await begin(number)
        }
        // Without times, only the packets themselves show where the target is.
        if !stream.isExact, number > 0, list.isStored(segments: 0..<number + 1) {
            stream = try await begin(0)
        }
        let begun = (stream.reading.firstPacket, stream.reading.segment, stream.output.position)
        let landing = try await skip(to: target, stream)
        // Changed only after the last `await`, so that a cancelled seek changes nothing.
        self.stream = stream
        info.format = stream.output.format
        info.codec = stream.output.codec.name
        if !isLive { info.songTitle = nil }
        correctedLanding = nil
        guess = nil
        if !isLive, !stream.isExact, case (let packet?, let segment?, let frame) = begun {
            guess = GuessedLanding(packet, in: segment.number, at: frame, landing: landing.frame)
        }
        return landing
    }

    /// Counts the packets of a stored segment before an estimated landing.
    package func scanStored() async throws -> Bool {
        guard let stream, var guess else { return false }
        let width = stream.output.packetFrames
        let count: GuessedLanding.Count?
        do {
            count = try await list.withStored(guess.next) { try await guess.count($0, width) }
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            // Playing the segment will report the damage.
            count = .never
        }
        // The segment is not stored yet.
        guard let count else { return false }
        self.guess = count == .more ? guess : nil
        if case .found(let frames) = count {
            stream.correct(by: frames)
            correctedLanding = SeekLanding(frame: max(0, guess.landing + frames), isExact: true)
        }
        return count == .more
    }

    package func isStored(at time: Duration) -> Bool {
        guard let opened = stream, !isLive else { return false }
        let first = list.place(at: max(.zero, time - lead(in: opened))).number
        return list.isStored(segments: first..<max(first, list.place(at: time).number) + 1)
    }

    /// The time before a target from which on packets are decoded.
    private func lead(in stream: Stream) -> Duration {
        stream.output.format.duration(of: stream.output.codec.primingFrames + stream.output.packetFrames)
    }

    /// Passes over the packets that `target` does not need.
    private func skip(to target: Duration, _ stream: Stream) async throws -> SeekLanding {
        let output = stream.output
        let earliest = output.music.lowerBound
        var wanted = max(earliest, output.format.frames(in: target) + stream.skipped)
        var position = output.position
        let phase = output.packetFrames * output.codec.packetsPerPhase
        // The phase of estimated positions is unknown.
        let start = stream.isExact ? anchors[stream.discontinuity]?.frame ?? position : position
        steps: while position + output.packetFrames <= wanted - output.codec.primingFrames
            || (position - start) % phase != 0
        {
            switch try await first(of: &stream.reading) {
            case .packet:
                noteSegment(of: stream, at: position)
                position += output.packetFrames
            case .missing(let count): position += FrameCount(count) * output.packetFrames
            case .silence(let duration): position += output.wholePackets(in: duration)
            case .title(let title, let time): stream.note(title, after: time, position)
            case .codec(let codec):
                // Another part is played from its start.
                if position > output.position || !stream.codec.isContinued(by: codec) { break steps }
            case .needMore: break
            case .end:
                wanted = max(earliest, position)
                break steps
            }
            stream.reading.removeFirst()
        }
        output.restart(at: position, playing: wanted..<FrameCount.max)
        return SeekLanding(frame: wanted - stream.skipped, isExact: stream.isExact)
    }

    package func start() async throws -> SeekLanding {
        try await open()
        guard let stream else { return SeekLanding(frame: 0, isExact: true) }
        if !isLive, list.startTime > .zero { return try await seek(to: list.startTime) }
        return SeekLanding(frame: stream.output.music.lowerBound - stream.skipped, isExact: true)
    }

    package func seekTable() -> [UInt8] { [] }
}

extension PacketOutput {
    /// The frames of the packets that begin in `duration`.
    fileprivate func wholePackets(in duration: Duration) -> FrameCount {
        format.frames(in: duration) / packetFrames * packetFrames
    }
}
