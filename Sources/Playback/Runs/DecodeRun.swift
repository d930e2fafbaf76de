import Media

/// One pass of a decoder over a track: from a position to the end, or until it is cancelled.
struct DecodeRun: Sendable {
    let id: RunID
    let resource: TrackResource
    let start: Duration
    let control: RunControl
    let makeDecoder: @Sendable (any ByteSource, SafeText, [UInt8]) -> any AudioDecoder
    let framesAvailable: @Sendable () -> Void
    let tap: SoundTap
    let tell: @Sendable (PlayerInput) -> Void

    /// Frames decoded at a time: a few MPEG frames, to keep the calls few and the answer to a cancel quick.
    private static let framesPerStep = 4 * 1_152

    /// Runs to its end; tells of it unless the task was cancelled.
    func run() async {
        var frames: FrameCount = 0
        do {
            let reader = try await resource.reader()
            let decoder = makeDecoder(reader, resource.track.location.safeText, resource.seekTable)
            defer { resource.keep(seekTable: decoder.seekTable()) }
            try await decoder.open()
            var landing = SeekLanding(frame: 0, isExact: true)
            if start > .zero { landing = try await decoder.seek(to: start) }
            let info = decoder.info
            var live = LiveTitles(report: reader.report.live)
            if let live { tell(.liveFound(id, live.station)) }
            reader.keepTags(title: info.tags.title, artist: info.tags.artist, duration: info.duration)
            tell(.runReady(id, info, landing, isSeekable: reader.report.isSeekable))
            try await write(from: decoder, of: reader, titles: &live, counting: &frames)
            tell(.runWritten(id, frames: frames))
        } catch is CancellationError {
            // The player cancelled it and needs no word of that.
        } catch let error as MediaError {
            tell(.runFailed(id, error, frames: frames))
        } catch {
            let failure = MediaError(.internalError, resource.track.location.safeText, SafeText("\(error)"))
            tell(.runFailed(id, failure, frames: frames))
        }
    }

    /// Decodes to the end; `written` counts the frames since the last permission to write.
    private func write(
        from decoder: any AudioDecoder,
        of reader: any ResourceReader,
        titles: inout LiveTitles?,
        counting written: inout FrameCount
    ) async throws {
        let pcm = UnsafeMutableBufferPointer<Int16>.allocate(capacity: Self.framesPerStep * 2)
        defer { pcm.deallocate() }
        var revision = decoder.infoRevision
        var ring = try await control.turn()
        while true {
            let step = try await decoder.decode(into: pcm)
            try Task.checkCancellation()
            if decoder.infoRevision != revision {
                revision = decoder.infoRevision
                if step != .formatChanged { tell(.infoChanged(id, decoder.info)) }
            }
            switch step {
            case .frames(let frames):
                tellTitles(of: reader, &titles, at: written)
                let bytes = UnsafeRawBufferPointer(pcm).prefix(frames * decoder.info.format.bytesPerFrame)
                try await hand(UnsafeRawBufferPointer(rebasing: bytes), to: ring)
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
    private func hand(_ bytes: UnsafeRawBufferPointer, to ring: PCMRing) async throws {
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
            if count == 0 { try await ring.waitForRoom() }
        }
    }

    /// Tells that the sink can start, when that was asked for and is so; a full ring always is.
    @discardableResult
    private func tellPrimed(_ ring: PCMRing, isLast: Bool) -> Bool {
        guard control.takePrime(available: ring.availableFrames, isLast: isLast) else { return false }
        tell(.runPrimed(id))
        return true
    }
}
