import Media

/// The lengths of requests and of the read-ahead, each with its reason.
package struct LoadSettings: Sendable, Equatable {
    /// The length of the read-ahead.
    package enum ReadAhead: Sendable, Equatable {
        /// This much music, but at least `leastReadAhead`.
        case time(Duration)
        /// This many bytes.
        case size(Int64)
        /// The whole track.
        case all

        /// The time that a stream of segments is read ahead, whose size is not known before: for a number of
        /// bytes a minute, and at most an hour.
        package var duration: Duration {
            switch self {
            case .time(let time): min(time, .seconds(3_600))
            case .size: .seconds(60)
            case .all: .seconds(3_600)
            }
        }
    }

    /// A minute bridges most network interruptions, and limits how much is wasted when a track is skipped.
    package var readAhead = ReadAhead.time(.seconds(60))

    /// The least read-ahead by time: at a low bit rate a minute has few bytes, so fetching only that would
    /// need many small requests.
    package var leastReadAhead: Int64 = 1 << 20

    /// The window of a waiting read: 1.6 s of music at 320 kbit/s, which is more than the first sound needs,
    /// and takes 33 ms at 2 MB/s. If half a second of the music is known to take more bytes than this, the
    /// window is half a second.
    package var demandWindow: Int64 = 64 << 10
    /// An announced read of at most this many bytes is a sample: nothing beyond it is requested.
    package var largestSample: Int64 = 4 << 10

    /// The rate of the music that the name of its URL suggests; 0 if it suggests none in particular. It only
    /// sets the length of the first window.
    package var likelyBytesPerSecond = 0.0

    /// A high estimate of the rate of uncompressed music: stereo with 24 bits at 96 kHz has 0.6 MB/s, for
    /// which 64 KiB are not even half of the first sound.
    private static let uncompressedBytesPerSecond = 1_048_576.0
    /// The same for FLAC, which takes about half of that, and has sample rates of up to 192 kHz.
    private static let losslessBytesPerSecond = 524_288.0

    /// The first window of read-ahead, while the rate is not measured, and the least of a download.
    package var firstWindow: Int64 = 128 << 10

    /// The largest window. Longer ones save little, and waste more when they are cancelled.
    package var largestWindow: Int64 = 1 << 20

    /// While the rate is not measured, the next window is requested when the current one has this much left.
    /// With more, two windows would share a slow connection, and the bytes that play next would arrive too
    /// late.
    package var askNextAt: Int64 = 16 << 10

    /// The largest window of the next track's head: a more urgent request may have to share the connection
    /// with it.
    package var largestSpareWindow: Int64 = 256 << 10

    /// While the rate is not measured, continuing through a gap of this many bytes counts as cheaper than a
    /// new request: 80 ms at 800 kB/s. Also, an unwanted window with at most this much left is not cancelled,
    /// which keeps its connection open.
    package var readThrough: Int64 = 64 << 10

    /// The limits of the gap that is read through, whatever was measured. A decoder that searches for a frame
    /// jumps by about the lower limit; the upper limit keeps an outdated measurement from making a read wait
    /// for long.
    package var measuredReadThrough: ClosedRange<Int64> = 4 << 10...1 << 20

    /// If a server takes one request at a time on a connection, a second connection is used at least this
    /// often, so that a seek finds one free and warm. It stays below the 30 s after which idle connections
    /// are closed.
    package var longestAlone = Duration.seconds(15)

    /// If the rate of the network is known, the second connection (see `longestAlone`) is used only if that
    /// rate is at least this many times the rate of the music: half of it is then still twice the rate of the
    /// music.
    package var spareRate = 4.0

    /// A request that was overtaken by another one waits at most this long for its response, or longer on a
    /// slow connection. Then it is sent on the connection of the other one. Buffered music bridges this time.
    package var longestStarving = Duration.seconds(1)

    /// `true` if no redirect to another host is followed.
    package var staysOnHost = false

    /// The policy for retrying failed requests.
    package var retry = RetryPolicy()

    /// How many stored bytes are requested again and compared if a server sends no validators.
    package var overlap: Int64 = 4 << 10

    /// The most bytes to store of a body without a stated length: more than any track has, and few enough for
    /// a disk. A longer body is a live stream, or an attack.
    package var largestUnknownBody: Int64 = 64 << 20

    package init() {}

    func adapted(to url: WebURL) -> LoadSettings {
        var settings = self
        switch AudioKind.byName(url.path) {
        case .wave, .aiff: settings.likelyBytesPerSecond = Self.uncompressedBytesPerSecond
        case .flac: settings.likelyBytesPerSecond = Self.losslessBytesPerSecond
        default: break
        }
        return settings
    }

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
