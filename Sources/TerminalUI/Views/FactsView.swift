internal import Media

extension ViewName {
    package static let facts = ViewName(word: "facts", help: "all about a row", hasTab: false, isAbove: true)
}

/// All that is known of the row that was selected in the view below. Pure.
package struct FactsView: ListView {
    static let name = ViewName.facts
    private static let nameColumns = 12

    package internal(set) var list = ListPosition()
    private var facts: [Fact] = []
    /// The facts as lines of the window.
    private var lines: [Fact] = []

    mutating func show(_ facts: [Fact], in context: ViewContext) {
        self.facts = facts
        let columns = max(8, context.layout.columns - Self.nameColumns - 2)
        lines = facts.flatMap { fact in
            fact.text.wrapped(toColumns: columns).enumerated().map {
                Fact(name: $0.offset == 0 ? fact.name : "", text: $0.element, style: fact.style)
            }
        }
        resize(count: lines.count, in: context)
    }

    mutating func update(to context: ViewContext, from before: PlayerSnapshot, isOpen: Bool) {
        if isOpen { show(facts, in: context) }
    }

    func hints(in player: PlayerSnapshot) -> [(UICommand, SafeText)] {
        [(.selectBy(1), "down")]
    }

    func draw(_ context: ViewContext, timeOfDay: (Duration) -> SafeText, into buffer: inout CellBuffer) {
        for (index, row) in zip(list.visible, context.layout.listRows) {
            let line = lines[index]
            buffer.draw(line.name, column: 1, row: row, style: .dim)
            buffer.draw(line.text, column: 1 + Self.nameColumns, row: row, style: line.style)
        }
    }
}

/// One fact about what a row shows: a name and a text. Pure.
struct Fact: Sendable, Equatable {
    /// Empty if the text explains itself or continues the line above.
    var name: SafeText
    var text: SafeText
    var style = Style.normal

    /// All that is known of the track at `index`, which must be in the queue.
    static func all(ofTrack index: Int, in player: PlayerSnapshot) -> [Fact] {
        let track = player.tracks[index]
        let isCurrent = index == player.currentIndex
        let read = (isCurrent ? player.info?.tags : nil) ?? player.learned[track.id]?.tags
        let tags = read.map { track.tags(with: $0) } ?? track.tags
        let known: [(SafeText, SafeText?)] = [
            ("Title", tags.title ?? track.location.name), ("Artist", tags.artist), ("Album", tags.album),
            ("Album by", tags.albumArtist == tags.artist ? nil : tags.albumArtist), ("Year", tags.year),
            ("Track", tags.number), ("Disc", tags.disc), ("Genre", tags.genre),
            ("Published", published(track)),
            ("Position", isCurrent ? position(player) : nil), ("Chapter", isCurrent ? chapter(player) : nil),
            ("Length", length(of: track, isCurrent: isCurrent, player)),
            ("Format", isCurrent ? format(player) : nil), ("Bit rate", isCurrent ? bitRate(player) : nil),
            ("Gain", isCurrent ? gain(player) : nil), ("Address", track.location.safeText),
            ("Cached", isCurrent ? cached(player, track) : cached(player.availability[track.id])),
            ("Downloaded", isCurrent ? downloaded(player) : nil),
        ]
        var facts = named(known)
        if let error = player.failures[track.id] {
            facts.append(Fact(name: "Failed", text: error.cause, style: .error))
        }
        return facts
    }

    /// How the current track sounds, and what it took: `FLAC, 24 bits`, `96.0 kHz`, `stereo`, `3 requests`.
    static func sound(of player: PlayerSnapshot) -> [SafeText] {
        let requests = player.load.requestCount
        return [
            player.info.flatMap { $0.codec.isEmpty ? nil : $0.codec }, bitRate(player),
            player.info.map { rate($0.format) }, player.info.map { SafeText($0.format.channelName) },
            gain(player).map { "gain " + $0 },
            requests > 0 ? SafeText(CountText.of(requests, "request")) : nil,
        ].compactMap { $0 }
    }

    /// All that is known of an entry of the cache.
    static func all(of entry: CachedItem) -> [Fact] {
        let length = entry.length.map { " of " + SizeText.text($0) } ?? ""
        let share = entry.percent.map { ", \($0) %" } ?? ""
        return named([
            ("Title", entry.tags.title ?? TrackName.file(at: entry.url)), ("Artist", entry.tags.artist),
            ("Album", entry.tags.album),
            ("Year", entry.tags.year), ("Track", entry.tags.number), ("Genre", entry.tags.genre),
            ("Length", entry.duration.map { SafeText($0.clockTime) }), ("Address", entry.url),
            ("Cached", SafeText(SizeText.text(entry.storedBytes) + length + share)),
            ("Pinned", entry.isPinned ? "never evicted" : nil),
            (
                "Ranges",
                entry.acceptsRanges.map {
                    $0 ? "the server sends parts" : "the server sends whole files only"
                }
            ),
            ("Type", entry.contentType), ("ETag", entry.etag), ("Changed", entry.lastModified),
        ])
    }

