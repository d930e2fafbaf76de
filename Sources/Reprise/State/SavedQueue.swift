import Media
import System

/// The saved tracks of the queue.
struct SavedQueue: Sendable, Equatable {
    /// Unique among all saved queues: a saved session names the queue that its index belongs to.
    var id = ""
    var tracks: [Track] = []
    /// The tags and durations that were learned of the tracks: they are saved instead of those of the
    /// playlists.
    var facts: [Track.ID: TrackFacts] = [:]

    /// The first number of restored tracks; resolved tracks are numbered from 0 and never reach it.
    private static let firstID: UInt64 = 1 << 63

    /// The text of the file. It contains no user name or password of a server.
    var text: String {
        var lines = StateLines(kind: "queue")
        lines.add("id", id)
        for track in tracks.lazy.map({ $0.described(by: facts[$0.id]) }) {
            if let episode = track.episode {
                let date = episode.date.map { ["\($0.seconds)", "\($0.offset)"] } ?? ["", ""]
                lines.add("episode", episode.feed, episode.guid, "\(episode.place)", date[0], date[1])
            }
            lines.add(
                "track",
                track.duration.map { String($0.wholeMilliseconds) } ?? "",
                track.location.savedText,
                track.tags.artist?.string ?? "",
                track.tags.title?.string ?? ""
            )
        }
        return lines.text
    }

    private static func episode(_ fields: [String]) throws(StateError) -> Episode {
        let range: ClosedRange<Int64> = -100_000_000_000...1_000_000_000_000
        let numbers = fields[2...].map { Int64($0) ?? 0 }
        guard !fields[0].isEmpty, numbers.allSatisfy({ range.contains($0) }) else {
            throw StateError("an episode without a feed")
        }
        let date = fields[3].isEmpty ? nil : InternetDate(seconds: numbers[1], offset: numbers[2])
        return Episode(feed: fields[0], guid: fields[1], date: date, place: Int(numbers[0]))
    }

    private static func words(_ text: String) -> SafeText? { text.isEmpty ? nil : SafeText(text) }
}

extension SavedQueue {
    /// Parses the result of `text`; refuses anything else.
    init(parsing text: String) throws(StateError) {
        // The number of the next track.
        var episode: Episode?
        for (name, fields) in try StateLines.parse(text, kind: "queue") {
            switch (name, fields.count) {
            case ("id", 1): id = fields[0]
            case ("episode", 5): episode = try Self.episode(fields)
            case ("track", 4):
                guard let location = ResourceLocation(savedText: fields[1]) else {
                    throw StateError("a track that is neither a file nor a URL")
                }
                tracks.append(
                    Track(
                        id: Track.ID(Self.firstID + UInt64(tracks.count)),
                        location: location,
                        tags: TrackTags(title: Self.words(fields[3]), artist: Self.words(fields[2])),
                        duration: Int64(fields[0]).flatMap { $0 >= 0 ? .milliseconds($0) : nil },
                        episode: episode.take()
                    )
                )
            default: throw StateError("an unknown line")
            }
        }
    }
}

extension Track {
    /// The text by which the track's position is saved: it follows an episode to another URL.
    var placeKey: String { episode?.key ?? location.savedText }
}

extension ResourceLocation {
    /// The location as it is saved: without a user name or password.
    var savedText: String {
        switch self {
        case .file(let path): FileName.isUTF8(path) ? path : FileName.url(of: path)
        case .web(let url): url.requestString
        }
    }

    /// Parses the result of `savedText`; `nil` for anything else.
    init?(savedText: String) {
        if savedText.hasPrefix("/") {
            self = .file(savedText)
        } else if savedText.hasPrefix("file:///") {
            self = .file(FileName.text(PercentEncoding.decodedBytes(savedText.dropFirst(7))))
        } else if let url = WebURL(savedText), url.userInfo == nil {
            self = .web(url)
        } else {
            return nil
        }
    }
}

extension Duration {
    /// Rounded down.
    var wholeMilliseconds: Int64 {
        components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000
    }
}
