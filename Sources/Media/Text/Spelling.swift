/// Suggestions for misspelled names. Pure.
package enum Spelling {
    /// ` – did you mean NAME?`, with the name most similar to `name`; empty if none is similar.
    package static func hint(for name: String, among names: some Sequence<String>) -> String {
        // A name whose length differs by more is no misspelling. It is not compared, because it may be as
        // long as a whole file.
        let most = min(3, name.count / 2)
        let nearest = names.filter { abs($0.count - name.count) <= most }
            .map { (name: $0, distance: distance($0, name)) }.min { $0.distance < $1.distance }
        guard let nearest, nearest.distance <= most else { return "" }
        return " – did you mean \(nearest.name)?"
    }

    /// As `hint(for:among:)` for names of the form TABLE.KEY: the keys decide, so that a missing table is
    /// found too.
    package static func hint(forPath path: String, among names: [String]) -> String {
        let key = { (name: String) in String(name.split(separator: ".").last ?? "") }
        let near = names.filter { !hint(for: key(path), among: [key($0)]).isEmpty }
        let nearest = near.min {
            (distance(key($0), key(path)), distance($0, path)) < (
                distance(key($1), key(path)), distance($1, path)
            )
        }
        return nearest.map { " – did you mean \($0)?" } ?? ""
    }

    /// The number of letters to insert, remove or replace to turn `left` into `right` (Levenshtein).
    private static func distance(_ left: String, _ right: String) -> Int {
        var row = Array(0...right.count)
        for letter in left {
            var diagonal = row[0]
            row[0] += 1
            for (index, other) in right.enumerated() {
                let cost = min(diagonal + (letter == other ? 0 : 1), row[index] + 1, row[index + 1] + 1)
                diagonal = row[index + 1]
                row[index + 1] = cost
            }
        }
        return row[right.count]
    }
}
