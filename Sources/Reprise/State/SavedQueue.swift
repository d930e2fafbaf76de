import Media

/// The saved tracks of the queue.
struct SavedQueue: Sendable, Equatable {
    /// Unique among all saved queues: a saved session names the queue that its index belongs to.
    var id = ""
    var tracks: [Track] = []

    /// The first number of restored tracks; resolved tracks are numbered from 0 and never reach it.
    private static let firstID: UInt64 = 1 << 63

    /// The text of the file. It contains no user name or password of a server.
    var text: String {
        var lines = StateLines(kind: "queue")
        lines.add("id", id)
        for track in tracks {
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

    private static func words(_ text: String) -> SafeText? { text.isEmpty ? nil : SafeText(text) }
}

extension SavedQueue {
    /// Parses the result of `text`; refuses anything else.
    init(parsing text: String) throws(StateError) {
        for (name, fields) in try StateLines.parse(text, kind: "queue") {
            switch (name, fields.count) {
            case ("id", 1): id = fields[0]
            case ("track", 4):
                guard let location = ResourceLocation(savedText: fields[1]) else {
                    throw StateError("a track that is neither a file nor a URL")
                }
                tracks.append(
                    Track(
                        id: Track.ID(Self.firstID + UInt64(tracks.count)),
                        location: location,
                        tags: TrackTags(title: Self.words(fields[3]), artist: Self.words(fields[2])),
                        duration: Int64(fields[0]).flatMap { $0 >= 0 ? .milliseconds($0) : nil }
                    )
                )
            default: throw StateError("an unknown line")
            }
        }
    }
}

extension ResourceLocation {
    /// The location as it is saved: without a user name or password.
    var savedText: String {
        switch self {
        case .file(let path): path
        case .web(let url): url.requestString
        }
    }

    /// Parses the result of `savedText`; `nil` for anything else.
    init?(savedText: String) {
        if savedText.hasPrefix("/") {
            self = .file(savedText)
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
