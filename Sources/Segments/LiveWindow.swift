package import Media

/// Follows a live stream through the lists that its server sends, one after another (RFC 8216 §6.2.2, §6.3).
/// Pure: lists and times come in, and the next step comes out.
///
/// Each list names a window of the stream. Segments are recognized by their numbers, never by their URLs,
/// which may have other tokens each time. The numbers here begin with those of the server and only rise: if
/// the server begins to count anew, they go on.
///
/// Times are counted from the oldest segment of the first list, so none is negative.
package struct LiveWindow: Sendable {
    /// The effect of a list.
    package enum Outcome: Sendable, Equatable {
        /// The known list stays, so the text of this one is not needed.
        case ignored
        /// The list takes the place of the known one. It may name the same segments by other URLs.
        case replaced
        /// The list takes the place of the known one, but does not follow it: the encoder was restarted, or
        /// segments came and went meanwhile. The stream goes on behind a discontinuity.
        case restarted
    }

    /// The reader's next action.
    package enum Step: Sendable, Equatable {
        /// Load this segment, then call `advance`.
        case load(Int64)
        /// The window has left the position behind: so many segments are lost. Ask for the next step; it goes
        /// on at the oldest segment. Said once for each such loss.
        case lost(Int64)
        /// Ask for the list at the clock's `nextReload`.
        case reload
        /// The list has ended, and all of it was played.
        case end
    }

    /// The newest list.
    package private(set) var playlist: MediaPlaylist
    package private(set) var clock = LiveClock()
    /// The number of the segment to load next.
    package private(set) var position: Int64 = 0
    private let startOffset: Duration?
    /// The difference between the numbers of this stream and the media sequence numbers of `playlist`.
    private var shift: Int64 = 0
    /// The same for discontinuity sequence numbers.
    private var discontinuityShift: Int64 = 0
    /// The time of the first segment of `playlist`.
    private var listStart: Duration = .zero
    /// The number of segments that are lost and were not said.
    private var lost: Int64 = 0

    /// Starts with the first list. `startOffset` is EXT-X-START of the master playlist; that of the list
    /// itself goes first.
    package init(_ playlist: MediaPlaylist, startOffset: Duration? = nil, requestedAt: Duration) {
        self.playlist = playlist
        self.startOffset = startOffset
        clock.changed(playlist, requestedAt: requestedAt)
        let offset = playlist.startOffset ?? startOffset
        let asked = offset.map { playlist.startTime(by: $0) } ?? playlist.duration
        position = playlist.mediaSequence + Int64(start(in: playlist, at: asked, behind: clock.startDistance))
    }

    // MARK: The window

    /// The numbers of the segments that the newest list names. Those before the first list's oldest segment
    /// are left out, if a server names them later.
    package var numbers: Range<Int64> {
        let oldest = listStart < .zero ? playlist.index(at: .zero - listStart) ?? 0 : 0
        return firstNumber + Int64(oldest)..<endNumber
    }

    private var firstNumber: Int64 { playlist.mediaSequence + shift }
    private var endNumber: Int64 { firstNumber + Int64(playlist.count) }
    private var endTime: Duration { listStart + playlist.duration }

    /// The time at which segment `number` begins. A number outside the window has the time of its nearer end.
    package func time(of number: Int64) -> Duration {
        let index = Int(min(max(firstNumber, number), endNumber) - firstNumber)
        return max(.zero, listStart + playlist.start(of: index))
    }

    /// Segment `number` of the window, with time and discontinuity of the stream. `read` is that of
    /// `MediaPlaylist.segment`.
    package func segment(
        _ number: Int64,
        read: (ByteRange) throws(MediaError) -> [UInt8]
    ) throws(MediaError) -> MediaSegment {
        var segment = try playlist.segment(Int(number - firstNumber), read: read)
        segment.start = time(of: number)
        segment.discontinuity += discontinuityShift
        return segment
    }

    /// The titles of the list by their times in the stream.
    package var titles: [MediaPlaylist.Title] {
        playlist.titles.map { MediaPlaylist.Title(time: max(.zero, listStart + $0.time), text: $0.text) }
    }

    // MARK: Steps

    /// The next step. Segments that the server does not have (EXT-X-GAP) are passed over.
    package mutating func next() -> Step {
        let numbers = self.numbers
        if position < numbers.lowerBound {
            lost += numbers.lowerBound - position
            position = numbers.lowerBound
        }
        if lost > 0 {
            defer { lost = 0 }
            return .lost(lost)
        }
        while position < numbers.upperBound, playlist.isGap(Int(position - firstNumber)) { position += 1 }
        if position < numbers.upperBound { return .load(position) }
        return playlist.isEnded ? .end : .reload
    }

    /// The segment at `position` is loaded, or cannot be loaded: the one after it is next.
    package mutating func advance() { position += 1 }

    /// The segment that plays at `time`, and `time` itself. For a time outside the window, it is the nearest
    /// segment and the time at which that one begins.
    package func place(at time: Duration) -> (number: Int64, time: Duration) {
        let index = playlist.index(at: max(.zero, time) - listStart)
        let number = index.map { firstNumber + Int64($0) } ?? position
        let start = self.time(of: number)
        return (number, (start...max(start, self.time(of: number + 1))).contains(time) ? time : start)
    }

    /// Goes on at segment `number`.
    package mutating func move(to number: Int64) { position = number }

    /// `true` if segments may have left the list since it was read, as after a pause.
    package func isStale(at now: Duration) -> Bool {
        clock.nextReload.map { now >= $0 + clock.targetDuration * 2 } ?? false
    }

    // MARK: Lists

    /// The server answered a request of `requestedAt` with the list that it had sent before (304).
    package mutating func receiveUnchanged(requestedAt: Duration) {
        clock.unchanged(requestedAt: requestedAt)
    }

    /// The server answered a request of `requestedAt` with the list `new`.
    ///
    /// A list that ends before the known one comes from a server that is late, or from an encoder that was
    /// restarted. It is taken for the first, until nothing has been new for three target durations, or if it
    /// has no segment of the known window.
    package mutating func receive(_ new: MediaPlaylist, requestedAt: Duration) -> Outcome {
        guard !playlist.isEnded else { return .ignored }
        let known = playlist.sequenceNumbers
        let offered = new.sequenceNumbers
        guard new.count > 0, !isLate(offered, requestedAt) else {
            clock.unchanged(requestedAt: requestedAt)
            if new.isEnded { end() }
            return .ignored
        }
        guard playlist.count > 0 else {
            self = LiveWindow(new, startOffset: startOffset, requestedAt: requestedAt)
            return .replaced
        }
        let follows = offered.upperBound >= known.upperBound && offered.lowerBound <= known.upperBound
        if follows { follow(new) } else { restart(new, elapsed: requestedAt - clock.lastChange) }
        if offered == known, !new.isEnded {
            clock.unchanged(requestedAt: requestedAt)
        } else {
            clock.changed(new, requestedAt: requestedAt)
        }
        return follows ? .replaced : .restarted
    }

    private func isLate(_ offered: Range<Int64>, _ requestedAt: Duration) -> Bool {
        let known = playlist.sequenceNumbers
        return offered.upperBound < known.upperBound && offered.upperBound > known.lowerBound
            && requestedAt - clock.lastChange < clock.startDistance
    }

    private mutating func end() {
        playlist.isEnded = true
        clock.ended()
    }

    /// Takes `new`, which overlaps the known list or begins where it ends.
    ///
    /// The last segment that both name ties times and discontinuity numbers together. So the number is right
    /// even if the server forgot to count a discontinuity that has left its window.
    private mutating func follow(_ new: MediaPlaylist) {
        let common = playlist.count - 1
        let place = Int(playlist.sequenceNumbers.upperBound - 1 - new.mediaSequence)
        if place >= 0 {
            listStart += playlist.start(of: common) - new.start(of: place)
            discontinuityShift += playlist.discontinuity(of: common) - new.discontinuity(of: place)
        } else {
            listStart = endTime
            // A server may count the tag before its first segment instead of sending it.
            let tagged = new.discontinuity(of: 0) - new.discontinuitySequence
            let least = playlist.discontinuity(of: common) + discontinuityShift + tagged
            let stated = new.discontinuity(of: 0) + discontinuityShift
            discontinuityShift = min(max(least, stated), least + 1) - new.discontinuity(of: 0)
        }
        playlist = new
    }

    /// Takes `new`, which does not follow the known list, `elapsed` after that was asked for. Its numbers and
    /// times go on where those of the known list end. If its own numbers have gone on, segments are lost.
    ///
    /// Playing goes on as far behind the end as before, plus the time that has passed and one target
    /// duration. So nothing is lost after a restart, and a window of hours is not played from its oldest
    /// segment.
    private mutating func restart(_ new: MediaPlaylist, elapsed: Duration) {
        let behind = endTime - time(of: position) + elapsed + clock.targetDuration
        let index = start(in: new, at: new.duration, behind: max(behind, clock.startDistance))
        let lastDiscontinuity = playlist.discontinuity(of: playlist.count - 1) + discontinuityShift
        let ahead = new.mediaSequence - playlist.sequenceNumbers.upperBound
        shift = endNumber - new.mediaSequence
        listStart = max(.zero, endTime - new.start(of: index))
        discontinuityShift = lastDiscontinuity + 1 - new.discontinuity(of: 0)
        playlist = new
        position = firstNumber + Int64(index)
        lost = max(0, ahead)
    }

    /// The segment of `playlist` at `time`, but not less than `distance` before its end (§6.3.3).
    private func start(in playlist: MediaPlaylist, at time: Duration, behind distance: Duration) -> Int {
        playlist.index(at: min(time, playlist.duration - distance)) ?? 0
    }
}

