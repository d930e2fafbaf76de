import Media

/// Collects the problems of single entries, so that a list of 100,000 bad entries causes only a few messages.
struct PlaylistProblems: Sendable, Equatable {
    /// The number of problems that are reported one by one.
    static let most = 20

    private var problems: [MediaError] = []
    private var furtherCount = 0

    mutating func add(_ problem: MediaError) {
        if problems.count < Self.most {
            problems.append(problem)
        } else {
            furtherCount += 1
        }
    }

    /// Adds one problem for `count` local files that the list `subject` may not open; `first` is the error of
    /// the first.
    mutating func addRefusals(_ count: Int, first: MediaError, of subject: SafeText) {
        guard count > 1 else { return add(first) }
        let cause = SafeText("\(count) entries are local files, which a playlist from the web can't open")
        add(MediaError(.refusedLocalFile, subject, cause))
    }

    /// Adds the problems of a nested list.
    mutating func add(_ others: PlaylistProblems) {
        for problem in others.problems { add(problem) }
        furtherCount += others.furtherCount
    }

    /// The problems in their order. Those beyond `most` are summarised in one more, about `subject`, at the
    /// end.
    func all(of subject: SafeText) -> [MediaError] {
        guard furtherCount > 0 else { return problems }
        let rest = SafeText("skipped \(furtherCount) more bad entries")
        return problems + [MediaError(.badPlaylist, subject, rest)]
    }
}
