import Media

@testable import TerminalUI

/// A screen as a listener has it: albums with and without tags, a feed, a station, downloads, and something
/// in every view. Nothing in it depends on the clock, the locale or the machine.
enum Exhibit {
    /// The screen with the view `name` open.
    static func state(showing name: ViewName, columns: Int, rows: Int) -> UIState {
        var state = screenState(player, columns: columns, rows: rows)
        state.showCache(cachedItems)
        _ = state.apply(.requests(requests, count: 36, underWay: underWay))
        state.type("gjjjjjj" + "x" + "jj" + name.keys)
        return state
    }

    /// Untagged, so that the file names are shown.
    private static let untagged = [
        "01%20-%20Harbour%20Lights.flac", "02%20-%20The%20Long%20Ferry.flac",
        "03%20-%20%E5%A4%9C%E3%81%AE%E9%9F%B3%E6%A5%BD.flac",
    ]

    private struct Album {
        var artist: SafeText
        var title: SafeText
        var year: SafeText
        /// Titles and seconds.
        var songs: [(SafeText, Int)]
    }

    private static let albums = [
        Album(
            artist: "Ada Quinn Trio",
            title: "Blue Hour",
            year: "1964",
            songs: [
                ("Blue Hour", 252), ("Slow Train North", 318), ("Last Call at Minna's", 271),
                ("Rain on Tin", 197), ("Goodnight, Ada", 342),
            ]
        ),
        Album(
            artist: "東京アンサンブル",
            title: "Für Élise & Other Lies",
            year: "2019",
            songs: [("Prélude", 61), ("夜の音楽", 3_725), ("Où est la mer ?", 204), ("ยามเช้า", 188)]
        ),
        Album(
            artist: "Field Recordings",
            title: "An Exceedingly Long Name for an Album of Wind, Water and Whatever Was Heard That Night",
            year: "2003",
            songs: (1...9).map { (SafeText("Night, part \($0)"), 300 + 17 * $0) }
        ),
    ]

    private static let root = "https://music.example/"

    private static var tracks: [Track] {
        var tracks: [Track] = []
        func add(
            _ path: String,
            _ tags: TrackTags = TrackTags(),
            seconds: Int?,
            episode: Episode? = nil
        ) {
            var next = track(UInt64(tracks.count), root + path, tags, seconds: seconds)
            next.episode = episode
            tracks.append(next)
        }
        for (number, album) in albums.enumerated() {
            for (index, song) in album.songs.enumerated() {
                var tags = TrackTags(title: song.0, artist: album.artist)
                tags.album = album.title
                tags.albumArtist = album.artist
                tags.year = album.year
                tags.number = SafeText("\(index + 1)")
                add("album-\(number)/\(index + 1).mp3", tags, seconds: song.1)
            }
        }
        for name in untagged { add("field%20notes%202021/" + name, seconds: nil) }
        for number in [48, 47] {
            let tags = TrackTags(title: SafeText("\(number): How records were cut"), artist: "The Sound Desk")
            let date = InternetDate(parsing: "Sat, \(number - 40) Aug 2026 06:00:00 GMT")
            let feed = root + "feed.xml"
            let episode = Episode(feed: feed, guid: "\(number)", date: date, place: 48 - number)
            add("podcast/\(number).mp3", tags, seconds: 2_520, episode: episode)
        }
        add("live/harbour.ogg", TrackTags(title: "Harbour FM"), seconds: nil)
        return tracks
    }

    /// The index of the track that plays.
    private static let current = 6

    private static var player: PlayerSnapshot {
        var player = PlayerSnapshot()
        player.tracks = tracks
        player.currentIndex = current
        player.upcoming = Array(current + 1..<player.tracks.count) + Array(0...current)
        player.state = .playing
        player.volume = 80
        player.repeatMode = .all
        player.position = .seconds(1_862)
        player.duration = .seconds(3_725)
        player.heard = HeardSpans([.zero..<(.seconds(932)), .seconds(1_396)..<(.seconds(1_862))])
        player.timeMap = TimeMap(duration: .seconds(3_725), audio: 0..<149_000_000)
        player.waveform = waveform
        player.buffered = .seconds(131)
        player.byteOffset = 74_500_000
        player.load.length = 149_000_000
        player.load.stored = ByteRangeSet([
            0..<37_000_000, 55_000_000..<80_000_000, 110_000_000..<124_000_000,
        ])
        player.load.inFlight = [80_000_000..<81_048_576]
        player.load.bytesPerSecond = 412_400
        player.load.requestCount = 3
        player.info = info
        for index in player.tracks.indices {
            let length: Int64 = 8_000_000
            let shares = [1.0, 1, 1, 0.4, 1, 0, 0.62, 1, 1, 0.2]
            let stored = Int64(Double(length) * (index < shares.count ? shares[index] : 0))
            guard stored > 0 else { continue }
            var part = Availability(stored: ByteRangeSet([0..<stored]), length: length)
            part.isPinned = index == 4
            player.availability[player.tracks[index].id] = part
        }
        player.availabilityRevision = 1
        player.downloads = downloads(of: player.tracks)
        player.failures[player.tracks[18].id] = MediaError(
            .httpStatus,
            "1",
            "the server has no such file (404); check the address"
        )
        player.messages = [
            message(1, "Playing from music.example"),
            message(12, "Reconnected to music.example after 0:07"),
            message(31, "Downloaded 5 tracks, 38.1 MB"),
        ]
        player.totalCachedBytes = 45_678_901
        player.totalFetchedBytes = 9_999_999
        return player
    }

