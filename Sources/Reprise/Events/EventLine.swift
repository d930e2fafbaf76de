import Media

/// An event and its time as a line of JSON or words. Names and order of the fields are part of the contract
/// with programs that read them.
struct EventLine: Sendable {
    let name: String
    let fields: EventFields
    /// Since the process started.
    let time: Duration

    init(_ event: PlayerEvent, at time: Duration) {
        let (name, fields) = Self.contents(of: event)
        self.init(name: name, fields: fields, time: time)
    }

    init(name: String, fields: EventFields, time: Duration) {
        self.name = name
        self.fields = fields
        self.time = time
    }

    private static func contents(of event: PlayerEvent) -> (name: String, fields: EventFields) {
        switch event {
        case .loaded(let tracks): ("loaded", [("tracks", .count(tracks))])
        case .track(let report): ("track", track(report))
        case .playing(let index, let position, let isExact): ("playing", place(index, position, isExact))
        case .position(let index, let position, let duration, let isExact, let buffered):
            (
                "position",
                [
                    ("index", .count(index)), ("position", .seconds(position)),
                    ("duration", .seconds(orNone: duration)), ("exact", .flag(isExact)),
                    ("buffered", .seconds(buffered)),
                ]
            )
        case .buffering(let index, let position):
            ("buffering", [("index", .count(index)), ("position", .seconds(position))])
        case .paused(let index, let position, let isExact): ("paused", place(index, position, isExact))
        case .seeked(let index, let position, let isExact): ("seeked", place(index, position, isExact))
        case .notice(let code, let message), .remark(let code, let message):
            ("notice", [("code", .text(SafeText(code))), ("message", .text(message))])
        case .ended(let report): ("ended", end(report))
        case .download(let end): ("download", download(end))
        case .volume(let percent, let isMuted): ("volume", volume(percent, isMuted))
        case .mode(let modes): ("mode", fields(of: modes))
        case .queue(let report): ("queue", queue(report))
        case .status(let player):
            (
                "status",
                [
                    ("state", .text(SafeText(player.state.rawValue))),
                    ("index", .count(orNone: player.currentIndex.map { $0 + 1 })),
                    ("tracks", .count(player.tracks.count)),
                ] + volume(player.volume, player.isMuted) + fields(of: player.modes) + ahead(player)
                    + sleep(player) + (player.device.map { [("device", .text(SafeText($0)))] } ?? [])
            )
        case .list(let player): ("list", list(player))
        case .devices(let devices, let chosen): ("devices", list(devices, chosen))
        case .answered(let isAccepted): ("answered", [("accepted", .flag(isAccepted))])
        case .summary(let report):
            (
                "summary",
                [
                    ("played", .count(report.played)), ("failed", .count(report.failed)),
                    ("bytes", bytes(cached: report.cachedBytes, fetched: report.fetchedBytes)),
                    ("requests", .count(report.requestCount)), ("stalls", .count(report.stalls)),
                ]
            )
        }
    }

    /// Fields that are left out unless music is downloaded ahead.
    private static func ahead(_ player: PlayerSnapshot) -> EventFields {
        guard let goal = player.aheadGoal else { return [] }
        let offline = player.offlineTime
        return [
            ("ahead", .text(goal.word)), ("offline", .seconds(offline?.left ?? .zero)),
            ("offlineExact", .flag(offline.map { !$0.isEstimate } ?? true)),
        ]
    }

    /// Fields that are left out without a sleep timer.
    private static func sleep(_ player: PlayerSnapshot) -> EventFields {
        guard let sleep = player.sleep else { return [] }
        let after = sleep.point.map { [("sleepAfter", EventField.text(SafeText($0.rawValue)))] } ?? []
        return [("sleep", .seconds(orNone: sleep.left))] + after
    }

    private static func track(_ report: PlayerEvent.TrackReport) -> EventFields {
        var fields: EventFields = [
            ("index", .count(report.index)), ("source", .text(report.source)),
            ("title", .text(orNone: report.tags.title)), ("artist", .text(orNone: report.tags.artist)),
            ("duration", .seconds(orNone: report.duration)), ("seekable", .flag(report.isSeekable)),
        ]
        // Fields that are left out unless they apply, because many tracks have none of them.
        fields += albumFields(of: report.tags)
        if report.chapters > 0 { fields.append(("chapters", .count(report.chapters))) }
        if let cached = report.cached { fields.append(("cached", .fraction(cached))) }
        if report.isLive { fields.append(("live", .flag(true))) }
        if let station = report.station { fields.append(("station", .text(station))) }
        return fields + episodeFields(report.episode, isPlayed: report.isPlayed)
    }

