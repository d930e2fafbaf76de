package import Media

extension SafeText {
    /// The text in lines of at most `limit` columns (at least 1), broken at blanks where there are any; at least one
    /// line.
    package func wrapped(toColumns limit: Int) -> [SafeText] {
        var lines: [String] = []
        var (line, columns) = ("", 0)
        for word in string.split(separator: " ").map({ SafeText($0) }) {
            let width = word.columns
            if columns > 0, columns + 1 + width > limit {
                lines.append(line)
                (line, columns) = ("", 0)
            }
            if columns > 0 { (line, columns) = (line + " ", columns + 1) }
            // A word longer than a line is broken wherever the line ends.
            TextCluster.forEach(in: word) { cluster in
                if columns + cluster.width > limit, columns > 0 {
                    lines.append(line)
                    (line, columns) = ("", 0)
                }
                line += cluster.text
                columns += cluster.width
                return true
            }
        }
        if columns > 0 || lines.isEmpty { lines.append(line) }
        return lines.map { SafeText($0) }
    }
}
