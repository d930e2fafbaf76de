internal import Media

extension ViewName {
    package static let playing = ViewName(word: "playing", help: "current track")
}

/// The current track: its names, its chapters or the titles that a station has played, what is played next,
/// and in one line how it sounds and where it comes from. Pure.
package struct PlayingView: ListView {
    static let name = ViewName.playing
    static let selectsRows = true

    package internal(set) var list = ListPosition()
    private var content = PlayingContent()
    private var places = PlayingPlaces()
    /// The number of the current chapter in the last snapshot, and the track.
    private var chapter: Int?
    private var track: Track.ID?

    func rows(in layout: ScreenLayout) -> Range<Int> { places.choices.rows }
    func columns(in layout: ScreenLayout) -> Range<Int> { places.choices.columns }

    mutating func update(to context: ViewContext, from before: PlayerSnapshot, isOpen: Bool) {
        // Its content is collected only while it is visible.
        guard isOpen else { return }
        content = PlayingContent(of: context.player)
        places = PlayingPlaces(of: content, in: context.layout)
        if context.player.currentTrack?.id != track {
            track = context.player.currentTrack?.id
            chapter = nil
            list = ListPosition()
        }
        let follows = chapter == nil || list.selected == chapter.map { $0 - 1 }
        resize(count: content.choiceCount, in: context)
        guard content.chapter != chapter else { return }
        chapter = content.chapter
        // The selection follows the chapters as they are played, unless it was moved.
        if follows, let chapter { list.select(chapter - 1, context: 1) }
    }

    mutating func fit(to layout: ScreenLayout) {
        places.cover(to: layout.listRows)
        list.resize(count: list.count, height: places.choices.rows.count)
    }

    mutating func run(_ command: UICommand, in context: ViewContext) -> CommandOutcome? {
        switch command {
        case .playSelected:
            guard list.count > 0 else { return .noSelection(in: context.player) }
            let number = list.selected + 1
            guard content.chapters.isEmpty else {
                return CommandOutcome([.send(.chapter(.number(number)))])
            }
            return CommandOutcome([.send(.jump(content.upcoming[list.selected] + 1))])
        default: return nil
        }
    }

    func facts(in context: ViewContext) -> [Fact] {
        context.player.currentIndex.map { Fact.all(ofTrack: $0, in: context.player) } ?? []
    }

    /// The sections show the sizes of theirs.
    func amounts(in context: ViewContext, glyphs: Glyphs) -> [SafeText] { [] }

    func hints(in player: PlayerSnapshot) -> [(UICommand, SafeText)] {
        let enter: [(UICommand, SafeText)] =
            list.count > 0 ? [(.playSelected, content.chapters.isEmpty ? "play" : "chapter")] : []
        return [(.player(.toggle), "pause")] + enter + [(.showFacts, "facts"), (.toggleSound, "spectrum")]
    }

    // MARK: Drawing

    func draw(_ context: ViewContext, timeOfDay: (Duration) -> SafeText, into buffer: inout CellBuffer) {
        guard context.player.currentTrack != nil else {
            return buffer.drawPlaceholder("Nothing is playing", rows: context.layout.listRows)
        }
        for (line, row) in zip(content.names(isShort: places.isShort), places.names) {
            var text = buffer.glyphs.joined(line.parts)
            if line.style == .title, content.isStation {
                text = text.spaced(toColumns: buffer.columns / 2)
            }
            buffer.draw(text, column: 1, row: row, limit: buffer.columns - 2, style: line.style)
        }
        drawChoices(context, into: &buffer)
        drawOthers(context, into: &buffer)
        guard let row = places.facts else { return }
        let end = buffer.columns - 1
        let sound = buffer.glyphs.joined(content.sound)
        let column = buffer.draw(sound, column: 1, row: row, limit: end - 1, style: .dim)
        let origin = buffer.glyphs.joined(content.origin)
        if column + 3 + origin.columns <= end {
            buffer.draw(origin, column: end - origin.columns, row: row, style: .dim)
        }
    }

    /// The section whose rows can be selected.
    private func drawChoices(_ context: ViewContext, into buffer: inout CellBuffer) {
        let columns = places.choices.columns
        for (index, row) in zip(list.visible, places.choices.rows) {
            if index == list.selected { buffer.lay(.selected, row: row, columns: columns) }
            if content.chapters.isEmpty {
                drawUpcoming(index, context.player, columns: columns, row: row, into: &buffer)
            } else {
                drawChapter(index, columns: columns, row: row, into: &buffer)
            }
        }
        let place = list.isCut ? SafeText("\(list.selected + 1) of \(list.count)") : ""
        let total = content.chapters.isEmpty ? upcomingTotal(context.player, buffer.glyphs) : place
        drawTitle(content.chapters.isEmpty ? "UP NEXT" : "CHAPTERS", total, places.choices, into: &buffer)
    }

    /// The second section: the next tracks below or beside the chapters, else the titles that were heard.
    private func drawOthers(_ context: ViewContext, into buffer: inout CellBuffer) {
        let columns = places.others.columns
        if !content.chapters.isEmpty {
            for (index, row) in zip(content.upcoming.indices, places.others.rows) {
                drawUpcoming(index, context.player, columns: columns, row: row, into: &buffer)
            }
            drawTitle("UP NEXT", upcomingTotal(context.player, buffer.glyphs), places.others, into: &buffer)
        } else {
            for (title, row) in zip(content.titles, places.others.rows) {
                buffer.draw(title, in: columns.dropFirst(1).dropLast(1), row: row, style: .dim)
            }
            drawTitle("HEARD BEFORE", "", places.others, into: &buffer)
        }
    }

    private func drawTitle(
        _ title: SafeText,
        _ total: SafeText,
        _ section: PlayingPlaces.Section,
        into buffer: inout CellBuffer
    ) {
        guard let first = section.rows.first else { return }
        let columns = section.columns.dropFirst(1).dropLast(1)
        buffer.draw(title, in: columns, row: first - 1, style: .heading)
        guard title.columns + 2 + total.columns <= columns.count else { return }
        buffer.draw(total, in: columns, row: first - 1, style: .dim, isRightAligned: true)
    }

    private func drawChapter(_ index: Int, columns: Range<Int>, row: Int, into buffer: inout CellBuffer) {
        let isCurrent = index + 1 == content.chapter
        let style: Style = isCurrent ? .title : .dim
        let start = columns.lowerBound + 1
        if isCurrent { buffer.draw(buffer.glyphs.folded, column: start, row: row, style: .playing) }
        let width = content.chapters.last.map { $0.start.clockTime.count } ?? 0
        let time = SafeText(content.chapters[index].start.clockTime)
        buffer.draw(time, in: start + 2..<start + 2 + width, row: row, style: .dim, isRightAligned: true)
        let title = content.chapters[index].title
        let name = title.isEmpty ? SafeText("Chapter \(index + 1)") : title
        buffer.draw(
            name,
            in: start + width + 4..<max(start + width + 4, columns.upperBound - 1),
            row: row,
            style: style
        )
    }

    private func drawUpcoming(
        _ index: Int,
        _ player: PlayerSnapshot,
        columns: Range<Int>,
        row: Int,
        into buffer: inout CellBuffer
    ) {
        guard content.upcoming.indices.contains(index),
            player.tracks.indices.contains(content.upcoming[index])
        else { return }
        let item = QueueRow(player, index: content.upcoming[index], isMarked: false, glyphs: buffer.glyphs)
        let digits = content.upcoming.map { String($0 + 1).count }.max() ?? 1
        let start = columns.lowerBound + 1
        var end = columns.upperBound - 1
        let number = SafeText("\(item.number)")
        buffer.draw(number, in: start..<start + digits, row: row, style: .faint, isRightAligned: true)
        let width = max(7, item.duration.columns)
        buffer.draw(item.duration, in: end - width..<end, row: row, style: .dim, isRightAligned: true)
        end -= width + 2
        if columns.count >= 50 {
            RangeBar.draw(item.map, column: end - RangeBar.columns, row: row, into: &buffer)
            end -= RangeBar.columns + 2
        }
        let artist = item.artist == content.artist ? "" : item.artist
        let name = TrackName.text(item.title, artist, dash: buffer.glyphs.dash)
        let title = start + digits + 2..<max(start + digits + 2, end)
        let isFailed = item.style == .error
        buffer.draw(name, in: title, row: row, style: isFailed ? .error : index == 0 ? .normal : .dim)
    }

    /// `6 tracks · 25:05`, if it is known what is played until the end of the queue.
    private func upcomingTotal(_ player: PlayerSnapshot, _ glyphs: Glyphs) -> SafeText {
        guard content.upcoming.count < PlayerSnapshot.mostUpcoming else { return "" }
        var totals = QueueOutline.Totals(count: content.upcoming.count)
        for track in content.upcoming.map({ player.tracks[$0] }) {
            guard let duration = player.learned[track.id]?.duration ?? track.duration else { continue }
            totals.duration += duration
            totals.knownCount += 1
        }
        return totals.text(glyphs)
    }
}

