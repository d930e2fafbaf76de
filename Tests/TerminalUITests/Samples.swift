import Media

@testable import TerminalUI

/// A queue that shows every kind of track, no two neighbours of one folder; then `change` applies.
func sampleSnapshot(_ change: (inout PlayerSnapshot) -> Void = { _ in }) -> PlayerSnapshot {
    var player = PlayerSnapshot()
    player.tracks = [
        track(1, otherSite + "01%20Morning.mp3", TrackTags(title: "Morning", artist: "Edda"), seconds: 185),
        track(2, site + "02.mp3", TrackTags(title: "夜の音楽", artist: "東京アンサンブル"), seconds: 3_725),
        track(3, otherSite + "gone.mp3", seconds: nil),
        track(4, site + "cafe\u{301}%20de%20nuit%20et%20de%20jour.mp3", seconds: 61),
    ]
    player.currentIndex = 1
    player.state = .playing
    player.volume = 80
    player.repeatMode = .all
    player.position = .seconds(1_862)
    player.duration = .seconds(3_725)
    player.isExact = false
    player.heard = HeardSpans([.zero..<(.seconds(932)), .seconds(1_396)..<(.seconds(1_862))])
    player.buffered = .seconds(42)
    player.byteOffset = 4_000
    player.load.length = 8_000
    player.load.stored = ByteRangeSet([0..<2_000, 3_000..<6_000])
    player.load.inFlight = [6_000..<7_000]
    player.load.bytesPerSecond = 312_400
    let gone = MediaError(.httpStatus, SafeText(site + "gone.mp3"), "the server has no such file (404); look")
    player.failures = [Track.ID(3): gone]
    player.messages = [message(1, "reconnected to music.example")]
    player.totalCachedBytes = 45_678_901
    player.totalFetchedBytes = 999_999
    change(&player)
    return player
}

/// A message of the `number`th minute.
func message(_ number: Int, _ text: SafeText) -> PlayerMessage {
    PlayerMessage(number: number, time: .seconds(60 * number), text: text)
}

/// The folders of the sample tracks.
private let site = "https://music.example/a/"
private let otherSite = "https://music.example/b/"

func track(_ id: UInt64, _ address: String, _ tags: TrackTags = TrackTags(), seconds: Int?) -> Track {
    let location = WebURL(address).map(ResourceLocation.web) ?? .file(address)
    return Track(id: Track.ID(id), location: location, tags: tags, duration: seconds.map { .seconds($0) })
}

/// Formats a time of the player's clock for the tests.
@Sendable func minutes(_ moment: Duration) -> SafeText { SafeText("12:" + moment.clockTime) }

/// When the sample entries are read, in seconds since 1970.
private let sampleTime: Int64 = 1_000_000

/// Entries of every kind: whole and pinned, in parts, of unknown length.
func sampleEntries() -> [CachedItem] {
    func entry(_ id: Int64, _ source: String, length: Int64?, _ stored: [ByteRange], age: Int) -> CachedItem {
        var entry = CachedItem(CachedItem.ID(id), url: SafeText(source), lastPlayed: sampleTime - Int64(age))
        entry.length = length
        entry.stored = ByteRangeSet(stored)
        return entry
    }
    let parts = [0..<2_000_000, 3_000_000..<6_000_000] as [ByteRange]
    var partial = entry(7, site + "02.mp3", length: 8_000_000, parts, age: 30)
    partial.tags = TrackTags(title: "夜の音楽", artist: "東京アンサンブル")
    let days = 3 * 24 * 3_600
    var pinned = entry(8, site + "01%20Morning.mp3", length: 2_500_000, [0..<2_500_000], age: days)
    pinned.isPinned = true
    return [
        partial, pinned,
        entry(9, "https://music.example/signed.mp3?…", length: nil, [0..<70_000], age: 7_300),
    ]
}

/// A record of the journal on the track that plays, or on another one.
func record(_ second: Int, _ event: JournalRecord.Event, of resource: SafeText? = nil) -> JournalRecord {
    JournalRecord(time: .seconds(second), resource: resource ?? SafeText(site + "02.mp3"), event: event)
}

