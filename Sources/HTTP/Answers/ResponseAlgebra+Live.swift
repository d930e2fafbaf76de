internal import Media

// What the answer of a live stream means. There is no standard: SHOUTcast's fields, as Icecast and all
// others took them over.
extension ResponseAlgebra {
    /// What the station says of itself; nil where no live stream answers.
    ///
    /// A body with a stated length has an end, so it is no live stream whatever fields come with it.
    static func station(for head: ResponseHead) -> Station? {
        guard head.status == 200, kind(for: head) == .whole(length: nil), !isEncoded(head.fields),
            head.version == ResponseHead.icyVersion || head.fields.hasName(withPrefix: "icy-")
        else { return nil }
        let name = head.fields.text("icy-name").map { HeaderFields.trimmed($0) }
        return Station(
            name: name.flatMap { $0.isEmpty ? nil : SafeText($0) },
            bytesPerSecond: bytesPerSecond(in: head.fields)
        )
    }

    /// How many bytes of music lie between two blocks of titles; nil where there are none.
    ///
    /// A number beyond all sense is taken as it is: the block behind it never comes.
    static func titleInterval(in head: ResponseHead) -> Int64? {
        guard head.status == 200, !isEncoded(head.fields) else { return nil }
        let values = Set(head.fields.values("icy-metaint"))
        guard values.count == 1, let only = values.first, let number = ContentRange.number(only), number > 0
        else { return nil }
        return number
    }

    /// `icy-br` counts kilobits per second, and may list one for each quality.
    private static func bytesPerSecond(in fields: HeaderFields) -> Double? {
        guard let rate = fields.tokens("icy-br").first.flatMap({ ContentRange.number($0) }),
            (1...10_000).contains(rate)
        else { return nil }
        return Double(rate) * 1_000 / 8
    }
}
