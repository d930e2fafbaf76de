package import Media

/// Decodes MPEG audio, Layers I to III, that it pulls through a `ByteSource`, with libmpg123.
///
/// A straight decode gives the samples of the reference decoder (`mpg123 -q -s --resync-limit 65536`).
/// Seeks are fresh starts at a frame whose offset is known, or estimated, by `StreamMap`; libmpg123's own
/// seeking is not used. Nothing here blocks: what waits is `ByteSource.read`, and cancelling that is all
/// the cancelling there is.
package final class MPEGDecoder: AudioDecoder {
    /// What one read asks for while playing: some seconds of music, since each is a way to another thread and back.
    private static let readByteCount = 96 * 1024
    /// PCM frames in the longest MPEG frame.
    private static let mostSamplesPerFrame = 1_152
    /// libmpg123 holds what it was fed until it finds a frame, also the whole of a tag that it steps over. A
    /// tag in mid-stream beyond this ends the music instead of filling the memory.
    private static let mostHeldByteCount: Int64 = 32 << 20

    let source: any ByteSource
    let subject: SafeText
    private let storedTable: [UInt8]

    package private(set) var info: StreamInfo {
        didSet { if info != oldValue { infoRevision += 1 } }
    }
    package private(set) var infoRevision = 0
    package private(set) var correctedLanding: SeekLanding? {
        didSet { if correctedLanding != oldValue { infoRevision += 1 } }
    }

    /// What `open` made; nil before it.
    private(set) var opened: OpenStream?
    private var feed = FeedPosition(frame: 0, start: 0, isExact: true, wantedSample: 0, pending: [])
    private var hold = PaddingHold(sampleCount: 0)
    /// A format that begins behind samples which were just given.
    private var nextFormat: AudioFormat?
    private var isFinished = false
    private var walk = StoredWalk()
    /// Whether the tags at the end were looked for where their bytes are.
    private var hasSeenTail = false
    /// The next known frame that an approximate run may meet, which would tell where it is.
    private var landmark: (frame: Int64, offset: Int64)?

    /// Makes a decoder of `source`, which costs nothing before `open`.
    ///
    /// `subject` names the resource in errors. `seekTable` is what an earlier decoder of the same resource
    /// gave; it is checked, and thrown away where it does not fit.
    package init(source: any ByteSource, subject: SafeText, seekTable: [UInt8] = []) {
        self.source = source
        self.subject = subject
        storedTable = seekTable
        // Only there until `open`: the commonest format at the commonest rate.
        info = StreamInfo(format: AudioFormat(sampleRate: 44_100, channelCount: 2), bytesPerSecond: 16_000)
    }

    package func open() async throws {
        _ = try await opening()
    }

    private func opening() async throws -> OpenStream {
        if let opened { return opened }
        let head = try await StreamHead.read(from: source, subject: subject)
        var map = StreamMap(head, audioEnd: source.length)
        if let table = SeekTable(stored: storedTable, for: map.key(length: source.length)) {
            map.table = table
        }
        let handle = try FeedHandle(subject: subject)
        feed = FeedPosition(
            frame: 0,
            start: head.feedStart,
            isExact: true,
            wantedSample: 0,
            pending: head.bytes
        )
        let made = OpenStream(handle: handle, map: map, tagged: head.loudness)
        opened = made
        var info = StreamInfo(format: map.format, bytesPerSecond: 1)
        info.tags = head.tags
        info.loudness = made.loudness()
        info.skippedByteCount = head.firstFrame - head.feedStart
        self.info = info.refined(by: map)
        try await lookAtTail(made)
        return made
    }

    /// Takes in the tags at the end as soon as they need no request.
    private func lookAtTail(_ opened: OpenStream) async throws {
        guard !hasSeenTail, let length = source.length else { return }
        let origin = opened.map.origin
        guard let tail = try await StreamTail.stored(in: source, length: length, behind: origin) else {
            return
        }
        hasSeenTail = true
        opened.map.audioEnd = tail.audioEnd
        var better = info.refined(by: opened.map)
        if let tags = tail.tags { better.tags = info.tags.filled(from: tags) }
        better.loudness = opened.loudness(tail: tail.loudness)
        info = better
    }

    package func decode(into pcm: UnsafeMutableBufferPointer<Int16>) async throws -> DecodeStep {
        try Task.checkCancellation()
        let opened = try await opening()
        var written = 0
        while true {
            let channels = info.format.channelCount
            written += hold.drain(into: pcm.rebased(from: written))
            guard !hold.isDraining, pcm.count - written >= Self.mostSamplesPerFrame * channels else { break }
            if let format = nextFormat {
                // What was decoded before is of the old format, and is handed on first.
                guard written == 0 else { break }
                nextFormat = nil
                info.format = format
                return .formatChanged
            }
            guard !isFinished else { break }
            switch try opened.handle.next() {
            case .frame(let frame):
                written += heard(frame, in: opened, into: pcm.rebased(from: written))
            case .format(let format) where format == info.format:
                break
            case .format(let format):
                nextFormat = format
                // Music goes on behind what is held, so none of it was padding.
                hold.release()
            case .needMore:
                // What is there is handed on before anything is waited for.
                if written > 0 { return .frames(written / channels) }
                if try await !feedMore(opened.handle) { finish(opened) }
            case .end:
                finish(opened)
            }
        }
        return written > 0 ? .frames(written / info.format.channelCount) : .end
    }

    /// Feeds what is read next; false at the end of the resource.
    private func feedMore(_ handle: FeedHandle) async throws -> Bool {
        var bytes = feed.pending
        if bytes.isEmpty {
            guard feed.nextRead - feed.lastEnd < Self.mostHeldByteCount else { return false }
            bytes = try await source.read(at: feed.nextRead, count: Self.readByteCount)
            feed.nextRead += Int64(bytes.count)
        }
        feed.pending = []
        guard !bytes.isEmpty else { return false }
        try handle.feed(bytes[...])
        return true
    }

    /// Takes one decoded MPEG frame: notes where it began, and writes what of it is music and wanted.
    private func heard(
        _ decoded: FeedHandle.Frame,
        in opened: OpenStream,
        into pcm: UnsafeMutableBufferPointer<Int16>
    ) -> Int {
        let place = feed.start + decoded.offset
        if !feed.isExact { lookForLandmark(decoded.number, at: place, opened) }
        let frame = feed.firstFrame + decoded.number
        let skipped = feed.advance(to: frame, at: place, byteCount: decoded.byteCount)
        if skipped > 0 { info.skippedByteCount += skipped }
        let samples = decoded.samples
        let channels = info.format.channelCount
        let count = FrameCount(samples.count / channels)
        if feed.isExact { note(frame, count, at: place, in: opened) }
        let first = frame * opened.map.samplesPerFrame
        let range = first..<first + count
        let wanted = range.clamped(to: feed.wantedSample..<FrameCount.max)
        guard !wanted.isEmpty else { return 0 }
        var written = 0
        for part in feed.isExact ? opened.map.trim.music(in: wanted) : [wanted] {
            let start = Int(part.lowerBound - first) * channels
            let slice = UnsafeBufferPointer(rebasing: samples[start..<start + part.count * channels])
            written += hold.pass(slice, into: pcm.rebased(from: written))
        }
        return written
    }

    /// Takes note of frame `frame`, which is counted: `count` PCM frames, from the byte at `place` on.
    private func note(_ frame: Int64, _ count: FrameCount, at place: Int64, in opened: OpenStream) {
        if frame == 0, place != opened.map.origin {
            opened.map.rebase(to: place)
            walk = StoredWalk()
        }
        let isOfKind =
            info.format.sampleRate == opened.map.header.sampleRate
            && (count == 0 || count == opened.map.samplesPerFrame)
        if !isOfKind, feed.turn == nil { feed.turn = FeedPosition.Turn(frame: frame, length: .zero) }
        if feed.turn != nil {
            feed.turn?.length += info.format.duration(of: count)
        } else {
            opened.map.observe(frame: frame, at: place)
            if frame % 256 == 0 { info = info.refined(by: opened.map) }
        }
    }

    /// Where a frame of an approximate run, the `number`th since the landing, is a known one, all are.
    private func lookForLandmark(_ number: Int64, at place: Int64, _ opened: OpenStream) {
        let distance = place - opened.map.origin
        if let landmark, landmark.offset < distance {
            self.landmark = opened.map.table.point(atOrBehind: distance)
        }
        if let landmark, landmark.offset == distance { correct(firstFrame: landmark.frame - number, opened) }
    }

    /// The first frame since the landing proved to be frame `first`: what was an estimate is exact from now on.
    private func correct(firstFrame first: Int64, _ opened: OpenStream) {
        guard first >= 0 else { return }
        let map = opened.map
        let shift = first - feed.firstFrame
        feed.firstFrame = first
        feed.isExact = true
        feed.wantedSample = max(0, feed.wantedSample + shift * map.samplesPerFrame)
        feed.lastFrame = feed.lastFrame.map { $0 + shift }
        let channels = info.format.channelCount
        let end = feed.lastFrame.map { ($0 + 1) * map.samplesPerFrame } ?? 0
        let start = end - FrameCount(hold.heldCount / channels)
        hold.release { index in
            let sample = start + FrameCount(index / channels)
            return !map.trim.music(in: sample..<sample + 1).isEmpty
        }
        let frame = map.trim.position(ofSample: feed.wantedSample)
        correctedLanding = SeekLanding(frame: frame, isExact: true)
    }

    package func scanStored() async throws -> Bool {
        try Task.checkCancellation()
        let opened = try await opening()
        try await lookAtTail(opened)
        let length = source.length
        guard let offset = walk.wanted(in: opened.map, length: length, isStored: source.isStored) else {
            return false
        }
        let bytes = try await source.readStored(at: offset, count: StoredWalk.slice)
        let watched = feed.isExact ? nil : feed.firstPlace
        var arrived: Int64?
        walk.took(bytes, length: length, into: &opened.map) { number, place in
            if place == watched { arrived = number }
        }
        if let arrived { correct(firstFrame: arrived, opened) }
        info = info.refined(by: opened.map)
        return true
    }

    /// The music is over. Where every frame was counted, its length is known now.
    private func finish(_ opened: OpenStream) {
        isFinished = true
        guard feed.isExact, let last = feed.lastFrame else { return }
        if let turn = feed.turn {
            let before = opened.map.trim.position(ofSample: turn.frame * opened.map.samplesPerFrame)
            opened.map.mixedLength = opened.map.format.duration(of: before) + turn.length
        } else {
            opened.map.ended(after: last + 1)
        }
        info = info.refined(by: opened.map)
    }

    package func seek(to time: Duration) async throws -> SeekLanding {
        try Task.checkCancellation()
        let opened = try await opening()
        nextFormat = nil
        var position = opened.map.format.frames(in: time)
        if let length = opened.map.estimatedLength { position = min(position, length) }
        let landing = try await SeekLander(source: source, map: opened.map).land(on: position)
        // Only now, so that a cancelled seek leaves what was there.
        try opened.handle.reopen()
        opened.map = landing.map
        // libmpg123 names the format of the first frame again, which may be that of a later part of the stream.
        info.format = landing.map.format
        feed = landing.feed
        hold = PaddingHold(
            sampleCount: feed.isExact ? 0 : Int(opened.map.trim.paddingLength) * info.format.channelCount
        )
        isFinished = landing.isEnd
        correctedLanding = nil
        landmark = feed.isExact ? nil : (frame: 0, offset: -1)
        return landing.place
    }

    package func seekTable() -> [UInt8] {
        guard let map = opened?.map else { return [] }
        return map.table.stored(for: map.key(length: source.length))
    }
}

extension UnsafeMutableBufferPointer<Int16> {
    /// The part from `index` on.
    fileprivate func rebased(from index: Int) -> Self { Self(rebasing: self[index...]) }
}
