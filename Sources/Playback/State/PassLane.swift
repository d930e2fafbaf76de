import Media

/// Identifies a pass of the decoder over a track. Each seek begins a new pass; events with an old ID are
/// dropped.
struct PassID: Hashable, Sendable, Comparable {
    var value: Int

    static func < (left: PassID, right: PassID) -> Bool { left.value < right.value }
}

/// The state of one pass of the decoder.
struct Pass: Sendable {
    enum Stage: Sendable, Equatable {
        /// The pass reads the head, or seeks.
        case opening
        /// The pass knows its format and waits for permission to write.
        case ready
        case writing
        /// The pass has written everything in one format and waits for a stream in the next.
        case changing
        /// The pass has written everything, or failed after writing something.
        case written
        /// The pass failed while it was prepared after another one. The failure is reported when its turn
        /// comes.
        case failed

        /// `true` if the pass was not allowed to write yet.
        var isBeforeWriting: Bool {
            switch self {
            case .opening, .ready, .failed: true
            case .writing, .changing, .written: false
            }
        }
    }

    /// The place of the pass in the open stream.
    struct Placement: Sendable {
        /// The stream's frame with which the pass begins.
        var start: FrameCount
        /// The format of the stream's frames, also while `info` has the one that follows.
        var format: AudioFormat
    }

    let id: PassID
    let track: Track
    /// The requested start of the pass.
    let start: Duration
    var stage = Stage.opening
    var info: StreamInfo?
    var landing = SeekLanding(frame: 0, isExact: true)
    /// Set once the pass was allowed to write.
    var placement: Placement?
    /// The reason for stopping before the end.
    var failure: MediaError?
    /// Frames of the same track that were played by earlier passes, or by this one before a change of format.
    var framesBefore: FrameCount = 0
    /// The same as parts of the track, those of passes at estimated positions as they were known last.
    var spansBefore = HeardSpans()
    /// Frames written since the permission to write; set when the pass has stopped writing.
    var writtenFrames: FrameCount = 0
    /// The first pass of this playing of the track. Passes after a seek belong to the same playing.
    var playing: PassID
    var stalls = 0
    /// `true` if a seek command began the pass, so that a `seeked` event is due.
    var answersSeek = false
    /// How often the resource has changed during this playing of the track.
    var changes = 0
    /// `true` if the resource changed while the pass wrote; once its frames were heard, a new pass continues.
    var isBrokenOff = false
    /// Set for a live stream.
    var station: Station?
    /// The title of the music that is heard, for a live stream.
    var streamTitle: SafeText? {
        didSet {
            guard let oldValue, !oldValue.isEmpty else { return }
            earlierTitles = (earlierTitles + [oldValue]).suffix(Self.mostEarlierTitles)
        }
    }
    /// The titles before it, oldest first.
    fileprivate(set) var earlierTitles: [SafeText] = []
    private static let mostEarlierTitles = 10
    /// Titles of a live stream that are not heard yet, each with the sink's frame at which it begins.
    var comingTitles: [(frame: FrameCount, text: SafeText)] = []

    var isLive: Bool { station != nil }

    /// `true` if seeks lead to other places: of a live stream, only those by a distance.
    var isSeekable: Bool { !isLive || info?.isRewindable == true }

    init(id: PassID, track: Track, start: Duration) {
        self.id = id
        playing = id
        self.track = track
        self.start = start
    }

    /// The tags of the file, completed by those of the playlist. For a stream, the title of the music that is
    /// heard.
    var tags: TrackTags {
        var tags = track.tags(with: info?.tags ?? TrackTags())
        // Titles of streams contain the artist too, in no reliable order.
        let title = streamTitle.flatMap { $0.isEmpty ? nil : $0 }
        guard let station else {
            tags.title = title ?? tags.title
            return tags
        }
        return TrackTags(title: title ?? station.name ?? tags.title, album: station.name ?? tags.title)
    }

    /// `nil` if unknown. A live stream has no length, even if a playlist states one.
    var duration: Duration? { isLive ? nil : info?.duration ?? track.duration }

    /// The farthest position to which a seek is tried: the duration, or twice the duration if that is only an
    /// estimate, which may be too short; `nil` if the duration is unknown.
    var farthestSeek: Duration? { duration.map { info?.isDurationExact == true ? $0 : $0 * 2 } }

    /// The stream's description for display.
    var shownInfo: StreamInfo? {
        guard var info, isLive else { return info }
        info.tags = tags
        info.duration = nil
        return info
    }
}

