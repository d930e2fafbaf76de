import Media
import TerminalUI

/// A queue that shows every kind of row.
func sampleSnapshot() -> PlayerSnapshot {
    var player = PlayerSnapshot()
    player.tracks = [
        track(1, "https://music.example/a/01%20Morning.mp3", title: "Morning", artist: "Edda", seconds: 185),
        track(2, "https://music.example/a/02.mp3", title: "夜の音楽", artist: "東京アンサンブル", seconds: 3_725),
        track(3, "https://music.example/a/gone.mp3", seconds: nil),
        track(4, "https://music.example/a/cafe\u{301}%20de%20nuit%20et%20de%20jour.mp3", seconds: 61),
    ]
    player.currentIndex = 1
    player.state = .playing
    player.position = .seconds(1_862)
    player.duration = .seconds(3_725)
    player.isExact = false
    player.buffered = .seconds(42)
    player.load.length = 8_000
    player.load.stored = ByteRangeSet([0..<2_000, 3_000..<6_000])
    player.load.inFlight = [6_000..<7_000]
    player.load.bytesPerSecond = 312_400
    player.byteOffset = 4_000
    player.volume = 80
    player.repeatMode = .all
    player.failures = [Track.ID(3): "404 Not Found"]
    player.messages = [message(1, "reconnected to music.example")]
    player.totalCachedBytes = 45_678_901
    player.totalFetchedBytes = 999_999
    return player
}

/// A message of the `number`th minute.
func message(_ number: Int, _ text: SafeText) -> PlayerMessage {
    PlayerMessage(number: number, time: .seconds(60 * number), text: text)
}

func track(
    _ id: UInt64,
    _ address: String,
    title: SafeText? = nil,
    artist: SafeText? = nil,
    seconds: Int? = nil
) -> Track {
    let location = WebURL(address).map(ResourceLocation.web) ?? .file(address)
    let tags = TrackTags(title: title, artist: artist)
    return Track(id: Track.ID(id), location: location, tags: tags, duration: seconds.map { .seconds($0) })
}

/// Formats a time of the player's clock for the tests.
@Sendable func minutes(_ moment: Duration) -> SafeText { SafeText("12:" + moment.clockTime) }

/// Entries of every kind: whole and pinned, in parts, of unknown length.
func sampleEntries() -> [CachedTrack] {
    [
        CachedTrack(
            id: CachedTrack.ID(7),
            source: "https://music.example/a/02.mp3",
            title: "夜の音楽",
            artist: "東京アンサンブル",
            length: 8_000_000,
            stored: ByteRangeSet([0..<2_000_000, 3_000_000..<6_000_000]),
            age: .seconds(30)
        ),
        CachedTrack(
            id: CachedTrack.ID(8),
            source: "https://music.example/a/01%20Morning.mp3",
            length: 2_500_000,
            stored: ByteRangeSet(0..<2_500_000),
            isPinned: true,
            age: .seconds(3 * 24 * 3_600)
        ),
        CachedTrack(
            id: CachedTrack.ID(9),
            source: "https://music.example/signed.mp3?…",
            stored: ByteRangeSet(0..<70_000),
            age: .seconds(7_300)
        ),
    ]
}

/// A request of each kind, and a decision.
func sampleRecords() -> [JournalRecord] {
    func request(_ number: Int, _ why: FetchReason, _ asked: ByteRange, _ end: String) -> RequestRecord {
        var record = RequestRecord(number: number, why: why, asked: asked, startedAt: .seconds(number))
        record.end = end
        record.duration = .milliseconds(1_021)
        return record
    }
    var first = request(1, .demand, 0..<65_536, "complete")
    (first.status, first.bytes, first.firstByte) = (206, 65_536, .milliseconds(21))
    var second = request(2, .readAhead, 65_536..<1_100_000, "cancelled")
    (second.status, second.bytes, second.firstByte) = (206, 1_000_000, .milliseconds(1_020))
    second.wire.redirectedHost = "cdn.example"
    let third = request(3, .prefetch, 0..<65_536, "connection-refused")
    let resource: SafeText = "https://music.example/a/02.mp3"
    return [
        JournalRecord(time: .seconds(61), resource: resource, event: .request(first)),
        JournalRecord(time: .seconds(62), resource: resource, event: .request(second)),
        JournalRecord(time: .seconds(63), resource: "https://music.example/a/03.mp3", event: .request(third)),
        JournalRecord(
            time: .seconds(64),
            resource: resource,
            event: .decision(.retryLater, "music.example refuses the connection")
        ),
    ]
}

/// A request that receives bytes and one that waits for its response.
func sampleUnderWay() -> [JournalRecord] {
    var first = RequestRecord(number: 4, why: .readAhead, asked: 6_000..<7_000, startedAt: .seconds(65))
    (first.firstByte, first.bytes, first.duration) = (.milliseconds(30), 500, .milliseconds(1_030))
    let second = RequestRecord(number: 5, why: .prefetch, asked: nil, startedAt: .seconds(66))
    return [
        JournalRecord(time: .seconds(66), resource: "https://music.example/a/02.mp3", event: .request(first)),
        JournalRecord(
            time: .seconds(66),
            resource: "https://music.example/a/03.mp3",
            event: .request(second)
        ),
    ]
}

/// A state in which every view has something to show.
func fullState(columns: Int, rows: Int, player: PlayerSnapshot = sampleSnapshot()) -> UIState {
    var state = UIState(columns: columns, rows: rows)
    _ = state.apply(.snapshot(player))
    var report = CacheContents()
    (report.revision, report.entries) = (1, sampleEntries())
    _ = state.apply(.cache(report))
    _ = state.apply(.requests(sampleRecords(), count: 4, underWay: sampleUnderWay()))
    return state
}

extension CellBuffer {
    subscript(column column: Int, row row: Int) -> Cell { Array(self[row: row])[column] }

    /// The rows as text, without trailing blanks.
    var lines: [String] {
        (0..<rows).map { row in
            var line = self[row: row].map(\.text).joined()
            while line.hasSuffix(" ") { line.removeLast() }
            return line
        }
    }
}

/// The rows of a golden screen.
func lines(_ text: String) -> [String] {
    text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
}

extension UIState {
    /// Presses keys, each by its letter; a line break is Enter.
    @discardableResult
    mutating func type(_ text: String) -> [UIAction] {
        text.flatMap { apply(.key($0 == "\n" ? .enter : .character($0))) }
    }
}

func manyTracks(_ count: Int) -> [Track] {
    (0..<count).map { Track(id: Track.ID(UInt64($0)), location: .file("/music/\($0 + 1).mp3")) }
}

/// A snapshot of a queue, with nothing else in it.
func queueSnapshot(_ tracks: [Track], current: Int? = nil, revision: Int = 0) -> PlayerSnapshot {
    var snapshot = PlayerSnapshot()
    (snapshot.tracks, snapshot.currentIndex, snapshot.queueRevision) = (tracks, current, revision)
    return snapshot
}

/// A screen that shows `player`.
func screenState(_ player: PlayerSnapshot, columns: Int = 80, rows: Int = 24) -> UIState {
    var state = UIState(columns: columns, rows: rows)
    _ = state.apply(.snapshot(player))
    return state
}

/// A screen that shows a queue of `count` tracks.
func queueState(_ count: Int, current: Int? = nil, rows: Int = 24) -> UIState {
    screenState(queueSnapshot(manyTracks(count), current: current), rows: rows)
}
