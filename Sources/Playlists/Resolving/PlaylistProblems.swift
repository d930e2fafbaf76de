import Media

/// Collects what was wrong with single entries, so that a list of 100,000 bad ones is a few messages.
struct PlaylistProblems: Sendable, Equatable {
    /// How many are told one by one.
    static let most = 20

    private var problems: [MediaError] = []
    private var furtherCount = 0

    /// Adds what was wrong with one entry.
    mutating func add(_ problem: MediaError) {
        if problems.count < Self.most {
            problems.append(problem)
        } else {
            furtherCount += 1
        }
    }

    /// Adds `count` refusals of local files by the list `subject`, whose first is `first`, as one problem.
    mutating func addRefusals(_ count: Int, first: MediaError, of subject: SafeText) {
        guard count > 1 else { return add(first) }
        let cause = "\(count) entries name files of this machine, which a playlist from the web may not open"
        add(MediaError(.refusedLocalFile, subject, SafeText(cause)))
    }

    /// Adds those of a nested list.
    mutating func add(_ others: PlaylistProblems) {
        for problem in others.problems { add(problem) }
        furtherCount += others.furtherCount
    }

    /// The problems in their order; the last one counts those that are not told, in the name of `subject`.
    func all(of subject: SafeText) -> [MediaError] {
        guard furtherCount > 0 else { return problems }
        let rest = SafeText("\(furtherCount) further entries were passed over")
        return problems + [MediaError(.badPlaylist, subject, rest)]
    }
}
