import Media

extension RangeAnswer {
    /// Whether the answer brings the resource; a 304 and a refusal do not.
    var isContent: Bool {
        switch kind {
        case .part, .whole: true
        case .unsatisfiable, .notModified, .refused: false
        }
    }

    /// Whether this speaks of another representation than the one that `known` describes: another length, or a
    /// validator that differs (RFC 9110 §8.8). What either does not tell contradicts nothing.
    func contradicts(_ known: EntryDescription) -> Bool {
        let length: Int64?
        switch kind {
        case .part(_, let total): length = total
        case .whole(let whole): length = isEncoded ? nil : whole
        // What a 416 says of the length is for the one who knows the request.
        case .unsatisfiable: length = nil
        case .notModified, .refused: return false
        }
        return differ(length, known.length)
            || differ(validators.etag.map(opaque), known.validators.etag.map(opaque))
            || differ(validators.lastModified, known.validators.lastModified)
    }

    /// The tag without its sign of weakness, for the weak comparison of RFC 9110 §8.8.3.2: a server that packs
    /// its answers sends the same file's tag once as strong and once as weak.
    private func opaque(_ tag: String) -> Substring { tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...] }

    private func differ<Value: Equatable>(_ new: Value?, _ old: Value?) -> Bool {
        guard let new, let old else { return false }
        return new != old
    }
}