/// The passes whose PCM is being heard, buffered or decoded. Pure.
///
/// The first pass is being heard. It is followed by passes that already write into the same stream (gapless),
/// and by at most one that has been prepared and waits for its turn.
struct PassLane: Sendable {
    private(set) var passes: [Pass] = []
    /// Frames of the open stream that were heard.
    private var heard: FrameCount = 0
    private var lastNumber = 0

    var current: Pass? { passes.first }

    /// The last pass that writes or has written.
    var lastGranted: Pass? { passes.last { !$0.stage.isBeforeWriting } }

    /// The pass that follows the current one and was not allowed to write yet; `nil` if there is none.
    /// Even if it has failed, its track stays the next one until its turn, so that a queue of broken
    /// tracks is not skipped ahead of time.
    var prepared: Pass? {
        guard passes.count > 1, let last = passes.last, last.stage.isBeforeWriting else { return nil }
        return last
    }

    /// The prepared pass, whose reads have low priority while the track before it may still miss bytes.
    var lowPriority: PassID? { lastGranted?.stage == .written ? nil : prepared?.id }

    subscript(id: PassID) -> Pass? { passes.first { $0.id == id } }

    func isCurrent(_ id: PassID) -> Bool { passes.first?.id == id }

    /// Frames of the current track that were heard, in all of its passes.
    var heardFrames: FrameCount { current.map { $0.framesBefore + heardFrames(of: $0) } ?? 0 }

    /// The frames of `pass` in the open stream that were heard; those of later passes are not left out.
    private func heardFrames(of pass: Pass) -> FrameCount {
        pass.placement.map { max(0, heard - $0.start) } ?? 0
    }

    /// The parts of the current track that were heard, in all of its passes.
    var heardSpans: HeardSpans {
        guard let current else { return HeardSpans() }
        var spans = current.spansBefore
        if let placement = current.placement {
            spans.insert(placement.format.duration(of: current.landing.frame)..<position)
        }
        return spans
    }

    /// The position heard, or the destination of a pending start or seek.
    var position: Duration {
        guard let current else { return .zero }
        if let placement = current.placement {
            return placement.format.duration(of: current.landing.frame + heardFrames(of: current))
        }
        guard current.stage != .opening, let format = current.info?.format else { return current.start }
        return format.duration(of: current.landing.frame)
    }

    /// The number of frames until the next title or track begins to be heard; `nil` if none is due.
    var framesUntilChange: FrameCount? {
        let frames = [current?.comingTitles.first?.frame, passes.dropFirst().first?.placement?.start]
        return frames.compactMap { $0 }.min().map { max(0, $0 - heard) }
    }

    // MARK: Beginning and ending passes

    /// Replaces all passes by a new one.
    mutating func begin(_ track: Track, at start: Duration, heard: HeardSpans = HeardSpans()) -> Pass {
        passes = []
        return prepare(track, at: start, heard: heard)
    }

    /// Makes a pass that was prepared the only one.
    mutating func begin(_ prepared: Pass) { passes = [prepared] }

    /// Adds a new pass after all others. The playing that it continues has heard the parts `heard` before.
    mutating func prepare(_ track: Track, at start: Duration, heard: HeardSpans = HeardSpans()) -> Pass {
        var pass = makePass(track, at: start)
        pass.spansBefore = heard
        passes.append(pass)
        return pass
    }

    /// The resource of `pass` has changed. Returns `true` if its track is opened again.
    mutating func mayReopen(_ pass: Pass) -> Bool {
        update(pass.id) { $0.changes += 1 }
        return pass.changes < Self.mostChanges
    }

    /// Two changes may be only of validators, which are not trusted after that (see `Loaders`). The third is
    /// of the bytes; a resource that changes again would be downloaded for ever.
    private static let mostChanges = 3

    /// Prepares the track of a pass again, because its resource has changed.
    mutating func prepareAnew(_ id: PassID) -> Pass? {
        guard let place = place(of: id) else { return nil }
        var pass = makePass(passes[place].track, at: passes[place].start)
        pass.changes = passes[place].changes
        pass.spansBefore = passes[place].spansBefore
        passes[place] = pass
        return pass
    }

    /// A new pass that continues the playing of the track of `old`; not yet in the lane.
    mutating func successor(of old: Pass, at start: Duration, answersSeek: Bool) -> Pass {
        var pass = makePass(old.track, at: old.isLive && !answersSeek ? .zero : start)
        pass.framesBefore = heardFrames
        pass.spansBefore = heardSpans
        pass.playing = old.playing
        pass.stalls = old.stalls
        // If the last seek has no `seeked` event yet, this pass sends it.
        pass.answersSeek = answersSeek || (old.answersSeek && old.stage == .opening)
        pass.changes = old.changes
        // Displayed until the new pass has its own information.
        pass.info = old.info
        pass.station = old.station
        pass.streamTitle = old.streamTitle
        pass.earlierTitles = old.earlierTitles
        return pass
    }