    private static func episodeFields(_ episode: Episode?, isPlayed: Bool) -> EventFields {
        guard let episode else { return [] }
        let day = episode.date.map { EventField.text(SafeText($0.day)) } ?? .none
        return [("episode", .group([("date", day), ("played", .flag(isPlayed))]))]
    }

    /// The fields of tags besides title and artist; those that are unknown are left out.
    static func albumFields(of tags: TrackTags) -> EventFields {
        [
            ("album", tags.album), ("year", tags.year), ("trackNumber", tags.number),
            ("albumArtist", tags.albumArtist), ("disc", tags.disc), ("genre", tags.genre),
        ].compactMap { key, text in text.map { (key, .text($0)) } }
    }

    private static func volume(_ percent: Int, _ isMuted: Bool) -> EventFields {
        [("volume", .count(percent)), ("muted", .flag(isMuted))]
    }

    private static func fields(of modes: PlayModes) -> EventFields {
        [
            ("shuffle", .flag(modes.isShuffled)), ("repeat", .text(SafeText(modes.repeatMode.rawValue))),
            ("gain", .text(SafeText(modes.gainMode.rawValue))),
        ]
    }

    private static func queue(_ report: PlayerEvent.QueueReport) -> EventFields {
        let numbers = report.tracks.map { numbers in
            EventField.list(
                numbers.places.ranges.map { .list([.count($0.lowerBound + 1), .count($0.upperBound)]) }
            )
        }
        return [
            ("change", .text(SafeText(report.change.rawValue))), ("numbers", numbers ?? .none),
            ("to", .count(orNone: report.target)), ("tracks", .count(report.count)),
            ("index", .count(orNone: report.index)),
        ]
    }

    private static func list(_ player: PlayerSnapshot) -> EventFields {
        let tracks = EventField.list(count: player.tracks.count) { place in
            let track = player.tracks[place]
            let facts = player.learned[track.id]
            let tags = facts?.tags ?? track.tags
            var fields: EventFields = [
                ("index", .count(place + 1)), ("source", .text(track.location.safeText)),
                ("title", .text(orNone: tags.title)), ("artist", .text(orNone: tags.artist)),
                ("duration", .seconds(orNone: facts?.duration ?? track.duration)),
            ]
            fields += albumFields(of: tags)
            if let part = player.availability[track.id]?.fraction {
                fields.append(("cached", .fraction(part)))
            }
            fields += episodeFields(track.episode, isPlayed: track.isPlayed)
            return EventField.group(fields)
        }
        return [("index", .count(orNone: player.currentIndex.map { $0 + 1 })), ("tracks", tracks)]
    }

    private static func list(_ devices: [SoundDevice], _ chosen: String?) -> EventFields {
        let list = devices.map { device in
            EventField.group([
                ("name", .text(SafeText(device.name))), ("title", .text(device.title)),
                ("current", .flag(device.isCurrent)),
            ])
        }
        return [("device", .text(orNone: chosen.map { SafeText($0) })), ("devices", .list(list))]
    }

    private static func place(_ index: Int, _ position: Duration, _ isExact: Bool) -> EventFields {
        [("index", .count(index)), ("position", .seconds(position)), ("exact", .flag(isExact))]
    }

    private static func end(_ report: PlayerEvent.EndReport) -> EventFields {
        [
            ("index", .count(report.index)), ("reason", .text(SafeText(report.reason.rawValue))),
            ("frames", .integer(report.frames)),
            ("bytes", bytes(cached: report.cachedBytes, fetched: report.fetchedBytes)),
            ("requests", .count(report.requestCount)), ("stalls", .count(report.stalls)),
            ("error", error(report.error)),
        ]
    }

    private static func download(_ end: PlayerEvent.DownloadEnd) -> EventFields {
        [
            ("source", .text(end.source)),
            ("bytes", bytes(cached: end.cachedBytes, fetched: end.fetchedBytes)),
            ("requests", .count(end.requestCount)), ("error", error(end.error)),
        ]
    }

    private static func error(_ error: MediaError?) -> EventField {
        guard let error else { return .none }
        return .group([("code", .text(SafeText(error.code.rawValue))), ("message", .text(error.safeText))])
    }

    private static func bytes(cached: Int64, fetched: Int64) -> EventField {
        .group([("cached", .integer(cached)), ("fetched", .integer(fetched))])
    }
}

// The JSON is written by hand: a coder of FoundationEssentials would not keep the order of the keys, nor
// start as fast.
extension EventLine {
    /// Writes the event as one JSON object (RFC 8259), without a line break. Only one track of a long list is
    /// in memory at a time.
    func writeJSON(to output: inout some TextOutputStream) {
        Self.write([("event", .text(SafeText(name))), ("t", .seconds(time))] + fields, to: &output)
    }

