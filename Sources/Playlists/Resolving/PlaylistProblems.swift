import Media

/// Collects the problems of single entries, so that a list of 100,000 bad entries causes only a few messages.
struct PlaylistProblems: Sendable, Equatable {
    /// The number of problems that are reported one by one.
    static let most = 20

    private var problems: [MediaError] = []
    private var furtherCount = 0
    /// How many audio files of folders were left out because of their format, by their kind.
    private var leftOut: [AudioKind: Int] = [:]

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
        leftOut.merge(others.leftOut, uniquingKeysWith: +)
    }

    /// Counts the file called `name`, which is no music that Reprise plays, if it is audio.
    ///
    /// Pictures, texts and playlists are not counted, because users do not expect a music player to play
    /// them.
    mutating func leaveOut(_ name: String) {
        if let kind = AudioKind.byName(name) { leftOut[kind, default: 0] += 1 }
    }

    /// The problems in their order. Those beyond `most` are summarised in one more, about `subject`, at the
    /// end; so are the files that were left out.
    func all(of subject: SafeText) -> [MediaError] {
        var all = problems
        if furtherCount > 0 {
            let rest = SafeText("skipped \(furtherCount) more bad entries")
            all.append(MediaError(.badPlaylist, subject, rest))
        }
        if let leftOutText {
            all.append(MediaError(.leftOut, subject, AudioKind.refusal(of: "Left out " + leftOutText)))
        }
        return all
    }

    func emptyFolder(_ subject: SafeText) -> MediaError {
        let cause = leftOutText.map { "no music that Reprise plays (left out " + $0 + ")" }
        return MediaError(.emptyFolder, subject, cause ?? "no music in this folder")
    }

    /// `12 files: 9 WavPack, 3 CAF`, the most frequent kind first; `nil` if no audio was left out.
    private var leftOutText: SafeText? {
        guard !leftOut.isEmpty else { return nil }
        let kinds = leftOut.sorted { ($1.value, $0.key.name) < ($0.value, $1.key.name) }
        let count = kinds.reduce(0) { $0 + $1.value }
        let list = kinds.map { "\($0.value) \($0.key.name)" }.joined(separator: ", ")
        return SafeText(CountText.of(count, "file") + ": " + list)
    }
}