    /// Four movements, each of which swells and ends quietly.
    private static var waveform: Waveform {
        let beats = [180, 250, 200, 235, 190, 245, 215]
        let peaks = (0..<1_819).map { (column: Int) -> UInt8 in
            let place = column % 455
            let swell = place < 320 ? 48 + place * 208 / 320 : (455 - place) * 256 / 135
            return UInt8(1 + beats[column / 20 % 7] * swell / 257)
        }
        // A column lasts 2.048 s.
        return Waveform(bytes: [11] + peaks) ?? Waveform()
    }

    private static var info: StreamInfo {
        var info = StreamInfo(
            format: AudioFormat(sampleRate: 96_000, channelCount: 2, sample: .s32),
            bytesPerSecond: 40_000
        )
        info.codec = "FLAC, 24 bits"
        info.isDurationExact = true
        info.tags = player(of: tracks[current])
        info.chapters = ChapterList([
            Chapter(start: .zero, title: "Before midnight"), Chapter(start: .seconds(900), title: "真夜中"),
            Chapter(start: .seconds(1_800), title: "The ferry"),
            Chapter(start: .seconds(3_000), title: "Dawn"),
        ])
        return info
    }

    private static func player(of track: Track) -> TrackTags { track.tags }

    private static func downloads(of tracks: [Track]) -> [DownloadReport] {
        var running = DownloadReport(tracks[9], phase: .running)
        running.length = 8_000_000
        running.stored = ByteRangeSet([0..<1_600_000])
        running.inFlight = [1_600_000..<2_648_576]
        running.rate = 640_000
        let failed = MediaError(.httpStatus, "1", "the server has no such file (404); check the address")
        return [
            running, DownloadReport(tracks[10], phase: .waiting), DownloadReport(tracks[11], phase: .paused),
            DownloadReport(tracks[18], phase: .failed(failed)),
        ]
    }

    private static var cachedItems: [CachedItem] {
        tracks.prefix(14).enumerated().map { index, track in
            let age = [20, 95, 3_700, 86_400, 259_200, 9_000_000]
            let played = 1_000_000 - Int64(age[index % age.count])
            var item = CachedItem(
                CachedItem.ID(Int64(index)),
                url: SafeText(root + "album/\(index + 1).mp3"),
                lastPlayed: max(0, played)
            )
            item.tags = index % 5 == 4 ? TrackTags() : track.tags
            item.length = 8_000_000
            item.stored = ByteRangeSet([0..<(index % 3 == 2 ? 3_000_000 : 8_000_000)])
            item.isPinned = index == 4
            return item
        }
    }

    private static func request(_ number: Int, _ urgency: Urgency, _ asked: ByteRange?) -> RequestRecord {
        var request = RequestRecord(
            number: number,
            urgency: urgency,
            asked: asked,
            startedAt: .seconds(number)
        )
        request.firstByte = .milliseconds(21)
        return request
    }

    private static var requests: [JournalRecord] {
        let start = SafeText(root + "album-1/2.mp3")
        var records: [JournalRecord] = (0..<8).map { index in
            let from = Int64(index) * 1_048_576
            var request = request(index + 1, index == 0 ? .demand : .readAhead, from..<from + 1_048_576)
            request.status = 206
            request.bytes = 1_048_576
            request.duration = .milliseconds(1_600)
            request.end = index == 5 ? "cancelled" : "complete"
            return record(index + 1, .request(request), of: start)
        }
        var gone = request(9, .prefetch, 0..<65_536)
        gone.status = 404
        gone.end = "http-status"
        gone.duration = .milliseconds(30)
        records.append(record(9, .request(gone), of: SafeText(root + "field%20notes%202021/x.flac")))
        let reason: SafeText = "music.example refuses the connection"
        records.append(record(10, .decision(.retryLater, reason), of: start))
        return records
    }

    private static var underWay: [JournalRecord] {
        var first = request(11, .readAhead, 80_000_000..<81_048_576)
        first.bytes = 300_000
        first.duration = .milliseconds(730)
        return [record(66, .request(first), of: SafeText(root + "album-1/2.mp3"))]
    }
}
