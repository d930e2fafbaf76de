internal import Media

extension UICommand {
    /// What can be typed behind `:`, for the help: the commands that take something, and those without a key.
    ///
    /// A form has twelve columns, what is said of it twenty-five.
    static let forms: [(form: SafeText, help: SafeText)] = [
        ("play", "play"), ("pause", "pause"), ("stop", "stop"), ("jump N", "play track N"),
        ("seek M:SS", "go there; also 50%, +10"), ("volume N", "0 to 100; also +5, -5"),
        ("add SOURCE", "file, folder, list or URL"), ("remove 3 5-7", "remove these tracks"),
        ("move 5-7 1", "put these at place 1"), ("clear", "empty the queue"),
        ("save PATH", "write an M3U8 playlist"), ("reload", "fetch this track anew"),
        ("pin N", "pin or unpin track N"),
        ("sort KEY", "by title; Tab for others"),
        ("shuffle now", "shuffle the list itself"),
        ("repeat MODE", SafeText(RepeatMode.allCases.map(\.rawValue).joined(separator: ", "))),
        ("gain MODE", SafeText(GainMode.allCases.map(\.rawValue).joined(separator: ", "))),
        ("view NAME", "Tab for their names"), ("search TEXT", "search"),
        ("filter TEXT", "show only what matches"),
    ]
}
