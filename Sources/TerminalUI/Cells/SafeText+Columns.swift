package import Media

extension SafeText {
    /// Columns that the text takes on a screen.
    package var columns: Int {
        var columns = 0
        TextCluster.forEach(in: self) { cluster in
            columns += cluster.width
            return true
        }
        return columns
    }

    /// The text in at most `limit` columns, its cut end marked by `ellipsis` (of one column).
    ///
    /// A wide character is never split: the result may then be one column short. Empty for a limit
    /// of 0 or less.
    package func cut(toColumns limit: Int, ellipsis: SafeText = "…") -> SafeText {
        guard limit > 0 else { return "" }
        var columns = 0
        var kept = ""
        var keptBeforeEllipsis = ""
        TextCluster.forEach(in: self) { cluster in
            columns += cluster.width
            if columns < limit { keptBeforeEllipsis += cluster.text }
            if columns <= limit { kept += cluster.text }
            return columns <= limit
        }
        return columns <= limit ? SafeText(kept) : SafeText(keptBeforeEllipsis) + ellipsis
    }
}
