import Media
import System

/// One pass of a decoder over a track: from a position to the end, or until it is cancelled.
struct DecodePass: Sendable {
    let start: PassStart
    let resource: TrackResource
    let resolver: any TrackResolver
    let clock: any MonotonicClock
    let control: PassControl
    let framesAvailable: @Sendable () -> Void
    let tap: SoundTap
    let send: @Sendable (PlayerInput) -> Void

    /// Frames decoded at a time until the sink plays: a tenth of a second, so that it starts soon.
    private static let firstStep = 4_608
    /// Frames decoded at a time afterwards: a third of the ring, so that calls and wake-ups are few. Decoding
    /// them takes about a millisecond, which is how long a cancel waits.
    private static let laterStep = 27_648
    /// The most bytes of a step, which bounds the frames of formats with many channels.
    private static let mostStepBytes = 256 << 10
    /// Slices of stored bytes scanned while the ring is full and the position is exact: about one a second.
    private static let slicesPerWait = 1

    private var id: PassID { start.id }

    /// Decodes to the end and reports it, unless the task is cancelled.
    func run() async {
        var frames: FrameCount = 0
        do {
            if start.requestDelay > .zero, !resource.isStored(at: start.position) {
                try await clock.sleep(for: start.requestDelay)
            }
            let (decoder, reader) = try await resource.music()
            if reader.arrivesInOrder, start.position > .zero, !resource.isStored(at: start.position) {
                send(.passAwaitsDownload(id))
            }
            let landing = try await resource.land(decoder, at: start.position)
            let info = decoder.info
            var titles = LiveTitles()
            if let live = reader.live { sendStation(of: live, &titles) }
            reader.store(TrackFacts(tags: info.tags, duration: info.duration))
            send(.passReady(id, info, landing))
            var reported = ReportedInfo(of: decoder, landing: landing)
            try await write(from: decoder, of: reader, &reported, titles: &titles, counting: &frames)
            send(.passWritten(id, frames: frames))
        } catch is CancellationError {
            // The player cancelled the pass and expects no report.
        } catch {
            await report(MediaError(describing: error, of: resource.track.location.safeText), after: frames)
        }
    }

    /// Reports a failure; if the resource is a list instead of music, reports its tracks.
    private func report(_ failure: MediaError, after frames: FrameCount) async {
        var failure = failure
        if failure.code == .notAudio, !resource.isStream, let reader = resource.openReader {
            do {
                if let list = try await resolver.list(at: resource.track, openAs: reader) {
                    return send(.listFound(id, list))
                }
            } catch {
                failure = MediaError(describing: error, of: failure.subject)
            }
        }
        // The player expects no report of a pass that it cancelled.
        if !Task.isCancelled { send(.passFailed(id, failure, frames: frames)) }
    }

    /// Decodes to the end; `written` counts the frames since the player last allowed the pass to write.
    private func write(
        from decoder: any AudioDecoder,
        of reader: any ResourceReader,
        _ reported: inout ReportedInfo,
        titles: inout LiveTitles,
        counting written: inout FrameCount
    ) async throws {
        var format = decoder.info.format
        var buffer = Self.buffer(for: format)
        defer { buffer.deallocate() }
        var ring = try await control.turn()
        var conversion = RingConversion(from: format, to: ring.format, frames: Self.step(of: format))
        var gain = GainRamp(control.gain)
        // Frames since the start of the pass; `nil` after a change of the rate, when they are no time.
        var decoded: FrameCount? = 0
        while true {
            let first = min(Self.firstStep * format.bytesPerFrame, buffer.count)
            let room = control.isHolding ? first : buffer.count
            let step = try await decoder.decode(into: .init(rebasing: buffer[..<room]))
            try Task.checkCancellation()
            let updates = reported.updates(of: decoder, by: id)
            // For a change of format, `formatChanged` below carries the same information.
            if step != .formatChanged { updates.forEach(send) }
            switch step {
            case .frames(let frames):
                sendNews(of: reader, decoder.info, &titles, at: written)
                let pcm = UnsafeMutableRawBufferPointer(rebasing: buffer[..<(frames * format.bytesPerFrame)])
                if let first = reported.firstFrame, let decoded {
                    resource.addPeaks(of: UnsafeRawBufferPointer(pcm), format, at: first + decoded)
                }
                decoded? += FrameCount(frames)
                gain.apply(control.gain, to: pcm, of: format)
                let bytes = UnsafeRawBufferPointer(pcm)
                try await hand(conversion?.converted(bytes) ?? bytes, to: ring, from: decoder, &reported)
                written += FrameCount(frames)
            case .formatChanged:
                reportPrimed(ring, isLast: true)
                control.revoke()
                send(.formatChanged(id, decoder.info, frames: written))
                written = 0
                if decoder.info.format.sampleRate != format.sampleRate { decoded = nil }
                format = decoder.info.format
                buffer.deallocate()
                buffer = Self.buffer(for: format)
                ring = try await control.turn()
                conversion = RingConversion(from: format, to: ring.format, frames: Self.step(of: format))
            case .end:
                reportPrimed(ring, isLast: true)
                return
            }
        }
    }

    private static func step(of format: AudioFormat) -> Int {
        min(laterStep, mostStepBytes / format.bytesPerFrame)
    }

    /// Allocates memory for the frames of one step.
    private static func buffer(for format: AudioFormat) -> UnsafeMutableRawBufferPointer {
        .allocate(byteCount: step(of: format) * format.bytesPerFrame, alignment: 16)
    }

