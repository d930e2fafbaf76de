import Media
import System

/// The saved tracks of the queue.
struct SavedQueue: Sendable, Equatable {
    /// Unique among all saved queues; empty for none.
    var id = ""
    var tracks: [Track] = []
    /// The tags and durations that were learned of the tracks: they are saved instead of those of the
    /// playlists.
    var facts = LearnedFacts()

    /// The number of the restored track at `index`; resolved tracks are numbered from 0 and never reach it.
    static func trackID(_ index: Int) -> Track.ID { Track.ID((1 << 63) + UInt64(index)) }

    static func downloadID(_ index: Int) -> Track.ID { Track.ID((1 << 62) + UInt64(index)) }

    /// `true` if both queues have the same track at `index`, and know the same of it.
    func hasTrack(at index: Int, of other: SavedQueue) -> Bool {
        guard tracks.indices.contains(index), tracks[index] == other.tracks[index] else { return false }
        return facts[tracks[index].id] == other.facts[tracks[index].id]
    }

    /// This queue with the tracks of `snapshot`, and a new ID unless nothing has changed.
    func replaced(by snapshot: PlayerSnapshot) -> SavedQueue {
        // Both share their parts with the snapshots, so a queue that has not changed is not compared.
        if tracks == snapshot.tracks, facts == snapshot.learned { return self }
        let id = String(UInt64.random(in: 0 ... .max), radix: 16)
        return SavedQueue(id: id, tracks: snapshot.tracks, facts: snapshot.learned)
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
