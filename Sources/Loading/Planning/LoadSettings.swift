/// How much is fetched at a time and ahead; every number with its reason.
package struct LoadSettings: Sendable, Equatable {
    /// How far ahead of the reader the loader fetches.
    package enum ReadAhead: Sendable, Equatable {
        /// So much music, and `leastReadAhead` at the least.
        case time(Duration)
        /// So many bytes.
        case size(Int64)
        /// The whole track.
        case all
    }

    /// One minute outlives most hiccups of a line, and is what one wastes at most by leaving.
    package var readAhead = ReadAhead.time(.seconds(60))

    /// A minute of a low bit rate is little; below 1 MiB the requests get many.
    package var leastReadAhead: Int64 = 1 << 20

    /// What a read that waits asks for: 1.6 s of music at 320 kbit/s, more than the first sound needs,
    /// and over a 2 MB/s line there in 33 ms.
    package var demandWindow: Int64 = 64 << 10

    /// The first window of read-ahead, while the line's rate is not known.
    package var firstWindow: Int64 = 128 << 10

    /// The largest window. Longer ones save little, and cost more when they are cancelled.
    package var largestWindow: Int64 = 1 << 20

    /// The next window is asked for when the current one has this much left, while the line is not measured. It is
    /// after half a window, but for lines so fast that a window takes no time. More would have two windows share a
    /// thin line, which then brings late what is heard next.
    package var askNextAt: Int64 = 16 << 10

    /// The largest window of what nobody hears now (the next track's head, gaps being filled): what a more urgent
    /// need may have to share the line with.
    package var largestSpareWindow: Int64 = 256 << 10

    /// Reading on through so many bytes costs less than a new request, while the line is not measured: 80 ms at
    /// 800 kB/s. Also the most that may be left of a window that nobody wants any more for it to end by itself, so
    /// that its connection lives; on a measured line only what passes by before the next answer can come.
    package var readThrough: Int64 = 64 << 10

    /// The bounds of what is read through, whatever was measured: a decoder that looks about goes so far, and an old
    /// measure must not have one wait for long.
    package var measuredReadThrough: ClosedRange<Int64> = 4 << 10...1 << 20

    /// Of a server that takes one request at a time on a connection, two connections are used at least this often, so
    /// that one is free and warm when a seek comes. With what passes between two windows ahead it stays below the
    /// 30 s after which idle connections are closed.
    package var longestAlone = Duration.seconds(15)

    /// Two requests are only made side by side for that where the line brings this many times what is heard: half of
    /// it is then still twice as much.
    package var spareRate = 4.0

    /// When it is tried again after nothing came.
    package var retry = RetryPolicy()

    /// How many stored bytes are asked for again, and compared, where a server sends no validators.
    package var overlap: Int64 = 4 << 10

    /// The most that is taken of a body that does not say how long it is: longer than any piece of music, and
    /// small enough for a disk. What goes on beyond is a live stream, or an attack.
    package var largestUnknownBody: Int64 = 64 << 20

    package init() {}
}
