/// The part of the README that says what was measured, generated whole.
struct NumbersSection {
    static let heading = "## Numbers\n"
    /// The tables.
    let tables: String
    /// A day, as `2026-11-21`.
    let date: String
    let machine: String
    /// What `make` was asked for.
    let target: String

    var text: String {
        """
        \(Self.heading)
        As measured on \(date) by `make \(target) BENCH="--readme README.md"`, which makes this section
        (`bench` takes a quarter of an hour; `bench-quick` four minutes, with fewer rounds and without cut lines,
        ten-hour files and the index). The machine: \(machine); release build.
        Medians, with the least and the most where they differ. Every player has a server (`reprise-origin`) and a
        PulseAudio null sink of its own; sound counts when it is heard at the sink's monitor, and the pitch of the
        music tells which second it is. “× best peer” divides Reprise's median by the best of the others': below 1
        Reprise is ahead.

        \(tables)

        """
    }

    /// `readme` with this in place of its section of that name; nil where it has none with another behind it.
    func replacing(in readme: String) -> String? {
        guard let start = readme.firstRange(of: Self.heading),
            let end = readme[start.upperBound...].firstRange(of: "\n## ")
        else { return nil }
        return readme[..<start.lowerBound] + text + readme[end.lowerBound...]
    }
}
