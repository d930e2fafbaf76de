import Media

/// What opening a stream makes: the handle that decodes it, and the map that grows with every decoded frame.
///
/// A class, so that passing it on copies a reference and `map` is always changed in place. A second owner of
/// the map's table would have the whole table copied at the next point that is noted, which makes
/// decoding a track quadratic in its length.
final class OpenStream {
    let handle: FeedHandle
    var map: StreamMap
    /// What the tags that lead say of loudness.
    private let tagged: Loudness

    init(handle: FeedHandle, map: StreamMap, tagged: Loudness) {
        self.handle = handle
        self.map = map
        self.tagged = tagged
    }

    /// What is said of loudness in all places: by the tags that lead, then by those at the end, then by the header,
    /// which knows nothing of what was done to the file later. Nil where nothing is.
    func loudness(tail: Loudness = Loudness()) -> Loudness? {
        let all = tagged.filled(from: tail).filled(from: map.xing?.loudness ?? Loudness())
        return all.isEmpty ? nil : all
    }
}
