/// A command of the user: a key, or a line after `:` or on headless standard input.
package enum PlayerCommand: Sendable, Hashable {
    case play
    case pause
    case toggle
    case stop
    case next
    case previous
    /// The number of a track, from 1.
    case jump(Int)
    case seek(SeekTarget)
    /// Seeks to a time in this track; does nothing if another one is current by then.
    case setPosition(Duration, of: Track.ID)
    /// Seeks to the start of a chapter.
    case chapter(ChapterTarget)
    /// 0...100.
    case volume(Int)
    case changeVolume(by: Int)
    case mute
    /// Asks for the devices to which the sound can go.
    case listDevices
    /// Lets the sound go to the device with this name; `nil` follows the default of the audio server.
    case setDevice(String?)
    /// Switches playing in random order on or off; `nil` switches to the other. The queue itself keeps its
    /// order.
    case setShuffle(Bool?)
    /// Puts the queue itself into a random order, with the current track first.
    case shuffleNow
    /// `nil` switches to the next mode: off, all, one.
    case setRepeat(RepeatMode?)
    /// `nil` switches to the next mode: off, track, album.
    case setGain(GainMode?)
    case add(String)
    /// Adds a source that another program names, not the user, and plays the first of its tracks. The servers
    /// of such a source get none of the user's secrets.
    case open(String)
    /// Ends the reading of sources, of the command line or added; the tracks that were read stay.
    case stopReading
    case remove(TrackNumbers)
    /// Moves tracks, together and in their order, so that the first of them becomes track `to` (from 1).
    case move(TrackNumbers, to: Int)
    case sort(SortKey)
    /// Plays tracks next, or after the present album, in their order.
    case playNext(TrackNumbers, after: PlayPoint)
    /// Stops once the current track, or the present album, has ended; the next `play` goes on after it. `nil`
    /// takes that back.
    case stopAfter(PlayPoint?)
    /// Fades out and pauses then; `nil` takes that back.
    case sleep(SleepGoal?)
    case clear
    /// Removes all tracks but the current one, which keeps playing.
    case clearOthers
    /// Undoes the last change of the queue: adding, removing, moving, sorting, shuffling or clearing. If the
    /// change ended the current track, it continues where it was.
    case undo
    case save(String)
    case reload
    /// Pins a track in the cache, or unpins it. The track's number, from 1; `nil` for the current track.
    ///
    /// Missing bytes of a pinned track are downloaded in the background.
    case pin(Int?)
    /// Pins tracks, or unpins them.
    case setPinned(TrackNumbers, Bool)
    /// Downloads what is missing of tracks in the background; `nil` is the current track.
    case download(TrackNumbers?)
    case changeDownloads(DownloadChange, DownloadChoice)
    /// Downloads what the queue plays next, as far as the goal says; `nil` ends that.
    case setAhead(AheadGoal?)
    /// Marks episodes of podcasts as played (`true`) or as not played; `nil` is the current track.
    case setPlayed(Bool, TrackNumbers?)
    case status
    /// Asks for the tracks of the queue.
    case list
    case quit
}

/// A moment in playing: the end of the current track, or of its album.
package enum PlayPoint: String, Sendable, CaseIterable {
    case track
    /// The last of the tracks that follow the current one and are of one group with it (`TrackGroup`).
    case album
}

package enum RepeatMode: String, Sendable, CaseIterable {
    case off
    case one
    case all
}

/// The modes of playing.
package struct PlayModes: Sendable, Equatable {
    package var isShuffled: Bool
    package var repeatMode: RepeatMode
    package var gainMode: GainMode

    package init(isShuffled: Bool = false, repeatMode: RepeatMode = .off, gainMode: GainMode = .off) {
        self.isShuffled = isShuffled
        self.repeatMode = repeatMode
        self.gainMode = gainMode
    }
}

/// Track numbers as displayed, from 1.
///
/// Stored as ranges, so that selecting a whole long queue costs no more than selecting one track.
package struct TrackNumbers: Sendable, Hashable, ExpressibleByIntegerLiteral {
    /// The tracks' indices in the queue, from 0.
    package let places: RangeSet<Int>

    /// Selects the tracks at the indices `places`, from 0.
    package init(places: RangeSet<Int>) { self.places = places }

    /// Selects one track, or none if `number` is below 1.
    package init(_ number: Int) { places = number < 1 ? RangeSet() : RangeSet(number - 1..<number) }

    package init(integerLiteral number: Int) { self.init(number) }

    /// Parses numbers and ranges separated by spaces, such as `3 5-7`. Returns `nil` for other or empty text.
    package init?(parsing words: some Sequence<Substring>) {
        var places = RangeSet<Int>()
        for word in words {
            let ends = word.split(separator: "-", omittingEmptySubsequences: false)
            guard (1...2).contains(ends.count), ends.allSatisfy({ $0.utf8.allSatisfy(\.isDigit) }),
                let first = ends.first.flatMap({ Int($0) }), let last = ends.last.flatMap({ Int($0) }),
                first >= 1, first <= last
            else { return nil }
            places.insert(contentsOf: first - 1..<last)
        }
        guard !places.isEmpty else { return nil }
        self.places = places
    }

    /// The number of selected tracks.
    package var count: Int { places.ranges.reduce(0) { $0 + $1.count } }

    /// The highest number; 0 if none is selected.
    package var highest: Int { places.ranges.last?.upperBound ?? 0 }
}

/// The field by which the queue is sorted.
package enum SortKey: String, Sendable, CaseIterable {
    /// The title as displayed. This and all other texts are compared without case and accents, and with
    /// digits as numbers.
    case title
    /// The artist of the album or else of the track, then the year, the album, the disc and the track number;
    /// what is equal or unknown in all of these keeps its order. Tracks without an artist come last.
    case artist
    /// The album, then the disc and the track number; tracks without an album come last.
    case album
    /// The year, then the artist, the album, the disc and the track number; tracks without a year come last.
    case year
    /// The disc and the track number; tracks without a number come last.
    case track
    /// The shortest first; tracks of unknown length last.
    case duration
    /// The URL or path.
    case source
    /// The host, then the order before; local files first.
    case host
    /// The order in which the tracks were added.
    case added
    /// The order of each podcast feed, the newest episode first; other tracks last.
    case feed
}
