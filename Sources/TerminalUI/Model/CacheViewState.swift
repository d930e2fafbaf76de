package import Media

/// The cache as the screen shows it. Pure.
package struct CacheViewState: Sendable {
    package internal(set) var list = ListPosition()
    /// Whether there is a cache to be looked at.
    package internal(set) var isThere = true
    package private(set) var report = KeptReport()
    /// The entry that the next press of the same key drops.
    package internal(set) var doomed: KeptEntry.ID?

    package var entries: [KeptEntry] { report.entries ?? [] }

    package var selected: KeptEntry? {
        entries.indices.contains(list.selected) ? entries[list.selected] : nil
    }

    /// The selection stays with its entry, wherever that is now; where it is gone, with the row.
    mutating func show(_ report: KeptReport) {
        let id = selected?.id
        self.report = report
        list.resize(count: entries.count, height: list.height)
        if let row = entries.firstIndex(where: { $0.id == id }) { list.select(row) }
    }
}
