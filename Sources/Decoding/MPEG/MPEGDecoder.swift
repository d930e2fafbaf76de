package import Media

/// Decodes MPEG audio, Layers I to III, that it pulls through a `ByteSource`, with libmpg123.
///
/// A straight decode gives the samples of the reference decoder (`mpg123 -q -s --resync-limit 65536`).
/// Seeks are fresh starts at a frame whose offset is known, or estimated, by `StreamMap`; libmpg123's own
/// seeking is not used. Nothing here blocks: what waits is `ByteSource.read`, and cancelling that is all
/// the cancelling there is.
package final class MPEGDecoder: AudioDecoder {
    /// What one read asks for while playing. Larger reads would hold more bytes twice and gain nothing.
    private static let readByteCount = 32 * 1024
    /// PCM frames in the longest MPEG frame.
    private static let mostSamplesPerFrame = 1_152
    /// A new estimate of the duration is told only when it is off by more than this share.
    private static let toldChange = 0.01

    let source: any ByteSource
    let subject: SafeText
    private let storedTable: [UInt8]

    package private(set) var info: StreamInfo {
        didSet { if info != oldValue { infoRevision += 1 } }
    }
    package private(set) var infoRevision = 0

    /// What `open` made; nil before it.
    private(set) var opened: OpenStream?
    private var feed = FeedPosition(frame: 0, start: 0, isExact: true, wantedSample: 0, pending: [])
    private var hold = PaddingHold(sampleCount: 0)
    /// A format that begins behind samples which were just given.
    private var nextFormat: AudioFormat?
    private var isFinished = false

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
        var tags = head.tags
        var audioEnd = source.length
        if let length = source.length, let tail = try await storedTail(length: length, after: head.origin) {
            tags = tags.filled(from: tail)
            audioEnd = length - Int64(ID3v1Tag.byteCount)
        }
        var map = StreamMap(head, audioEnd: audioEnd)
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
        let made = OpenStream(handle: handle, map: map)
        opened = made
        var info = StreamInfo(format: map.format, bytesPerSecond: 1)
        info.tags = tags
        self.info = Self.refined(info, map)
        return made
    }

    /// The tags in the last bytes where those need no request; nil where there are none.
    private func storedTail(length: Int64, after origin: Int64) async throws -> TrackTags? {
        let tail = length - Int64(ID3v1Tag.byteCount)..<length
        guard tail.lowerBound > origin, source.isStored(tail) else { return nil }
        var window = ByteWindow(source, at: tail.lowerBound)
        try await window.fill(ID3v1Tag.byteCount, askingUpTo: ID3v1Tag.byteCount)
        return ID3v1Tag.tags(in: window.bytes)
    }

    package func decode(into pcm: UnsafeMutableBufferPointer<Int16>) async throws -> DecodeStep {
        try Task.checkCancellation()
        let opened = try await opening()
        if let format = nextFormat {
            nextFormat = nil
            info.format = format
            return .formatChanged
        }
        var written = 0
        let roomForOne = Self.mostSamplesPerFrame * info.format.channelCount
        while !isFinished, pcm.count - written >= roomForOne {
            switch try opened.handle.next() {
            case .frame(let number, let offset, let samples):
                let rest = pcm.rebased(from: written)
                written += heard(samples, of: number, at: offset, in: opened, into: rest)
            case .format(let format) where format == info.format:
                break
            case .format(let format):
                guard written == 0 else {
                    nextFormat = format
                    return .frames(written / info.format.channelCount)
                }
                info.format = format
                return .formatChanged
            case .needMore:
                // What is there is handed on before anything is waited for.
                if written > 0 { return .frames(written / info.format.channelCount) }
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
        _ samples: UnsafeBufferPointer<Int16>,
        of number: Int64,
        at offset: Int64,
        in opened: OpenStream,
        into pcm: UnsafeMutableBufferPointer<Int16>
    ) -> Int {
        let frame = feed.firstFrame + number
        let place = feed.start + offset
        feed.lastFrame = frame
        if feed.isExact {
            if frame == 0, place != opened.map.origin { opened.map.rebase(to: place) }
            opened.map.observe(frame: frame, at: place)
            if frame % 256 == 0 { info = Self.refined(info, opened.map) }
        }
        let channels = info.format.channelCount
        let first = frame * opened.map.samplesPerFrame
        let range = first..<first + FrameCount(samples.count / channels)
        let wanted = range.clamped(to: feed.wantedSample..<FrameCount.max)
        guard !wanted.isEmpty else { return 0 }
        var written = 0
        for part in feed.isExact ? opened.map.trim.music(in: wanted) : [wanted] {
            let start = Int(part.lowerBound - first) * channels
            let slice = UnsafeBufferPointer(rebasing: samples[start..<start + part.count * channels])
            let rest = pcm.rebased(from: written)
            written += feed.isExact ? rest.update(fromContentsOf: slice) : hold.pass(slice, into: rest)
        }
        return written
    }

    /// The music is over. Where every frame was counted, its length is known now.
    private func finish(_ opened: OpenStream) {
        isFinished = true
        guard feed.isExact, let last = feed.lastFrame else { return }
        opened.map.ended(after: last + 1)
        info = Self.refined(info, opened.map)
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
        feed = landing.feed
        hold = PaddingHold(
            sampleCount: feed.isExact ? 0 : Int(opened.map.trim.paddingLength) * info.format.channelCount
        )
        isFinished = landing.isEnd
        return landing.place
    }

    package func seekTable() -> [UInt8] {
        guard let map = opened?.map else { return [] }
        return map.table.stored(for: map.key(length: source.length))
    }

    /// `info` with what `map` knows better.
    private static func refined(_ info: StreamInfo, _ map: StreamMap) -> StreamInfo {
        var info = info
        info.audioStart = map.origin
        info.codec = codec(of: map)
        let format = map.format
        let isExact = map.statedLength != nil
        if let length = map.estimatedLength {
            let duration = format.duration(of: length)
            let change = abs((info.duration ?? .zero).seconds - duration.seconds)
            if isExact || change > toldChange * duration.seconds { info.duration = duration }
        }
        info.isDurationExact = isExact
        let rate = map.meanFrameLength * Double(format.sampleRate) / Double(map.samplesPerFrame)
        if abs(info.bytesPerSecond - rate) > toldChange * rate { info.bytesPerSecond = rate }
        return info
    }

    private static func codec(of map: StreamMap) -> SafeText {
        let version: SafeText =
            switch map.header.version {
            case .mpeg1: "MPEG-1"
            case .mpeg2: "MPEG-2"
            case .mpeg25: "MPEG-2.5"
            }
        let layer: SafeText = map.header.layer == 1 ? "I" : map.header.layer == 2 ? "II" : "III"
        let isVariable = map.xing.map { $0.kind != .info } ?? !map.hasConstantRate
        return version + " Layer " + layer + (isVariable ? ", VBR" : ", CBR")
    }
}

extension UnsafeMutableBufferPointer<Int16> {
    /// The part from `index` on.
    fileprivate func rebased(from index: Int) -> Self { Self(rebasing: self[index...]) }
}
