package import Media

// What the view shows.
extension QueueView {
    /// `120 tracks · 47:12 · 19 cached`, with `~` while some lengths are unknown; with a filter `4 of 9`, or
    /// `4… of 9` until all tracks were examined.
    func amounts(in context: ViewContext, glyphs: Glyphs) -> [SafeText] {
        let all = context.player.tracks.count
        guard let filter else {
            let totals = outline.totals(of: 0..<all)
            let tracks = SafeText(CountText.of(all, "track"))
            let both = totals.text(glyphs)
            let cached = SafeText(totals.cachedCount > 0 ? " \(glyphs.dot) \(totals.cachedCount) cached" : "")
            return [both + cached, both, tracks]
        }
        let more = filter.hasWork(in: context.player) ? glyphs.more : ""
        return [SafeText("\(filter.matches.count)") + more + SafeText(" of \(all)")]
    }

    /// The tracks in view and on the next screenful whose tags and titles are unknown.
    package func untaggedTracks(in player: PlayerSnapshot) -> [Track] {
        let rows = list.visible.lowerBound..<min(list.count, list.visible.upperBound + list.height)
        return rows.compactMap { row in
            guard case .track(let place) = item(ofRow: row) else { return nil }
            let track = player.tracks[place]
            return track.isListed && track.tags.title == nil && player.learned[track.id] == nil ? track : nil
        }
    }

    /// `nil` if `item` is a track.
    func heading(_ item: QueueItem, in player: PlayerSnapshot, _ glyphs: Glyphs) -> QueueHeading? {
        guard case .heading(let places) = item, let run = outline.run(at: places.lowerBound) else {
            return nil
        }
        let isMarked = !marks.isEmpty && places.allSatisfy { marks.contains(player.tracks[$0].id) }
        return QueueHeading(run, totals: outline.totals(of: places), isMarked: isMarked, player, glyphs)
    }

    func hints(in player: PlayerSnapshot) -> [(UICommand, SafeText)] {
        guard !player.tracks.isEmpty else {
            return [
                (.openCommandLine("add "), "add"), (.show(.cache), "cached tracks"),
                (.openCommandLine(""), "command"),
            ]
        }
        return [
            (.playSelected, "play"), (.search(nil), "search"), (.filter(nil), "filter"),
            (.removeSelected, "remove"), (.playNextSelected(after: .track), "play next"),
            (.toggleMark, "mark"),
        ]
    }

    func draw(_ context: ViewContext, timeOfDay: (Duration) -> SafeText, into buffer: inout CellBuffer) {
        QueueTable.draw(self, context, into: &buffer)
    }
}
