import Media

extension RangeAnswer {
    /// Whether this is a web page in the place of `known`, which is none.
    ///
    /// Networks that want a login answer so to everything. It tells nothing about the resource: taken for
    /// a change of it, a page would throw away what is kept.
    func isForeignPage(for known: EntryDescription) -> Bool {
        guard case .whole = kind else { return false }
        return contentType == "text/html" && known.contentType != "text/html"
    }
}
