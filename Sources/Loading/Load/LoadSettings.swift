import Media

/// How much is fetched at a time and ahead; every number with its reason.
package struct LoadSettings: Sendable, Equatable {
    /// How far ahead of the reader the loader fetches.
    package enum ReadAhead: Sendable, Equatable {
        /// So much music, but `leastReadAhead` at least.
        case time(Duration)
        /// So many bytes.
        case size(Int64)
        /// The whole track.
        case all
    }

    /// A minute bridges most hiccups of a line, and is the most that skipping a track wastes.
    package var readAhead = ReadAhead.time(.seconds(60))

    /// A minute of a low bit rate is little; with less than 1 MiB there would be many requests.
    package var leastReadAhead: Int64 = 1 << 20

    /// The window of a waiting read: 1.6 s of music at 320 kbit/s, which is more than the first sound needs, and takes a
    /// line of 2 MB/s 33 ms.
    package var demandWindow: Int64 = 64 << 10

    /// The first window of read-ahead, while the line is not measured.
    package var firstWindow: Int64 = 128 << 10

    /// Longer windows save little, and waste more when they are cancelled.
    package var largestWindow: Int64 = 1 << 20

    /// While the line is not measured, the next window is requested when the current one has this much left. More would
    /// let two windows share a slow line, which then brings late what plays next.
    package var askNextAt: Int64 = 16 << 10

    /// The largest window of what does not play now (the next track's head, background fetches): a more urgent request
    /// may have to share the line with it.
    package var largestSpareWindow: Int64 = 256 << 10

    /// While the line is not measured, reading on through so many bytes costs less than a new request: 80 ms at
    /// 800 kB/s. Also the most that may be left of an unwanted window for it to end by itself, which keeps its
    /// connection.
    package var readThrough: Int64 = 64 << 10

    /// The bounds of what is read through, whatever was measured: a decoder that looks about jumps by the lower one, and
    /// an outdated measurement must not make a read wait for long.
    package var measuredReadThrough: ClosedRange<Int64> = 4 << 10...1 << 20

    /// If a server takes one request at a time on a connection, a second connection is used at least this often, so that
    /// a seek finds one free and warm. It stays below the 30 s after which idle connections are closed.
    package var longestAlone = Duration.seconds(15)

    /// Two requests share the line for that only if it brings so many times what plays: half of it is then still twice
    /// as much.
    package var spareRate = 4.0

    /// When failed requests are tried again.
    package var retry = RetryPolicy()

    /// How many stored bytes are fetched again and compared if a server sends no validators.
    package var overlap: Int64 = 4 << 10

    /// The most that is stored of a body without a stated length: longer than any track, and small enough for a disk.
    /// A body that goes on beyond is a live stream, or an attack.
    package var largestUnknownBody: Int64 = 64 << 20

    package init() {}

    /// How many bytes are fetched ahead of music of this rate.
    func readAheadBytes(at bytesPerSecond: Double) -> Int64 {
        switch readAhead {
        case .all: .max / 4
        case .size(let size): max(0, size)
        case .time(let time):
            max(leastReadAhead, Int64(min(time.seconds * max(0, bytesPerSecond), 1e15)))
        }
    }
}