extension MediaPlaylist {
    /// The media sequence numbers of the segments.
    fileprivate var sequenceNumbers: Range<Int64> { mediaSequence..<mediaSequence + Int64(count) }
}

/// Decides when a live media playlist is asked for again (RFC 8216 §6.3.4). Pure: times are passed in.
package struct LiveClock: Sendable, Equatable {
    /// The target durations that are followed. Less would flood the server, more would miss segments.
    static let bounds: ClosedRange<Duration> = .seconds(1) ... .seconds(120)

    /// The target duration of the newest list, within bounds.
    package private(set) var targetDuration: Duration = .seconds(1)
    /// When the newest list that differed from the one before was asked for.
    package private(set) var lastChange: Duration = .zero
    /// The time at which to ask again; `nil` if the list has ended.
    package private(set) var nextReload: Duration?

    /// A request that was sent at `requestedAt` brought a list that was not known: the next one follows after
    /// one target duration.
    mutating func changed(_ playlist: MediaPlaylist, requestedAt: Duration) {
        targetDuration = min(max(Self.bounds.lowerBound, playlist.targetDuration), Self.bounds.upperBound)
        lastChange = requestedAt
        nextReload = playlist.isEnded ? nil : requestedAt + targetDuration
    }

    /// A request that was sent at `requestedAt` brought nothing new: the next one follows after half a target
    /// duration.
    mutating func unchanged(requestedAt: Duration) {
        nextReload = requestedAt + targetDuration / 2
    }

    /// The list has ended: it is not asked for again.
    mutating func ended() { nextReload = nil }

    /// The distance from the end of the list at which playing begins, and after which a list that goes back
    /// is believed (§6.3.3).
    var startDistance: Duration { targetDuration * 3 }
}