    /// The same JSON object in pieces, one for each element if the last field is a list. So a long list is
    /// never in memory as a whole.
    var jsonPieces: AnyIterator<String> {
        let fields = [("event", .text(SafeText(name))), ("t", .seconds(time))] + fields
        guard let last = fields.last, case .list(let count, let element) = last.value else {
            return AnyIterator([Self.json(fields)].makeIterator())
        }
        let start = Self.json(fields.dropLast()).dropLast() + "," + Self.quoted(last.key) + ":["
        var place = -1
        return AnyIterator {
            defer { place += 1 }
            guard (0..<count).contains(place) else { return place < 0 ? start : place == count ? "]}" : nil }
            var text = place > 0 ? "," : ""
            Self.write(element(place), to: &text)
            return text
        }
    }

    /// The names of all events.
    static let names = [
        "loaded", "track", "playing", "position", "buffering", "paused", "seeked", "notice", "volume", "mode",
        "queue", "status", "list", "devices", "download", "ended", "summary",
    ]

    /// An object with the keys of `fields`, in their order.
    static func json(_ fields: EventFields) -> String {
        var text = ""
        write(fields, to: &text)
        return text
    }

    private static func write(_ fields: EventFields, to output: inout some TextOutputStream) {
        var separator = "{"
        for (key, value) in fields {
            output.write(separator + quoted(key) + ":")
            write(value, to: &output)
            separator = ","
        }
        output.write(fields.isEmpty ? "{}" : "}")
    }

    private static func write(_ value: EventField, to output: inout some TextOutputStream) {
        switch value {
        case .integer(let number): output.write(String(number))
        case .seconds(let duration): output.write(decimal(duration))
        case .flag(let flag): output.write(flag ? "true" : "false")
        case .fraction(let part): output.write(decimal(fraction: part))
        case .text(let text): output.write(quoted(text.string))
        case .group(let fields): write(fields, to: &output)
        case .list(let count, let element):
            output.write("[")
            for place in 0..<count {
                if place > 0 { output.write(",") }
                write(element(place), to: &output)
            }
            output.write("]")
        case .none: output.write("null")
        }
    }

    static func decimal(fraction: Double) -> String {
        decimal(.milliseconds(Int64(max(0, min(1, fraction)) * 1_000)))
    }

    /// Seconds with up to three decimals, rounded to the nearest millisecond: `12`, `0.05`, `3.125`.
    static func decimal(_ duration: Duration) -> String {
        // A length of more than 200,000 years is wrong anyway; it must not trap.
        guard duration.components.seconds.magnitude < 1 << 43 else {
            return String(duration.components.seconds)
        }
        let milliseconds = Int64((duration / .milliseconds(1)).rounded())
        let text = String(Double(milliseconds) / 1_000)
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }

    /// `text` as a JSON string: quotation marks, backslashes and controls are escaped (RFC 8259 §7).
    static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\u{0}"..<" ":
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}

extension EventLine {
    /// Writes the event as one line of words: its name, then `key=value` for each known field. Keys of a
    /// group are joined by a dot, and text is quoted as in JSON. Only one track of a long list is in memory
    /// at a time.
    func writeWords(to output: inout some TextOutputStream) {
        output.write(name)
        for (key, value) in fields { Self.write(key, value, to: &output) }
        Self.write("t", .seconds(time), to: &output)
    }

    private static func write(_ key: String, _ value: EventField, to output: inout some TextOutputStream) {
        switch value {
        case .integer, .seconds, .flag, .fraction, .text:
            output.write(" \(key)=")
            write(value, to: &output)
        case .group(let fields): for (name, value) in fields { write("\(key).\(name)", value, to: &output) }
        case .list(let count, let element):
            for place in 0..<count { write("\(key).\(place + 1)", element(place), to: &output) }
        case .none: break
        }
    }
}

/// Keys and values in the order in which they are written.
typealias EventFields = [(key: String, value: EventField)]

/// A value of an event or of the journal, which is written as JSON or as words.
enum EventField: Sendable {
    case integer(Int64)
    /// Seconds, to the millisecond.
    case seconds(Duration)
    case flag(Bool)
    /// 0...1 with three decimals, rounded down, so that only the whole is 1.
    case fraction(Double)
    case text(SafeText)
    case group(EventFields)
    /// The elements are made one by one, when they are written.
    case list(count: Int, @Sendable (Int) -> EventField)
    /// Unknown: `null` in JSON, left out in words.
    case none

    static func list(_ values: [EventField]) -> EventField { .list(count: values.count) { values[$0] } }

    static func count(_ number: Int) -> EventField { .integer(Int64(number)) }

    static func count(orNone number: Int?) -> EventField { number.map { .count($0) } ?? .none }

    static func text(orNone text: SafeText?) -> EventField { text.map { .text($0) } ?? .none }

    static func seconds(orNone duration: Duration?) -> EventField { duration.map { .seconds($0) } ?? .none }
}
