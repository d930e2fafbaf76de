import CPulse
package import Media

/// The heard position of one stream, for which the server is queried now and then.
///
/// Every method is called with the main loop's lock held. libpulse could query by itself
/// (`PA_STREAM_AUTO_TIMING_UPDATE`), but would do so while corked too, which would wake up a paused player
/// again and again.
final class PulseClock: @unchecked Sendable {
    // Unchecked: all variables are touched with the main loop's lock held.

    /// The number of writes between two queries: with the server's smallest requests, half a second.
    private static let writesPerTiming = 10

    /// No sink has a longer latency; after quick pauses, servers return larger, bogus values.
    private static let longestLatencyMicroseconds: pa_usec_t = 10_000_000

    private let stream: OpaquePointer
    private let format: AudioFormat
    var position: PulsePosition
    /// `true` while the stream plays: from `started` to `stopped`.
    private(set) var isTaking = false
    private var writesSinceTiming = 0
    private var isAsking = false

    init(of stream: OpaquePointer, format: AudioFormat) {
        self.stream = stream
        self.format = format
        position = PulsePosition(format: format)
    }

    /// Frames that were heard or flushed, as exactly as the server's clock allows.
    var heard: FrameCount {
        if isTaking {
            position.moved(to: Self.now)
            // While the position stands still, query the clock, so that its movement is noticed at once.
            if !position.isRunning, !isAsking, !isSuspended { ask() }
        }
        return position.heard
    }

    /// Frames were written to the server: queries its clock every tenth time.
    func wrote() {
        writesSinceTiming += 1
        if writesSinceTiming >= Self.writesPerTiming { ask() }
    }

    /// Queries the server's clock; `answered` follows.
    func ask() {
        guard isReady else { return }
        writesSinceTiming = 0
        isAsking = true
        forget(pa_stream_update_timing_info(stream, nil, nil))
    }

    /// The reply to a query of the server's clock has arrived.
    func answered() {
        isAsking = false
        // A reply that was on its way when the stream was corked is outdated.
        guard isTaking, isReady, !isSuspended, let info = pa_stream_get_timing_info(stream)?.pointee else {
            return
        }
        guard info.write_index_corrupt == 0, info.read_index_corrupt == 0 else { return }
        let (queued, isOutside) = info.write_index.subtractingReportingOverflow(info.read_index)
        guard !isOutside else { return }
        let inSink = min(info.sink_usec, Self.longestLatencyMicroseconds)
        // The reply is as old as its transport took, and a playing sink has advanced since.
        let age = info.playing != 0 ? min(info.transport_usec, inSink) : 0
        position.measured(
            latency: max(0, queued) / Int64(format.bytesPerFrame)
                + format.frames(in: .microseconds(Int64(inSink - age))),
            isPlaying: info.playing != 0,
            at: Self.now
        )
    }

    func suspensionChanged() {
        if isSuspended { stand() } else { ask() }
    }

    /// The stream is about to play.
    func started() { isTaking = true }

    /// The stream was corked, or is gone.
    func stopped() {
        stand()
        isTaking = false
    }

    private func stand() {
        if isTaking { position.moved(to: Self.now) }
        position.stopped()
    }

    private var isReady: Bool { pa_stream_get_state(stream) == PA_STREAM_READY }

    /// `true` if the sink is suspended: the stream lives, but its time stands still.
    private var isSuspended: Bool { isReady && pa_stream_is_suspended(stream) > 0 }

    /// libpulse's clock, which, like sinks, stops while the machine sleeps.
    private static var now: Duration { .microseconds(Int64(clamping: pa_rtclock_now())) }
}

/// The part of the frames taken by the server that was heard.
///
/// The server reports its latency now and then; in between, the position advances with time, as long as the
/// server reports that it plays. Until then it stands still: an idle sink may hold two seconds of silence
/// when a stream starts, and libpulse's own interpolation, which cannot go back, counts that silence as
/// music. The result never goes back and never exceeds the frames taken.
package struct PulsePosition: Sendable {
    /// Frames taken since the stream was created.
    package private(set) var taken: FrameCount = 0
    /// Frames that were heard or flushed.
    package private(set) var heard: FrameCount = 0
    /// The server's last report: the number of frames heard at a moment, negative while silence is played
    /// before them. `nil` while the position stands still.
    private var running: (heard: FrameCount, since: Duration)?
    private let format: AudioFormat

    /// `true` if the position moves with time.
    package var isRunning: Bool { running != nil }

    package init(format: AudioFormat) { self.format = format }

    package mutating func took(_ count: FrameCount) { taken += count }

    /// The server reported that at `now`, `latency` of the frames taken were still to be heard, and that the
    /// sink plays if `isPlaying`.
    package mutating func measured(latency: FrameCount, isPlaying: Bool, at now: Duration) {
        running = isPlaying ? (taken - latency, now) : nil
        advance(to: taken - latency)
    }

    /// Time has passed until `now`.
    package mutating func moved(to now: Duration) {
        guard let running, now > running.since else { return }
        advance(to: running.heard + format.frames(in: now - running.since))
    }

    /// The stream was corked: the position stands still until the server reports that it plays.
    package mutating func stopped() { running = nil }

    /// The remaining frames were dropped, or heard to the end.
    package mutating func flushed() {
        running = nil
        heard = taken
    }

    private mutating func advance(to frames: FrameCount) { heard = max(heard, min(taken, frames)) }
}
