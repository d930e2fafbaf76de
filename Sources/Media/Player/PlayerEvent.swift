/// An event as printed in headless mode. Cases and fields are part of the events contract.
package enum PlayerEvent: Sendable, Equatable {
    case loaded(tracks: Int)
    case track(TrackReport)
    case playing(index: Int, position: Duration, isExact: Bool)
    case position(index: Int, position: Duration, duration: Duration?, isExact: Bool, buffered: Duration)
    case buffering(index: Int, position: Duration)
    case paused(index: Int, position: Duration, isExact: Bool)
    case seeked(index: Int, position: Duration, isExact: Bool)
    case notice(code: String, message: SafeText)
    /// A notice that is not a failure: a temporary problem, or a command that was carried out. Printed like
    /// any notice.
    case remark(code: String, message: SafeText)
    case ended(EndReport)
    case summary(SummaryReport)

    package struct TrackReport: Sendable, Equatable {
        /// From 1.
        package var index: Int
        package var source: SafeText
        package var tags = TrackTags()
        package var duration: Duration?
        package var isSeekable = true
        /// `true` for a live stream, whose titles change while it plays.
        package var isLive = false
        /// The name of a live stream.
        package var station: SafeText?
        /// The cached part of its bytes, 0...1; `nil` if unknown.
        package var cached: Double?

        package init(index: Int, source: SafeText) { (self.index, self.source) = (index, source) }
    }

    package struct EndReport: Sendable, Equatable {
        package enum Reason: String, Sendable {
            case finished
            case skipped
            case failed
        }

        /// From 1.
        package var index: Int
        package var reason: Reason
        /// PCM frames that reached the sink.
        package var frames: FrameCount = 0
        package var cachedBytes: Int64 = 0
        package var fetchedBytes: Int64 = 0
        package var requestCount = 0
        package var stalls = 0
        package var error: MediaError?

        package init(index: Int, reason: Reason) { (self.index, self.reason) = (index, reason) }
    }

    package struct SummaryReport: Sendable, Equatable {
        package var played = 0
        package var failed = 0
        package var cachedBytes: Int64 = 0
        package var fetchedBytes: Int64 = 0
        package var requestCount = 0
        package var stalls = 0

        package init() {}
    }
}