/// The texts and rows of the view of the current track.
struct PlayingContent: Sendable {
    /// The title, the artist, the album and what else the tags say; a station's name and title; the reason of
    /// a failure. Dots stand between the parts of a line.
    private(set) var names: [(parts: [SafeText], style: Style)] = []
    /// The title in the row above the bar.
    private var rowTitle: SafeText?
    private(set) var artist: SafeText = ""
    private(set) var isStation = false
    private(set) var chapters: [Chapter] = []
    /// The number of the chapter that is played, from 1.
    private(set) var chapter: Int?
    /// The places of the tracks that are played next.
    private(set) var upcoming: [Int] = []
    /// The titles that a station has played, the newest first.
    private(set) var titles: [SafeText] = []
    /// The server and the file.
    private(set) var origin: [SafeText] = []
    private(set) var sound: [SafeText] = []

    init() {}

    init(of player: PlayerSnapshot) {
        guard let track = player.currentTrack else { return }
        rowTitle = QueueRow.currentNameParts(in: player)?.title
        let tags = player.info.map { track.tags(with: $0.tags) } ?? track.tags
        isStation = player.load.live != nil
        upcoming = player.upcoming.filter { player.tracks.indices.contains($0) }
        // With "repeat all" the first track follows the last one, but this list ends with the last one.
        if player.repeatMode == .all, !player.isShuffled, let current = player.currentIndex,
            let end = upcoming.firstIndex(where: { $0 <= current }), end > 0
        {
            upcoming.removeSubrange(end...)
        }
        if isStation {
            let station = track.tags.title ?? tags.album ?? track.location.shortName
            names = [([station], .title)]
            if let title = player.info?.tags.title, title != station { names.append(([title], .playing)) }
            titles = player.earlierTitles.reversed()
        } else {
            artist = tags.artist ?? ""
            names = [([tags.title ?? track.location.shortName], .title)]
            if !artist.isEmpty { names.append(([artist], .playing)) }
            let details = [
                tags.album, tags.year, tags.number.map(Self.place),
                track.episode?.date.map { SafeText($0.day) },
                track.isPlayed ? "played before" : nil,
            ].compactMap { $0 }
            if !details.isEmpty { names.append((details, .dim)) }
            chapters = player.info?.chapters.chapters ?? []
            chapter = player.info?.chapters.number(at: player.position)
        }
        if let error = player.failures[track.id], !player.state.isHeard {
            names.append(([error.cause], .error))
        }
        sound = Fact.sound(of: player)
        if case .web(let url) = track.location { origin = [SafeText(url.host)] }
        origin.append(track.location.name)
    }

