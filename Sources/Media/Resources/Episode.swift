/// The positions and played marks of tracks, kept from one session to the next. The player's task calls it,
/// so nothing here may wait.
package protocol ListeningMemory: Sendable {
    /// The position at which `track` continues; `nil` if it begins at its start.
    func resumePoint(of track: Track) -> Duration?

    /// The parts of `track` that were heard in the playing that continues; empty if they are not known.
    func heardParts(of track: Track) -> HeardSpans

    func isPlayed(_ episode: Episode) -> Bool

    /// Remembers that these episodes were played, or that they were not.
    func setPlayed(_ isPlayed: Bool, _ episodes: [Episode])
}

/// An episode of a podcast feed: its date, and the identity by which its position, its played state and its
/// cached bytes are found.
///
/// A class, so that a track of a long queue needs only one word for it, whether it is an episode or not.
package final class Episode: Sendable {
    /// An episode that was heard to this distance from its end counts as played.
    package static let playedMargin = Duration.seconds(30)

    /// The feed's URL without user name, password and fragment, or the path of its file.
    package let feed: String
    /// The identifier that the feed gives the episode. Two feeds may use the same identifier.
    package let guid: String
    /// `nil` if the feed states none.
    package let date: InternetDate?
    /// The index in the feed's order, the newest episode first.
    package let place: Int

    package init(feed: String, guid: String, date: InternetDate?, place: Int) {
        self.feed = feed
        self.guid = guid
        self.date = date
        self.place = place
    }

    /// Feed and guid in one text. Neither a URL, a path nor XML can contain the separator.
    package var key: String { feed + "\u{0}" + guid }
}

extension Episode: Equatable {
    /// `true` if all properties are equal.
    package static func == (left: Episode, right: Episode) -> Bool {
        left === right
            || (left.feed == right.feed && left.guid == right.guid && left.date == right.date
                && left.place == right.place)
    }
}
