/// What opening a stream makes: the handle that decodes it, and the map that grows with every decoded frame.
///
/// A class, so that passing it on copies a reference and `map` is always changed in place. A second owner of
/// the map's table would have the whole table copied at the next point that is noted, which makes
/// decoding a track quadratic in its length.
final class OpenStream {
    let handle: FeedHandle
    var map: StreamMap

    init(handle: FeedHandle, map: StreamMap) {
        self.handle = handle
        self.map = map
    }
}
