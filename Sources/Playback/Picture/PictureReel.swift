import Media

/// The newest pictures of one stream, by the frames that they show. Pure.
struct PictureReel {
    /// Enough for what is written and not heard: the ring, the sink's own buffer, and what is decoded at a time.
    static let most = 100

    private struct Entry {
        var frames: Range<FrameCount>
        var picture: SoundPicture
    }

    /// In the order of their frames, none of which is in two.
    private var entries: [Entry] = []

    var count: Int { entries.count }

    /// Adds the picture of `frames`. What was there of them or behind them was dropped before anyone heard it.
    mutating func append(_ picture: SoundPicture, of frames: Range<FrameCount>) {
        forget(from: frames.lowerBound)
        entries.append(Entry(frames: frames, picture: picture))
        if entries.count > Self.most { entries.removeFirst(entries.count - Self.most) }
    }

    /// The frames from `frame` on are others now.
    mutating func forget(from frame: FrameCount) {
        while let last = entries.last, last.frames.upperBound > frame { entries.removeLast() }
    }

    mutating func removeAll() { entries = [] }

    /// The picture that shows `frame`; nil where there is none.
    func picture(at frame: FrameCount) -> SoundPicture? {
        entries.last { $0.frames.lowerBound <= frame }
            .flatMap { $0.frames.contains(frame) ? $0.picture : nil }
    }
}
