import Media
import System

/// A list of a stream, as the server has sent it.
struct ListAnswer: Sendable {
    var text: [UInt8]
    /// The location that answered: relative references start there (RFC 3986 §5.1.3).
    var place: ResourceLocation
    /// The location to ask again.
    var source: ResourceLocation
    var validators = Validators()
    var requestedAt: Duration
}

/// A media playlist that was read, and how it was found.
struct FoundPlaylist: Sendable {
    /// The most lists that lead to one another.
    private static let mostMasters = 3

    let playlist: MediaPlaylist
    let answer: ListAnswer
    /// The rendition that it is; `nil` without a master playlist.
    private(set) var identity: RenditionChoice.Identity?
    /// EXT-X-START of the master playlist.
    private(set) var startOffset: Duration?

    /// Parses a media playlist.
    init(_ answer: ListAnswer) throws(MediaError) {
        var parser = MediaPlaylistParser(location: answer.place)
        try parser.feed(answer.text)
        playlist = try parser.finish()
        self.answer = answer
    }

    /// Reads the list `first`, and those that it leads to, which `read` requests. A master playlist leads to
    /// the rendition of `identity` if it is given and still offered, and else to the one that is chosen.
    ///
    /// Throws `MediaError` if a list is damaged, or has no stream that is played.
    init(
        from first: ListAnswer,
        _ parts: SegmentParts,
        like identity: RenditionChoice.Identity? = nil,
        read: (ResourceLocation) async throws -> ListAnswer
    ) async throws {
        var answer = first
        var chosen: RenditionChoice.Identity?
        var startOffset: Duration?
        for _ in 0..<Self.mostMasters {
            guard answer.text.withUnsafeBufferPointer({ HLSPlaylistKind.of($0) }) == .master else {
                try self.init(answer)
                self.identity = chosen
                self.startOffset = startOffset
                return
            }
            let master = try MasterPlaylist(answer.text, location: answer.place)
            startOffset = master.startOffset ?? startOffset
            let choice =
                try identity.flatMap { master.choice(like: $0) }
                ?? master.choice(quality: parts.quality, playing: parts.played)
            chosen = choice.identity
            answer = try await read(choice.location)
        }
        throw MediaError(.badPlaylist, first.source.safeText, "HLS master playlists lead to one another")
    }
}

/// The segments that the lists of a live stream name, and the one that comes next. Pure: lists and times come
/// in.
struct StreamLists: Sendable {
    /// A segment that comes next.
    struct Next: Sendable {
        var number: Int
        var segment: MediaSegment
        /// The titles that hold in it, by their times from its beginning.
        var titles: [(time: Duration, text: SafeText)] = []

        /// `titles` are those of the stream.
        init(_ number: Int, _ segment: MediaSegment, _ titles: [MediaPlaylist.Title]) {
            self.number = number
            self.segment = segment
            let end = segment.start + segment.duration
            let held = titles.last { $0.time <= segment.start }
            let coming = titles.filter { segment.start < $0.time && $0.time < end }
            if let held { self.titles.append((held.time - segment.start, held.text)) }
            if let title = segment.title { self.titles.append((.zero, title)) }
            self.titles += coming.map { ($0.time - segment.start, $0.text) }
        }
    }

    enum Step: Sendable {
        /// Open this segment, then call `advance`.
        case segment(Next)
        /// So many segments have left the list before they were read. Said once.
        case lost(Int64)
        /// Read the list again at this time.
        case reload(at: Duration)
        case end
    }

    private var window: LiveWindow
    /// The text of the media playlist, to which its table refers.
    private var text: [UInt8]
    /// The location to read the list from again, and the validators of its last answer.
    private(set) var source: ResourceLocation
    private(set) var validators: Validators
    /// The rendition that is played; `nil` without a master playlist.
    private(set) var identity: RenditionChoice.Identity?
    /// `true` once a segment was asked for.
    private var hasBegun = false

    init(_ found: FoundPlaylist) {
        text = found.answer.text
        source = found.answer.source
        validators = found.answer.validators
        identity = found.identity
        window = Self.window(found)
    }

    private static func window(_ found: FoundPlaylist) -> LiveWindow {
        LiveWindow(found.playlist, startOffset: found.startOffset, requestedAt: found.answer.requestedAt)
    }

    // MARK: Places

    /// The time of the next segment, with which playing begins.
    var startTime: Duration { window.time(of: window.position) }

    func place(at time: Duration) -> (number: Int, time: Duration) {
        let place = window.place(at: time)
        return (Int(place.number), place.time)
    }

    // MARK: Steps

    /// Goes on at segment `number`.
    mutating func move(to number: Int) { window.move(to: Int64(number)) }

    mutating func next(at now: Duration) throws(MediaError) -> Step {
        // After a pause in the reading the list is too old to go by.
        if window.isStale(at: now) { return .reload(at: now) }
        switch window.next() {
        case .load(let number):
            hasBegun = true
            let segment = try window.segment(number) { bytes(in: $0) }
            return .segment(Next(Int(number), segment, window.titles))
        case .lost(let count): return .lost(count)
        case .reload: return .reload(at: window.clock.nextReload ?? now)
        case .end: return .end
        }
    }

    /// The next segment was opened.
    mutating func advance() { window.advance() }

    /// Segment `number`, as the newest list names it; `nil` if it does not.
    func segment(_ number: Int) throws(MediaError) -> MediaSegment? {
        guard window.numbers.contains(Int64(number)) else { return nil }
        return try window.segment(Int64(number)) { bytes(in: $0) }
    }

    private func bytes(in range: ByteRange) -> [UInt8] {
        Array(text[Int(range.lowerBound)..<Int(range.upperBound)])
    }

    // MARK: Lists

    /// Takes `new`, the list of the same stream. If no segment was asked for yet, playing begins where
    /// that list says.
    mutating func receive(_ new: FoundPlaylist) {
        var outcome = LiveWindow.Outcome.replaced
        if hasBegun {
            outcome = window.receive(new.playlist, requestedAt: new.answer.requestedAt)
        } else {
            window = Self.window(new)
        }
        if outcome != .ignored { text = new.answer.text }
        source = new.answer.source
        // A list that is ignored now may be believed if it comes again.
        validators = outcome == .ignored ? Validators() : new.answer.validators
        identity = new.identity ?? identity
    }

    /// The list is the one that was known before, or could not be read.
    mutating func receiveUnchanged(requestedAt: Duration) {
        window.receiveUnchanged(requestedAt: requestedAt)
    }
}
