internal import Media

extension ViewName {
    package static let playing = ViewName(word: "playing", help: "current track")
}

/// The facts about the current track. Pure.
package struct PlayingView: ListView {
    static let name = ViewName.playing
    private static let nameColumns = 12

    package internal(set) var list = ListPosition()

    mutating func update(to context: ViewContext, from before: PlayerSnapshot, isOpen: Bool) {
        // The facts are collected only while they are visible.
        let facts = isOpen ? PlayingFact.all(of: context.player, glyphs: .ascii) : []
        resize(count: isOpen ? facts.count : list.count, in: context)
    }

    func hints(in player: PlayerSnapshot) -> [(UICommand, SafeText)] {
        [(.player(.toggle), "pause"), (.player(.pin(nil)), "pin")]
    }

    func draw(_ context: ViewContext, timeOfDay: (Duration) -> SafeText, into buffer: inout CellBuffer) {
        let facts = PlayingFact.all(of: context.player, glyphs: buffer.glyphs)
        let rows = context.layout.listRows
        guard !facts.isEmpty else { return buffer.drawPlaceholder("Nothing is playing", rows: rows) }
        for (index, row) in zip(list.visible, rows) where facts.indices.contains(index) {
            let fact = facts[index]
            buffer.draw(fact.name, column: 1, row: row, style: .dim)
            // The first two lines, title and artist, have no name.
            let column = index < 2 ? 1 : 1 + Self.nameColumns
            buffer.draw(fact.text, column: column, row: row, style: fact.style)
        }
    }
}

/// One fact about the current track: a name and a text. Pure.
struct PlayingFact {
    /// Empty if the text explains itself or continues the line above.
    var name: SafeText
    var text: SafeText
    var style = Style.normal

    /// All known facts, in the order of the view.
    static func all(of player: PlayerSnapshot, glyphs: Glyphs) -> [PlayingFact] {
        guard let track = player.currentTrack else { return [] }
        let tags = player.info.map { track.tags(with: $0.tags) } ?? track.tags
        var facts = [PlayingFact(name: "", text: tags.title ?? track.location.name, style: .playing)]
        let album = [tags.album, tags.year].compactMap { $0 }.map(\.string).joined(separator: ", ")
        let second = [tags.artist?.string, album.isEmpty ? nil : album, tags.number.map { "track \($0)" }]
            .compactMap { $0 }.joined(separator: " \(glyphs.dash) ")
        facts.append(PlayingFact(name: "", text: SafeText(second)))
        facts.append(PlayingFact(name: "", text: ""))
        let known: [(SafeText, SafeText?)] = [
            ("Published", published(track)), ("Position", position(player)),
            ("Chapter", chapter(player)), ("Length", length(player)),
            ("Format", format(player)),
            ("Bit rate", bitRate(player)), ("Source", source(track)), ("", track.location.safeText),
            ("Cached", cached(player, track)), ("Downloaded", downloaded(player)),
            ("Next", next(player, glyphs)),
        ]
        for case (let name, let text?) in known { facts.append(PlayingFact(name: name, text: text)) }
        if let error = player.failures[track.id] {
            facts.append(PlayingFact(name: "Failed", text: error.cause, style: .error))
        }
        return facts
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

    private static func length(_ player: PlayerSnapshot) -> SafeText? {
        guard player.load.live == nil else { return "live stream" }
        guard let duration = player.duration else { return nil }
        // A duration from a playlist is an estimate too.
        return SafeText((player.info?.isDurationExact == true ? "" : "~") + duration.clockTime)
    }

    private static func format(_ player: PlayerSnapshot) -> SafeText? {
        guard let info = player.info else { return nil }
        let rate = "\(info.format.sampleRate / 1_000).\(info.format.sampleRate % 1_000 / 100) kHz"
        let facts = [info.codec.string, rate, info.format.channelName]
        return SafeText(facts.filter { !$0.isEmpty }.joined(separator: ", "))
    }

    private static func bitRate(_ player: PlayerSnapshot) -> SafeText? {
        guard let rate = player.info?.bytesPerSecond, (1...1e9).contains(rate) else { return nil }
        return SafeText("\(Int((rate * 8 / 1_000).rounded())) kbit/s")
    }

    private static func source(_ track: Track) -> SafeText {
        switch track.location {
        case .file: "local file"
        case .web(let url): SafeText(url.host)
        }
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

    /// The next track of the queue; `nil` if it depends on shuffle or repeat, since only the player knows
    /// that order.
    private static func next(_ player: PlayerSnapshot, _ glyphs: Glyphs) -> SafeText? {
        guard let index = player.currentIndex, !player.isShuffled, player.repeatMode != .one,
            player.tracks.indices.contains(index + 1)
        else { return nil }
        let track = player.tracks[index + 1]
        return QueueRow.name(of: track, tags: player.learned[track.id]?.tags, glyphs: glyphs)
    }
}