    private mutating func makePass(_ track: Track, at start: Duration) -> Pass {
        lastNumber += 1
        return Pass(id: PassID(value: lastNumber), track: track, start: start)
    }

    /// Removes all passes from the lane, and cancels them, except `exempt`. The open resource of the pass
    /// `reused` stays open for its successor.
    mutating func cancelAll(except exempt: PassID? = nil, reusing reused: PassID? = nil) -> [PlayerEffect] {
        defer { passes = [] }
        return passes.filter { $0.id != exempt }.map { .cancelPass($0.id, keepsResource: $0.id == reused) }
    }

    /// The frames of the stream will not be heard.
    mutating func streamDropped() { for place in passes.indices { passes[place].placement = nil } }

    mutating func removeFirst() -> Pass { passes.removeFirst() }

    mutating func removeLast() { passes.removeLast() }

    // MARK: Events of a pass; `nil` or `false` if the pass is no longer in the lane

    @discardableResult
    mutating func update(_ id: PassID, _ change: (inout Pass) -> Void) -> Pass? {
        guard let place = place(of: id) else { return nil }
        change(&passes[place])
        return passes[place]
    }

    /// The first frame of the pass will be the sink's frame `start`.
    mutating func granted(_ id: PassID, at start: FrameCount) {
        update(id) { pass in
            pass.placement = pass.info.map { Pass.Placement(start: start, format: $0.format) }
        }
    }

    /// The frames of the pass lie `shift` later in the track than estimated.
    mutating func landingCorrected(_ id: PassID, by shift: FrameCount) -> Bool {
        update(id) { pass in
            pass.landing.frame += shift
            pass.landing.isExact = true
        } != nil
    }

    /// A live stream has reached a title, `frames` after the permission to write. Returns `true` if the title
    /// is heard already.
    mutating func titleReached(_ id: PassID, _ title: SafeText, after frames: FrameCount) -> Bool {
        guard let pass = self[id] else { return false }
        if frames > 0, let start = pass.placement?.start {
            update(id) { $0.comingTitles.append((start + frames, title)) }
            return isCurrent(id) && showHeardTitle()
        }
        guard pass.streamTitle != title else { return false }
        update(id) { $0.streamTitle = title }
        return isCurrent(id)
    }

    /// Sets the title of the current pass to the newest title that was reached in playback; `true` if it
    /// changes.
    mutating func showHeardTitle() -> Bool {
        guard let current else { return false }
        let reached = current.comingTitles.prefix { $0.frame < heard }
        guard let newest = reached.last else { return false }
        passes[0].comingTitles.removeFirst(reached.count)
        guard current.streamTitle != newest.text else { return false }
        passes[0].streamTitle = newest.text
        return true
    }

    // MARK: Time

    mutating func heard(_ frames: FrameCount) { heard = frames }

    /// The sink has played everything that was written, which its count of frames may not show yet.
    mutating func drained() {
        guard let last = passes.last(where: { $0.placement != nil }), let start = last.placement?.start
        else { return }
        heard = max(heard, start + last.writtenFrames)
    }

    /// The number of frames of the current pass, if it was heard to its last one; `nil` if it was not.
    ///
    /// Exactly at the boundary, the old pass stays current, because nothing of the new one was heard yet.
    var framesOfPassed: FrameCount? {
        guard let start = current?.placement?.start, let next = passes.dropFirst().first?.placement?.start,
            heard > next
        else { return nil }
        return next - start
    }

    /// If the current pass waits for a stream in another format, moves its landing past the frames that were
    /// heard.
    mutating func continueAfterFormatChange() {
        guard let pass = current, pass.stage == .changing, let placement = pass.placement,
            let format = pass.info?.format
        else { return }
        passes[0].framesBefore += pass.writtenFrames
        passes[0].spansBefore = heardSpans
        // Frames are counted in the old sample rate; `format` has the new one.
        let end = placement.format.duration(of: pass.landing.frame + pass.writtenFrames)
        passes[0].landing.frame = format.frames(in: end)
        passes[0].writtenFrames = 0
    }

    private func place(of id: PassID) -> Int? { passes.firstIndex { $0.id == id } }
}