    /// The names for the view; in a short one without what stands above the bar.
    func names(isShort: Bool) -> [(parts: [SafeText], style: Style)] {
        isShort ? names.filter { $0.parts != [rowTitle] } : names
    }

    /// The rows that can be selected.
    var choiceCount: Int { chapters.isEmpty ? upcoming.count : chapters.count }
    /// The rows of the other section.
    var otherCount: Int { chapters.isEmpty ? titles.count : upcoming.count }

    /// `track 4 of 10` for `4/10`.
    private static func place(_ number: SafeText) -> SafeText {
        SafeText("track " + number.string.split(separator: "/").joined(separator: " of "))
    }
}

/// Where the parts of the view of the current track stand. Pure.
struct PlayingPlaces: Sendable {
    /// The rows and columns of a section; its title stands in the row above. Empty if there is no room.
    struct Section: Sendable {
        var rows = 0..<0
        var columns = 0..<0
    }

    /// From this width on, two sections stand beside each other.
    private static let leastForTwo = 100
    /// The fewest rows with blank rows between the parts.
    private static let fewestAiryRows = 8

    /// `true` if there are no rows to spare.
    private(set) var isShort = false
    private(set) var names = 0..<0
    private(set) var choices = Section()
    private(set) var others = Section()
    private(set) var facts: Int?

    init() {}

    init(of content: PlayingContent, in layout: ScreenLayout) {
        let rows = layout.listRows
        isShort = rows.count < Self.fewestAiryRows
        let gap = isShort ? 0 : 1
        names = rows.prefix(content.names(isShort: isShort).count)
        var end = rows.upperBound
        if names.upperBound < end {
            end -= 1
            facts = end
        }
        let start = names.upperBound + gap
        end -= gap
        // A title and a row at least.
        guard start + 2 <= end else { return }
        let all = 0..<layout.columns
        if content.otherCount == 0 {
            choices = section(content.choiceCount, in: start..<end, columns: all)
        } else if content.choiceCount == 0 {
            others = section(content.otherCount, in: start..<end, columns: all)
        } else if layout.columns >= Self.leastForTwo {
            let middle = layout.columns * 9 / 20
            choices = section(content.choiceCount, in: start..<end, columns: 0..<middle)
            others = section(content.otherCount, in: start..<end, columns: middle + 2..<layout.columns)
            if content.chapters.isEmpty {
                (choices.columns, others.columns) = (others.columns, choices.columns)
            }
        } else {
            // With room for one section only, it is the one whose rows can be selected.
            let room = end - start
            let first = room < 4 + gap ? room : min(content.choiceCount + 1, max(2, (room - gap) * 3 / 5))
            choices = section(content.choiceCount, in: start..<start + first, columns: all)
            let next = min(end, start + first + gap)
            others = section(content.otherCount, in: next..<end, columns: all)
        }
    }

    /// A box leaves `rows` in view.
    mutating func cover(to rows: Range<Int>) { choices.rows = choices.rows.clamped(to: rows) }

    private func section(_ count: Int, in rows: Range<Int>, columns: Range<Int>) -> Section {
        guard rows.count >= 2, count > 0 else { return Section() }
        return Section(rows: rows.dropFirst().prefix(count), columns: columns)
    }
}

extension SafeText {
    /// The text with a blank between its letters, if that is as wide as this at most: the largest letters
    /// that every terminal has.
    fileprivate func spaced(toColumns most: Int) -> SafeText {
        guard columns == string.count, columns * 2 <= most else { return self }
        return SafeText(string.map(String.init).joined(separator: " "))
    }
}
