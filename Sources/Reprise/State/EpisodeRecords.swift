import Media

/// The facts remembered about episodes besides their positions: which were played, and the URLs under which
/// their bytes were cached. Pure.
///
/// The file has a line for each change, so that several players can add lines without undoing each other's
/// changes. The last line about an episode counts. Eviction from the cache changes nothing here.
struct EpisodeRecords: Sendable, Equatable {
    private struct Record: Sendable, Equatable {
        var feed: String
        var guid: String
        var isPlayed = false
        /// The latest last.
        var urls: [String] = []
        /// Grows with each change of any record.
        var turn = 0

        mutating func add(_ url: String) {
            guard !urls.contains(url) else { return }
            urls.append(url)
            if urls.count > EpisodeRecords.mostURLs { urls.removeFirst() }
        }

        var lines: [String] {
            (isPlayed ? [StateLines.line("played", [feed, guid])] : [])
                + urls.map { StateLines.line("url", [feed, guid, $0]) }
        }
    }

    /// The file's name in the state folder.
    static let fileName = "episodes"
    /// The most URLs remembered of an episode. Some servers sign their URLs again each day.
    static let mostURLs = 4
    /// The most episodes kept when the file is rewritten; those changed last stay.
    static let most = 50_000
    /// The file is rewritten if it has at least this many lines, and at least twice as many as it needs.
    static let wordyLineCount = 2_000

    private var records: [String: Record] = [:]
    private var lineCount = 0

    /// Parses a file. Lines that are damaged or unknown are ignored, such as one that a full disk cut.
    init(parsing text: String = "") {
        for line in text.utf8.split(separator: UInt8(ascii: "\n")) {
            lineCount += 1
            guard let (name, fields) = try? StateLines.fact(line) else { continue }
            switch (name, fields.count) {
            case ("played", 2): change(fields[0], fields[1]) { $0.isPlayed = true }
            case ("unplayed", 2): change(fields[0], fields[1]) { $0.isPlayed = false }
            case ("url", 3): change(fields[0], fields[1]) { $0.add(fields[2]) }
            default: break
            }
        }
    }

    func isPlayed(_ episode: Episode) -> Bool { records[episode.key]?.isPlayed ?? false }

    /// The URLs under which bytes of the episode were cached, the latest last.
    func urls(of episode: Episode) -> [String] { records[episode.key]?.urls ?? [] }

    /// The location at which the most bytes of `track` are cached: its own, or an earlier URL of the same
    /// episode.
    func fullestLocation(of track: Track, in cache: any CacheStatus) async -> ResourceLocation {
        guard let episode = track.episode, case .web(let url) = track.location else { return track.location }
        let earlier = urls(of: episode).reversed().compactMap { WebURL($0) }
        guard !earlier.isEmpty else { return track.location }
        let urls = [url] + earlier
        let bytes = await cache.availability(of: urls).map { $0?.storedBytes ?? 0 }
        return .web(urls[bytes.firstIndex(of: bytes.max() ?? 0) ?? 0])
    }

    /// Sets the played state. Returns the line to add to the file; `nil` if nothing changes.
    mutating func setPlayed(_ isPlayed: Bool, _ episode: Episode) -> String? {
        guard self.isPlayed(episode) != isPlayed else { return nil }
        change(episode.feed, episode.guid) { $0.isPlayed = isPlayed }
        return StateLines.line(isPlayed ? "played" : "unplayed", [episode.feed, episode.guid])
    }

    /// Bytes of the episode are cached under `url`. Returns the line to add to the file; `nil` if nothing
    /// changes.
    mutating func isCached(_ episode: Episode, at url: String) -> String? {
        guard !urls(of: episode).contains(url) else { return nil }
        change(episode.feed, episode.guid) { $0.add(url) }
        return StateLines.line("url", [episode.feed, episode.guid, url])
    }

    /// `true` if the file from which this was read should be replaced by `text`.
    var isWordy: Bool {
        lineCount >= Self.wordyLineCount
            && lineCount >= 2 * records.values.reduce(0) { $0 + $1.lines.count }
    }

    /// The shortest file with the same content.
    var text: String {
        let last = records.values.sorted { $0.turn < $1.turn }.suffix(Self.most)
        return last.flatMap(\.lines).map { $0 + "\n" }.joined()
    }

    private mutating func change(_ feed: String, _ guid: String, _ change: (inout Record) -> Void) {
        let key = Episode(feed: feed, guid: guid, date: nil, place: 0).key
        var record = records[key] ?? Record(feed: feed, guid: guid)
        change(&record)
        turn += 1
        record.turn = turn
        records[key] = record
    }

    private var turn = 0
}

/// The remembered episodes for a session that is not saved: it reads them, and changes nothing.
struct SavedEpisodes: ListeningMemory {
    let records: EpisodeRecords

    /// Reads the file in `folder`; a file that can't be used is ignored, and stays as it is.
    init(in folder: StateFolder) {
        records = EpisodeRecords(parsing: ((try? folder.read(EpisodeRecords.fileName)) ?? nil) ?? "")
    }

    /// A script always begins at the start.
    func resumePoint(of track: Track) -> Duration? { nil }
    func isPlayed(_ episode: Episode) -> Bool { records.isPlayed(episode) }
    func setPlayed(_ isPlayed: Bool, _ episodes: [Episode]) {}
}
