import Media
import System

/// One pass of a decoder over a track: from a position to the end, or until it is cancelled.
struct DecodePass: Sendable {
    let id: PassID
    let resource: TrackResource
    let start: Duration
    /// How long nothing is read: another seek may follow.
    let settling: Duration
    let clock: any MonotonicClock
    let control: PassControl
    let framesAvailable: @Sendable () -> Void
    let tap: SoundTap
    let tell: @Sendable (PlayerInput) -> Void

    /// Frames decoded at a time until the sink sounds: a few MPEG frames, so that it sounds soon.
    private static let firstStep = 4 * 1_152
    /// Afterwards: a third of the ring, so that calls and wake-ups are few. It is decoded in a millisecond, which
    /// is how long a cancel waits.
    private static let laterStep = 24 * 1_152
    /// Slices of stored bytes that are looked through while the ring is full, where nothing waits for what they
    /// tell: a second of music wakes the pass about once.
    private static let slicesPerWait = 1

    /// Runs to its end; tells of it unless the task was cancelled.
    func run() async {
        var frames: FrameCount = 0
        do {
            if settling > .zero { try await clock.sleep(for: settling) }
            let reader = try await resource.reader()
            let (decoder, landing) = try await resource.decoder(over: reader, at: start)
            let info = decoder.info
            var live = LiveTitles(report: reader.report.live)
            if let live { tell(.liveFound(id, live.station)) }
            reader.keepTags(title: info.tags.title, artist: info.tags.artist, duration: info.duration)
            tell(.passReady(id, info, landing, isSeekable: reader.report.isSeekable))
            var told = ReportedInfo(of: decoder, landing: landing)
            try await write(from: decoder, of: reader, &told, titles: &live, counting: &frames)
            tell(.passWritten(id, frames: frames))
        } catch is CancellationError {
            // The player cancelled it and needs no word of that.
        } catch let error as MediaError {
            tell(.passFailed(id, error, frames: frames))
        } catch {
            let failure = MediaError(.internalError, resource.track.location.safeText, SafeText("\(error)"))
            tell(.passFailed(id, failure, frames: frames))
        }
    }

    /// Decodes to the end; `written` counts the frames since the last permission to write.
    private func write(
        from decoder: any AudioDecoder,
        of reader: any ResourceReader,
        _ told: inout ReportedInfo,
        titles: inout LiveTitles?,
        counting written: inout FrameCount
    ) async throws {
        let pcm = UnsafeMutableBufferPointer<Int16>.allocate(capacity: Self.laterStep * 2)
        defer { pcm.deallocate() }
        let first = UnsafeMutableBufferPointer(rebasing: pcm[..<(Self.firstStep * 2)])
        var ring = try await control.turn()
        var gain = GainRamp(control.gain)
        while true {
            let step = try await decoder.decode(into: control.isHolding ? first : pcm)
            try Task.checkCancellation()
            let news = told.news(of: decoder, by: id)
            // A change of format tells the same with more consequence.
            if step != .formatChanged { news.forEach(tell) }
            switch step {
            case .frames(let frames):
                tellTitles(of: reader, &titles, at: written)
                let channels = decoder.info.format.channelCount
                let samples = UnsafeMutableBufferPointer(rebasing: pcm[..<(frames * channels)])
                gain.apply(control.gain, to: samples, channelCount: channels)
                try await hand(UnsafeRawBufferPointer(samples), to: ring, from: decoder, &told)
                written += FrameCount(frames)
            case .formatChanged:
                tellPrimed(ring, isLast: true)
                control.revoke()
                tell(.formatChanged(id, decoder.info, frames: written))
                written = 0
                ring = try await control.turn()
            case .end:
                tellPrimed(ring, isLast: true)
                return
            }
        }
    }

    /// Tells of the title under which the frames from `frame` on were sent.
    private func tellTitles(of reader: any ResourceReader, _ titles: inout LiveTitles?, at frame: FrameCount)
    {
        // What has a length is no live stream; one that is taken for a long body at first shows itself later.
        guard reader.length == nil, let report = reader.report.live else { return }
        if titles == nil {
            titles = LiveTitles(report: report)
            tell(.liveFound(id, report.station))
        }
        if titles?.station != report.station { tell(.liveFound(id, report.station)) }
        guard let title = titles?.news(in: report) else { return }
        tell(.titleReached(id, title, frames: frame))
    }

    /// Writes all of `bytes`, waiting for room as often as needed.
    private func hand(
        _ bytes: UnsafeRawBufferPointer,
        to ring: PCMRing,
        from decoder: any AudioDecoder,
        _ told: inout ReportedInfo
    ) async throws {
        var rest = bytes
        while true {
            let count = ring.write(rest)
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
            if count > 0 {
                framesAvailable()
                tap.follow(ring)
            }
            if tellPrimed(ring, isLast: rest.isEmpty == false && count == 0) { try await control.goOn() }
            if rest.isEmpty { return }
            if count == 0 { try await waitForRoom(in: ring, decoder, &told) }
        }
    }

    /// Waits until the ring is half empty. Meanwhile stored bytes are looked through: fast where the position
    /// is only an estimate, which they may correct, else little by little, for seeks to come.
    private func waitForRoom(
        in ring: PCMRing,
        _ decoder: any AudioDecoder,
        _ told: inout ReportedInfo
    ) async throws {
        var slices = 0
        while !ring.hasRoom, told.isEstimate || slices < Self.slicesPerWait, try await decoder.scanStored() {
            slices += 1
            told.news(of: decoder, by: id).forEach(tell)
        }
        try await ring.waitForRoom()
    }

    /// Tells that the sink can start, when that was asked for and is so; a full ring always is.
    @discardableResult
    private func tellPrimed(_ ring: PCMRing, isLast: Bool) -> Bool {
        guard control.takePrime(available: ring.availableFrames, isLast: isLast) else { return false }
        tell(.passPrimed(id))
        return true
    }
}