/// A request of each kind, and a decision.
func sampleRecords() -> [JournalRecord] {
    func request(_ number: Int, _ urgency: Urgency, _ asked: ByteRange, _ end: String) -> RequestRecord {
        var record = RequestRecord(
            number: number,
            urgency: urgency,
            asked: asked,
            startedAt: .seconds(number)
        )
        record.end = end
        record.duration = .milliseconds(1_021)
        return record
    }
    var first = request(1, .demand, 0..<65_536, "complete")
    first.status = 206
    first.bytes = 65_536
    first.firstByte = .milliseconds(21)
    var second = request(2, .readAhead, 65_536..<1_100_000, "cancelled")
    second.status = 206
    second.bytes = 1_000_000
    second.firstByte = .milliseconds(1_020)
    second.wire.redirectedHost = "cdn.example"
    let third = request(3, .prefetch, 0..<65_536, "connection-refused")
    return [
        record(61, .request(first)), record(62, .request(second)),
        record(63, .request(third), of: SafeText(site + "03.mp3")),
        record(64, .decision(.retryLater, "music.example refuses the connection")),
    ]
}

/// A request that receives bytes and one that waits for its response.
func sampleUnderWay() -> [JournalRecord] {
    var first = RequestRecord(number: 4, urgency: .readAhead, asked: 6_000..<7_000, startedAt: .seconds(65))
    first.firstByte = .milliseconds(30)
    first.bytes = 500
    first.duration = .milliseconds(1_030)
    let second = RequestRecord(number: 5, urgency: .prefetch, asked: nil, startedAt: .seconds(66))
    return [record(66, .request(first)), record(66, .request(second), of: SafeText(site + "03.mp3"))]
}

/// A state in which every view has something to show.
func fullState(columns: Int = 80, rows: Int = 24, player: PlayerSnapshot = sampleSnapshot()) -> UIState {
    var state = screenState(player, columns: columns, rows: rows)
    state.showCache(sampleEntries())
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
    var cache: CacheView { lists.view() }
    var network: NetworkView { lists.view() }
    var messages: MessagesView { lists.view() }
    var help: HelpView { lists.view() }

    private static let signs: [Character: Key] = [
        "\n": .enter, "\t": .tab, "⎋": .escape, "⌫": .backspace, "↑": .up, "↓": .down, "→": .right,
        "←": .left,
    ]

    /// Presses keys, each by its letter or sign: `\n` is Enter, `\t` Tab, `⎋` Esc, `⌫` Backspace.
    @discardableResult
    mutating func type(_ text: String) -> [UIAction] {
        text.flatMap { apply(.key(Self.signs[$0] ?? .character($0))) }
    }

    /// Receives the current snapshot with a change.
    mutating func show(_ change: (inout PlayerSnapshot) -> Void) {
        var player = player
        change(&player)
        _ = apply(.snapshot(player))
    }

    /// Receives a report of the cache.
    mutating func showCache(
        _ entries: [CachedItem],
        lists: Int = 0,
        revision: Int = 1,
        problem: SafeText? = nil
    ) {
        var report = CacheContents()
        report.listCount = lists
        report.time = sampleTime
        report.entries = entries
        report.revision = revision
        report.problem = problem
        _ = apply(.cache(report))
    }

    /// The rows on the screen.
    var screen: [String] { ScreenView(glyphs: .unicode, timeOfDay: minutes).draw(self).lines }
}

/// Each track is in a folder of its own, so there are no headings.
func manyTracks(_ count: Int) -> [Track] {
    (0..<count).map { Track(id: Track.ID(UInt64($0)), location: .file("/music/\($0 + 1)/\($0 + 1).mp3")) }
}

/// Albums of so many tracks each, of one minute, with a folder for each. The queue has the tracks in order.
func albumTracks(_ sizes: [Int]) -> [Track] {
    let places = sizes.enumerated().flatMap { album, size in (1...max(1, size)).map { (album, $0) } }
    return places.enumerated().map { index, place in
        var tags = TrackTags(title: SafeText("Song \(place.1)"), artist: SafeText("Artist \(place.0)"))
        tags.album = SafeText("Album \(place.0)")
        tags.year = SafeText("\(2000 + place.0)")
        return track(UInt64(index), "https://h/\(place.0)/\(place.1).mp3", tags, seconds: 60)
    }
}

/// A snapshot of a queue, with nothing else in it.
func queueSnapshot(_ tracks: [Track], current: Int? = nil, revision: Int = 0) -> PlayerSnapshot {
    var snapshot = PlayerSnapshot()
    snapshot.tracks = tracks
    snapshot.currentIndex = current
    snapshot.queueRevision = revision
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

extension ViewName {
    /// The keys that open it.
    var keys: String { hasTab ? "\(number)" : ":view \(word)\n" }
}