    /// All that is known of a request or a decision of the loaders.
    static func all(of record: JournalRecord) -> [Fact] {
        switch record.event {
        case .decision(let decision, let reason):
            return named([
                ("Decision", SafeText(decision.rawValue)), ("Reason", reason), ("Address", record.resource),
            ])
        case .request(let request):
            let wait = request.firstByte.map { SafeText("\(Int(($0.seconds * 1_000).rounded())) ms") }
            return named([
                ("Purpose", SafeText(request.urgency.rawValue)), ("Address", record.resource),
                ("Asked", request.asked.map(text) ?? "the whole file"),
                ("Answered", request.answered.map(text)),
                ("Status", request.status.map { SafeText("\($0) \(request.wire.version)") }), ("Wait", wait),
                ("Received", SafeText(SizeText.text(request.bytes))),
                ("End", request.end.isEmpty ? nil : SafeText(request.end)),
            ])
        }
    }

    /// `bytes 0 to 1048575`, both included, as in a request.
    private static func text(_ range: ByteRange) -> SafeText {
        SafeText("bytes \(range.lowerBound) to \(range.upperBound - 1)")
    }

    private static func named(_ facts: [(SafeText, SafeText?)]) -> [Fact] {
        facts.compactMap { name, text in text.map { Fact(name: name, text: $0) } }
    }

    /// The day of an episode, and if it was played.
    private static func published(_ track: Track) -> SafeText? {
        guard let episode = track.episode else { return nil }
        let facts = [episode.date?.day ?? "unknown", track.isPlayed ? "played" : nil]
        return SafeText(facts.compactMap { $0 }.joined(separator: ", "))
    }

    private static func position(_ player: PlayerSnapshot) -> SafeText {
        SafeText(
            player.isExact
                ? player.position.clockTime + " (exact)" : "~\(player.position.clockTime) (estimated)"
        )
    }

    private static func chapter(_ player: PlayerSnapshot) -> SafeText? {
        guard let chapters = player.info?.chapters, let number = chapters.number(at: player.position) else {
            return nil
        }
        return chapters.name(of: number)
    }

    private static func length(of track: Track, isCurrent: Bool, _ player: PlayerSnapshot) -> SafeText? {
        guard isCurrent else {
            return (player.learned[track.id]?.duration ?? track.duration).map { SafeText($0.clockTime) }
        }
        guard player.load.live == nil else { return "live stream" }
        guard let duration = player.duration else { return nil }
        // A duration from a playlist is an estimate too.
        return SafeText((player.info?.isDurationExact == true ? "" : "~") + duration.clockTime)
    }

    /// `-5.6 dB`; `nil` if no gain is applied.
    static func gain(_ player: PlayerSnapshot) -> SafeText? {
        guard let decibels = player.gainDecibels else { return nil }
        // One decimal, without Foundation's number formatting.
        let tenths = Int((min(abs(decibels), 99) * 10).rounded())
        return SafeText("\(decibels < 0 ? "-" : "+")\(tenths / 10).\(tenths % 10) dB")
    }

    private static func rate(_ format: AudioFormat) -> SafeText {
        SafeText("\(format.sampleRate / 1_000).\(format.sampleRate % 1_000 / 100) kHz")
    }

    private static func cached(_ availability: Availability?) -> SafeText? {
        guard let availability else { return nil }
        let stored = SizeText.text(availability.stored.byteCount)
        let text = availability.length.map { stored + " of " + SizeText.text($0) } ?? stored
        return SafeText(text + (availability.isPinned ? ", pinned" : ""))
    }

    private static func format(_ player: PlayerSnapshot) -> SafeText? {
        guard let info = player.info else { return nil }
        let facts = [info.codec.string, rate(info.format).string, info.format.channelName]
        return SafeText(facts.filter { !$0.isEmpty }.joined(separator: ", "))
    }

    private static func bitRate(_ player: PlayerSnapshot) -> SafeText? {
        guard let rate = player.info?.bytesPerSecond, (1...1e9).contains(rate) else { return nil }
        return SafeText("\(Int((rate * 8 / 1_000).rounded())) kbit/s")
    }

    private static func cached(_ player: PlayerSnapshot, _ track: Track) -> SafeText? {
        guard case .web = track.location, player.load.live == nil else { return nil }
        let stored = player.load.stored.byteCount
        var text = SizeText.text(stored)
        if let length = player.load.length, length > 0 {
            text =
                stored >= length ? SizeText.text(length) + " (all)" : text + " of \(SizeText.text(length))"
        }
        if player.buffered > .zero, player.load.length.map({ stored < $0 }) != false {
            text += ", buffer \(player.buffered.clockTime)"
        }
        if !player.load.isCached { text += ", for this session only" }
        return SafeText(text + (player.availability[track.id]?.isPinned == true ? ", pinned" : ""))
    }

    private static func downloaded(_ player: PlayerSnapshot) -> SafeText? {
        let load = player.load
        guard load.requestCount > 0 else { return nil }
        let requests = CountText.of(load.requestCount, "request")
        let rate = load.bytesPerSecond.map { ", " + SizeText.rate($0) } ?? ""
        return SafeText("\(SizeText.text(load.fetchedBytes)) in \(requests)\(rate)")
    }
}
