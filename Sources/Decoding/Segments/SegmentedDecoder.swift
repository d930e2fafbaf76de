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

    private let list: any SegmentList
    private let subject: SafeText
    private var stream: Stream?
    /// A packet whose frame number is exact, and its time, for each part between discontinuities.
    private var anchors: [Int: (frame: FrameCount, time: Duration)] = [:]

    package private(set) var info = StreamInfo.unopened

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
    }

    /// Creates a decoder for the segments of `list`; `subject` names it in errors. It reads nothing before
    /// `open`.
    package init(_ list: any SegmentList, subject: SafeText) {
        self.list = list
        self.subject = subject
    }

    package func open() async throws {
        guard stream == nil else { return }
        let stream = try await begin(0, at: .zero)
        self.stream = stream
        info = StreamInfo(format: stream.output.format, bytesPerSecond: Self.usualBytesPerSecond)
        if let segment = stream.reading.segment, let length = segment.bytes.length, segment.duration > .zero {
            info.bytesPerSecond = max(1, Double(length) / segment.duration.seconds)
        }
        info.duration = list.duration
        info.codec = stream.output.codec.name
    }

    /// Begins with segment `number`, which begins at `start` by the stated durations.
    private func begin(_ number: Int, at start: Duration) async throws -> Stream {
        let known = stream.flatMap { anchors[$0.discontinuity] }
        var reading = SegmentReading(list, from: number, near: known.map { $0.time + start })
        while true {
            switch try await first(of: &reading) {
            case .codec(let codec):
                guard let output = try await output(of: codec, in: &reading) else { break }
                let exact = number == 0 ? 0 : exactFrame(reading, in: output, near: start)
                let stream = Stream(reading, codec, output, isExact: exact != nil)
                let frame = exact ?? output.format.frames(in: start)
                output.restart(at: frame, playing: frame + stream.skipped..<FrameCount.max)
                if let time = stream.reading.firstTime { anchor(time, stream) }
                return stream
            case .end: throw Refusal.damaged.error(of: subject, isOpen: stream != nil)
            case .packet, .missing, .silence, .title, .needMore: break
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
        return frame >= 0 && isPlausible ? frame : nil
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
                if !output.decode(packet, expecting: output.packetFrames) {
                    info.skippedByteCount += Int64(packet.count)
                }
            case .missing(let count): output.skip(FrameCount(count) * output.packetFrames)
            case .silence(let duration): output.skip(output.wholePackets(in: duration))
            case .title(let title): info.songTitle = title
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

    /// Continues with packets of `codec`. After a discontinuity, and with another codec, the decoder begins
    /// anew.
    private func change(to codec: SegmentCodec, _ stream: Stream) async throws {
        let isContinued = stream.discontinuity == stream.reading.discontinuity
        guard !isContinued || !stream.codec.isContinued(by: codec),
            let output = try await output(of: codec, in: &stream.reading)
        else { return }
        let wanted = stream.time(of: max(stream.output.position, stream.output.music.lowerBound))
        let frame = output.format.frames(in: stream.time(of: stream.output.position))
        stream.codec = codec
        stream.skipped = codec.skippedFrames(in: output.codec)
        stream.discontinuity = stream.reading.discontinuity
        stream.output = output
        output.restart(
            at: frame,
            playing: output.format.frames(in: wanted) + stream.skipped..<FrameCount.max
        )
        info.codec = output.codec.name
    }

    /// Notes that the next packet has `time`.
    private func anchor(_ time: MediaTime, _ stream: Stream) {
        guard stream.isExact, anchors[stream.discontinuity] == nil else { return }
        anchors[stream.discontinuity] = (stream.output.position, time.time)
    }

    // MARK: Seeking

    package func seek(to time: Duration) async throws -> SeekLanding {
        try Task.checkCancellation()
        try await open()
        guard let opened = stream else { return SeekLanding(frame: 0, isExact: true) }
        // A stream that goes on has no other places: reading up to one would take as long as playing.
        guard list.duration != nil else {
            return SeekLanding(frame: max(0, opened.output.position - opened.skipped), isExact: true)
        }
        let target = max(.zero, min(time, list.duration ?? time))
        let lead = opened.output.format.duration(
            of: opened.output.codec.primingFrames + opened.output.packetFrames
        )
        var place = list.place(at: max(.zero, target - lead))
        var stream = try await begin(place.number, at: place.start)
        for _ in 0..<Self.mostStepsBack where stream.time(of: stream.output.position) > target - lead {
            guard place.number > 0 else { break }
            place = list.place(at: max(.zero, place.start - .nanoseconds(1)))
            stream = try await begin(place.number, at: place.start)
        }
        let landing = try await skip(to: target, stream)
        // Changed only after the last `await`, so that a cancelled seek changes nothing.
        self.stream = stream
        info.format = stream.output.format
        info.codec = stream.output.codec.name
        return landing
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
            case .packet: position += output.packetFrames
            case .missing(let count): position += FrameCount(count) * output.packetFrames
            case .silence(let duration): position += output.wholePackets(in: duration)
            case .title(let title): info.songTitle = title
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

    package func seekTable() -> [UInt8] { [] }
}

extension PacketOutput {
    /// The frames of the packets that begin in `duration`.
    fileprivate func wholePackets(in duration: Duration) -> FrameCount {
        format.frames(in: duration) / packetFrames * packetFrames
    }
}