    /// Sends the title of a stream if a new one begins at `frame`, and that a live one was reconnected.
    private func sendNews(
        of reader: any ResourceReader,
        _ info: StreamInfo,
        _ titles: inout LiveTitles,
        at frame: FrameCount
    ) {
        let live = reader.live
        guard let report = live ?? (info.hasTitles ? LiveReport() : nil) else { return }
        if live != nil { sendStation(of: report, &titles) }
        if titles.isReconnected(in: report) { send(.reconnected(id)) }
        guard let title = titles.next(in: report, song: info.songTitle) else { return }
        send(.titleReached(id, title, frames: frame))
    }

    private func sendStation(of report: LiveReport, _ titles: inout LiveTitles) {
        guard titles.station != report.station else { return }
        titles.station = report.station
        send(.liveFound(id, report.station))
    }

    /// Writes all of `bytes`, waiting for room as often as needed.
    private func hand(
        _ bytes: UnsafeRawBufferPointer,
        to ring: PCMRing,
        from decoder: any AudioDecoder,
        _ reported: inout ReportedInfo
    ) async throws {
        var rest = bytes
        while true {
            let count = ring.write(rest)
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
            if count > 0 {
                framesAvailable()
                tap.follow(ring)
            }
            if reportPrimed(ring, isLast: !rest.isEmpty && count == 0) { try await control.goOn() }
            if rest.isEmpty { return }
            if count == 0 { try await waitForRoom(in: ring, decoder, &reported) }
        }
    }

    /// Waits until the ring is half empty.
    ///
    /// In the meantime, the decoder scans stored bytes. While the position is an estimate, it scans all of
    /// them, which may correct the position; otherwise only a few, which make later seeks exact.
    private func waitForRoom(
        in ring: PCMRing,
        _ decoder: any AudioDecoder,
        _ reported: inout ReportedInfo
    ) async throws {
        var slices = 0
        while !ring.hasRoom, reported.isEstimate || slices < Self.slicesPerWait,
            try await decoder.scanStored()
        {
            slices += 1
            reported.updates(of: decoder, by: id).forEach(send)
        }
        try await ring.waitForRoom()
    }

    /// Reports that the sink can start, if the player requested that and the ring holds enough; a full ring
    /// is always enough.
    @discardableResult
    private func reportPrimed(_ ring: PCMRing, isLast: Bool) -> Bool {
        guard control.claimPriming(available: ring.availableFrames, isLast: isLast) else { return false }
        send(.passPrimed(id))
        return true
    }
}

/// Remembers the last report on a decoder's stream, so that only changes are sent.
struct ReportedInfo {
    private var info: StreamInfo
    /// The reported start of the pass.
    private let landing: SeekLanding
    private var isCorrected = false
    /// The difference between the actual start and the reported one.
    private var correction: FrameCount = 0

    init(of decoder: any AudioDecoder, landing: SeekLanding) {
        info = decoder.info
        self.landing = landing
    }

    /// `true` if the player shows the position as an estimate.
    var isEstimate: Bool { !landing.isExact && !isCorrected }

    /// The number of the first frame of the pass in the track; `nil` while it is an estimate.
    var firstFrame: FrameCount? { isEstimate ? nil : landing.frame + correction }

    /// The changes since the last call. A corrected landing is sent once.
    mutating func updates(of decoder: any AudioDecoder, by id: PassID) -> [PlayerInput] {
        var updates: [PlayerInput] = []
        if decoder.info != info {
            info = decoder.info
            updates.append(.infoChanged(id, info))
        }
        if isEstimate, let corrected = decoder.correctedLanding {
            isCorrected = true
            correction = corrected.frame - landing.frame
            updates.append(.landingCorrected(id, by: correction))
        }
        return updates
    }
}

/// Finds the title of a stream that the decoder has reached. Pure.
///
/// Reads of a live stream end at the start of each title. So the first frames decoded after a read beyond
/// that offset belong to the title, except for the one or two frames that a decoder holds back.
struct LiveTitles: Sendable {
    /// The station that was sent last.
    var station: Station?
    /// Titles up to this offset were sent.
    private var sentTo: Int64 = -1
    /// The last title sent that came from the tags of the music itself.
    private var sentSong: SafeText?
    private var reconnections: Int?

    /// The newest title of which music has been read, or `song`, the title in the tags of the music itself;
    /// `nil` if there is none, or if an earlier call returned it.
    mutating func next(in report: LiveReport, song: SafeText?) -> SafeText? {
        if song != sentSong {
            sentSong = song
            return song
        }
        guard let title = report.titles.last(where: { $0.offset < report.readTo }), title.offset > sentTo
        else { return nil }
        sentTo = title.offset
        return title.text
    }

    /// `true` if the stream was reconnected since the last call; `false` in the first call.
    mutating func isReconnected(in report: LiveReport) -> Bool {
        defer { reconnections = report.reconnections }
        return reconnections.map { $0 < report.reconnections } ?? false
    }
}

/// Applies the chosen gain to samples, and changes it gradually, since a jump would click. Pure.
struct GainRamp {
    /// The length of a change: 46 ms at 44.1 kHz, too slow for a click and too fast for a fade.
    static let frames = 2_048

    private var current: GainStage

    init(_ stage: GainStage) { current = stage }

    /// Scales `pcm`, whole frames of `format`, by `wanted`, which is reached gradually over the first frames.
    mutating func apply(_ wanted: GainStage, to pcm: UnsafeMutableRawBufferPointer, of format: AudioFormat) {
        guard wanted != current else { return wanted.apply(to: pcm, of: format) }
        let count = min(pcm.count, Self.frames * format.bytesPerFrame)
        wanted.apply(to: UnsafeMutableRawBufferPointer(rebasing: pcm[..<count]), of: format, from: current)
        wanted.apply(to: UnsafeMutableRawBufferPointer(rebasing: pcm[count...]), of: format)
        current = wanted
    }
}
