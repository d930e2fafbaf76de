import Media
import System

/// Reads sources one after another, and passes their tracks on in batches.
///
/// Most sources are read at once and make one batch. A source of many lists or folders takes longer: every two
/// seconds, the tracks that are known in order are passed on.
struct SourceReading: Sendable {
    /// A batch, and `true` if it is the last one.
    typealias Deliver = @Sendable (ResolvedTracks, Bool) -> Void

    /// Listeners notice a longer silence; shorter batches would only be more.
    static let patience = Duration.seconds(2)

    let resolver: any TrackResolver
    let clock: any MonotonicClock
    /// `true` if all tracks are passed on in one batch, at the end.
    var awaitsAll = false
    /// Called with the number of tracks read so far, every two seconds at most, if all are awaited.
    var onProgress: @Sendable (Int) -> Void = { _ in }

    /// Reads `sources`, which follow `tracks`. Returns after the last batch, which is delivered also if the task
    /// is cancelled.
    ///
    /// A source that cannot be resolved becomes a problem; the others are read.
    func run(_ sources: [String], after tracks: [Track] = [], deliver: @escaping Deliver) async {
        let batches = Batches(self, first: tracks, deliver)
        for source in sources {
            do {
                try await resolver.resolve(source) { await batches.add($0) }
            } catch {
                if Task.isCancelled { break }
                let problem = MediaError(describing: error, of: SafeText(source))
                await batches.add(ResolvedTracks(tracks: [], problems: [problem]))
            }
        }
        await batches.finish()
    }
}

/// The tracks that were read and not passed on yet. An actor, so that batches are delivered in order.
private actor Batches {
    private let reading: SourceReading
    private let deliver: SourceReading.Deliver
    private var pending: ResolvedTracks
    private var count: Int
    /// When the last batch was passed on, or the reading began.
    private var lastTime: Duration
    private var timer: Task<Void, Never>?

    init(_ reading: SourceReading, first: [Track], _ deliver: @escaping SourceReading.Deliver) {
        self.reading = reading
        self.deliver = deliver
        pending = ResolvedTracks(tracks: first)
        count = first.count
        lastTime = reading.clock.now
    }

    func add(_ part: ResolvedTracks) {
        pending.add(part)
        count += part.tracks.count
        guard timer == nil, count > 0 else { return }
        let due = lastTime + SourceReading.patience
        timer = Task { [clock = reading.clock] in
            guard (try? await clock.sleep(until: due)) != nil else { return }
            self.timeIsUp()
        }
    }

    private func timeIsUp() {
        guard timer != nil else { return }
        timer = nil
        lastTime = reading.clock.now
        guard !reading.awaitsAll else { return reading.onProgress(count) }
        deliver(pending, false)
        pending = ResolvedTracks(tracks: [])
    }

    func finish() {
        timer?.cancel()
        timer = nil
        deliver(pending, true)
    }
}
