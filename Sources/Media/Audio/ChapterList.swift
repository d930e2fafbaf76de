/// A chapter of a track.
package struct Chapter: Sendable, Equatable {
    /// The most characters of a title that are kept.
    private static let longestTitle = 200

    package let start: Duration
    /// Empty if unknown.
    package var title: SafeText

    /// Creates a chapter with the untrusted text `title`.
    package init(start: Duration, title: some StringProtocol) {
        self.start = start
        self.title = SafeText(title.prefix(Self.longestTitle))
    }
}

/// The chapters of a track, in the order of their starts, all of which differ. Pure.
package struct ChapterList: Sendable, Equatable {
    /// The most chapters of a track. The longest audiobooks have some hundreds.
    package static let mostChapters = 4_096
    /// The latest start of a chapter. No track is as long.
    private static let latestStart = Duration.seconds(1_000_000)
    /// `previous` returns to the start of the current chapter if more than this was played of it, as for
    /// tracks.
    private static let replay = Duration.seconds(3)
    /// Positions are those of frames, so a seek to a chapter may land a little before its start.
    private static let tolerance = Duration.milliseconds(50)

    package private(set) var chapters: [Chapter] = []

    /// Creates a list without chapters.
    package init() {}

    /// Creates a list of the first chapters of `found`, sorted by their starts. Of several with the same
    /// start the first counts; impossible starts are left out.
    package init(_ found: [Chapter]) {
        let sane = found.prefix(Self.mostChapters).enumerated()
            .filter { (.zero...Self.latestStart).contains($0.element.start) }
            .sorted { ($0.element.start, $0.offset) < ($1.element.start, $1.offset) }
        for (_, chapter) in sane where chapters.last?.start != chapter.start { chapters.append(chapter) }
    }

    package var count: Int { chapters.count }
    package var isEmpty: Bool { chapters.isEmpty }

    /// The number, from 1, of the chapter that is played at `position`; `nil` before the first one.
    package func number(at position: Duration) -> Int? {
        let started = chapters.partitioningIndex { $0.start > position + Self.tolerance }
        return started > 0 ? started : nil
    }

    /// The number of the chapter to which `target` leads from `position`; `nil` if there is none.
    package func number(of target: ChapterTarget, from position: Duration) -> Int? {
        let current = number(at: position) ?? 0
        let wanted =
            switch target {
            case .number(let number): number
            case .next: current + 1
            case .previous where current < 2: 1
            case .previous: position - chapters[current - 1].start > Self.replay ? current : current - 1
            }
        return (1...max(1, count)).contains(wanted) && !isEmpty ? wanted : nil
    }

    /// The reason why `target` leads to no chapter.
    package func refusal(of target: ChapterTarget) -> String {
        if isEmpty { return "This track has no chapters" }
        if case .number(let number) = target { return "No chapter \(number) (there are \(count))" }
        return "No next chapter (this is the last of \(count))"
    }

    /// `3 of 12: Title`.
    package func name(of number: Int) -> SafeText {
        let title = chapters[number - 1].title
        return SafeText("\(number) of \(count)") + (title.isEmpty ? "" : ": " + title)
    }
}

/// The chapter to which a command leads.
package enum ChapterTarget: Sendable, Hashable {
    case next
    /// The chapter before, or the start of the current one if more than three seconds of it were played.
    case previous
    /// From 1.
    case number(Int)

    /// Parses `next`, `previous` or a number from 1 on; `nil` for anything else.
    package init?(parsing text: some StringProtocol) {
        switch text {
        case "next": self = .next
        case "previous": self = .previous
        default:
            guard let number = Int(text), number >= 1 else { return nil }
            self = .number(number)
        }
    }
}
