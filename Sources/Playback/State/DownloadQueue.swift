import Media
import System

/// Decides which tracks are downloaded when. Pure.
///
/// A resource is downloaded once, however many tracks of the queue have its location. Two run at a time, the
/// first ones first. One that failed stays until it is tried again or cancelled.
///
/// One more is downloaded ahead, because the queue plays it next: `AheadPlan` chooses it, and it begins only
/// if nothing else waits. Its failure is not the user's concern before it is played.
struct DownloadQueue: Sendable {
    enum Output: Sendable, Equatable {
        /// Begins a download. Its end is reported with the number, also after `cancel`.
        case start(Int, Track)
        case cancel(Int)
        /// None waits or runs any more, those ahead left out.
        case finished(DownloadSum)
        /// No more is downloaded ahead.
        case stoppedAhead(Ahead.Stop)
        /// Downloads wait because the network is metered (`true`), or go on after that.
        case held(Bool)
    }

    enum Result: Sendable, Equatable {
        /// `isNew` is `true` if bytes were missing.
        case downloaded(isNew: Bool)
        case failed(MediaError)
        /// It was downloaded ahead, and the cache has no more room for that.
        case full
        /// The task was cancelled, because of `Output.cancel` or the end of the player.
        case cancelled
    }

    /// How far downloading ahead came.
    struct Ahead: Sendable, Equatable {
        /// The resources that were downloaded, or can't be cached, or were cancelled by the user.
        var settled: Set<ResourceLocation> = []
        /// Those that could not be loaded.
        var failed: Set<ResourceLocation> = []
        /// The failures since one was downloaded.
        var failures = 0
        /// Why nothing more is downloaded ahead; `nil` while it goes on.
        var stop: Stop?

        enum Stop: Sendable { case full, failures }
    }

    /// One begun download, until its resource is closed.
    private struct Run {
        let location: ResourceLocation
        var isCancelled = false
        /// The stored bytes when they were last looked at.
        var last: (bytes: Int64, time: Duration)?
    }

    /// Two servers, or the end of one track and the head of the next, keep the line busy; more would only
    /// finish each track later.
    static let mostRunning = 2
    /// After as many failures in a row nothing more is downloaded ahead: the server is gone or has changed.
    static let mostFailuresAhead = 10

    /// In the order in which they were added.
    private(set) var items: [DownloadReport] = []
    private(set) var ahead = Ahead()
    /// Changes with each event that may change what is downloaded ahead next.
    private(set) var revision = 0
    private var runs: [Int: Run] = [:]
    private var lastNumber = 0
    private var sum = DownloadSum()
    /// Nothing is downloaded unless the network is known to be unmetered.
    private(set) var cost = NetworkCost.unmetered
    /// `true` if the user knows that downloads wait.
    private var isHoldReported = false
    private var isOver = false

    // MARK: Events

    /// Adds `reports`, of which those that are paused wait for the user. Tracks that are paused or that
    /// failed are tried again. Returns those that were not awaited before.
    mutating func add(_ reports: [DownloadReport]) -> (added: [Track], [Output]) {
        var places: [ResourceLocation: Int] = [:]
        for (place, item) in items.enumerated() { places[item.track.location] = place }
        var added: [Track] = []
        for report in reports {
            if let place = places[report.track.location] {
                let isKnown = items[place].isAwaited && !items[place].isAhead
                items[place].isAhead = false
                if isKnown { continue }
                if !items[place].isAwaited { items[place].phase = report.phase }
            } else {
                places[report.track.location] = items.count
                items.append(report)
            }
            added.append(report.track)
        }
        if !added.isEmpty { isHoldReported = false }
        return (added, outputs())
    }

    /// Changes the downloads at `locations`; `nil` stands for all. Returns how many were changed.
    mutating func change(
        _ change: DownloadChange,
        _ locations: Set<ResourceLocation>?
    ) -> (count: Int, [Output]) {
        let chosen = items.filter { item in
            guard locations?.contains(item.track.location) ?? true else { return false }
            return switch (change, item.phase) {
            case (.pause, .waiting), (.pause, .running), (.resume, .paused), (.retry, .failed), (.cancel, _):
                true
            default: false
            }
        }
        let chosenLocations = Set(chosen.map(\.track.location))
        let cancelled = chosen.flatMap { cancelRuns(at: $0.track.location) }
        if change == .cancel {
            ahead.settled.formUnion(chosenLocations)
            items.removeAll { chosenLocations.contains($0.track.location) }
        } else {
            for place in items.indices where chosenLocations.contains(items[place].track.location) {
                stop(place, as: change == .pause ? .paused : .waiting)
            }
        }
        return (chosen.count, cancelled + outputs())
    }

    /// Downloads `track` ahead, instead of the one before; `nil` if none is wanted. One that was settled
    /// since it was chosen is not downloaded again.
    mutating func goAhead(_ track: Track?) -> [Output] {
        var cancelled: [Output] = []
        let place = items.firstIndex(where: \.isAhead)
        if let place {
            let old = items[place].track.location
            guard old != track?.location else { return [] }
            cancelled = cancelRuns(at: old)
            items.remove(at: place)
        }
        let isWanted = track.map { ahead.stop == nil && !settledAhead.contains($0.location) } ?? false
        if isWanted, let track { items.append(DownloadReport(track, isAhead: true)) }
        // Without a change the revision stays, or the plan, which depends on it, would be made for ever.
        guard isWanted || place != nil else { return [] }
        return cancelled + outputs()
    }

    /// Forgets how far downloading ahead came.
    mutating func restartAhead() {
        ahead = Ahead()
        isHoldReported = false
        revision += 1
    }

    /// The cost of the network is known, or has changed. On a metered one, downloads wait, also those that
    /// run: what they have fetched stays cached.
    mutating func costChanged(to new: NetworkCost) -> [Output] {
        guard exchange(&cost, with: new) != new else { return [] }
        var cancelled: [Output] = []
        if new == .metered {
            for place in items.indices where items[place].phase == .running {
                cancelled += cancelRuns(at: items[place].track.location)
                stop(place, as: .waiting)
            }
        }
        return cancelled + outputs()
    }

    /// The network is back: what could not be loaded ahead is tried again.
    mutating func networkReturned() {
        ahead.failed = []
        ahead.failures = 0
        if ahead.stop == .failures { ahead.stop = nil }
        revision += 1
    }

    /// `true` if the resource is downloaded only because the queue plays it next.
    func isAhead(_ location: ResourceLocation) -> Bool {
        place(of: location).map { items[$0].isAhead } ?? false
    }

    /// The resources that downloading ahead passes over: those that are settled, and those that the user
    /// wants.
    var settledAhead: Set<ResourceLocation> {
        ahead.settled.union(ahead.failed).union(items.filter { !$0.isAhead }.map(\.track.location))
    }

    /// The resource at `location` is about to be opened for playing: its download ends, and begins again
    /// afterwards.
    mutating func giveBack(_ location: ResourceLocation) -> [Output] {
        let cancelled = cancelRuns(at: location)
        if let place = place(of: location), items[place].phase == .running { stop(place, as: .waiting) }
        return cancelled + outputs()
    }

    /// Download `number` has ended, and its resource is closed.
    mutating func ended(_ number: Int, _ result: Result) -> [Output] {
        guard let run = runs.removeValue(forKey: number) else { return [] }
        let before = ahead.stop
        if !run.isCancelled, let place = place(of: run.location) {
            if items[place].isAhead, result != .cancelled {
                items.remove(at: place)
                settleAhead(run.location, result)
            } else {
                settle(place, result)
            }
        }
        let stop = ahead.stop == before ? nil : ahead.stop
        return outputs() + (stop.map { [.stoppedAhead($0)] } ?? [])
    }

    private mutating func settle(_ place: Int, _ result: Result) {
        switch result {
        case .downloaded(let isNew):
            if isNew { sum.downloaded += 1 } else { sum.present += 1 }
            ahead.settled.insert(items[place].track.location)
            items.remove(at: place)
        case .failed(let error):
            sum.failed += 1
            sum.firstFailure = sum.firstFailure ?? error
            stop(place, as: .failed(error))
        // The user asked for it after it had begun: now it may evict more.
        case .full, .cancelled: stop(place, as: .waiting)
        }
    }

    private mutating func settleAhead(_ location: ResourceLocation, _ result: Result) {
        switch result {
        case .downloaded: ahead.failures = 0
        // Live streams, lists and what may not be stored say nothing about the server.
        case .failed(let error) where error.code == .notCached || error.code == .notAudio: break
        case .failed:
            ahead.failures += 1
            if ahead.failures >= Self.mostFailuresAhead { ahead.stop = .failures }
            ahead.failed.insert(location)
            return
        case .full:
            ahead.stop = .full
            return
        case .cancelled: return
        }
        ahead.settled.insert(location)
    }

    /// Notes how much of download `number` is stored.
    mutating func progressed(_ number: Int, _ report: LoadReport, at now: Duration) {
        guard let run = runs[number], !run.isCancelled, let place = place(of: run.location) else { return }
        let bytes = report.stored.byteCount
        items[place].stored = report.stored
        items[place].inFlight = report.inFlight
        items[place].length = report.length
        if let last = run.last {
            guard now > last.time else { return }
            let rate = Double(max(0, bytes - last.bytes)) / (now - last.time).seconds
            // The mean of the last seconds, so that the time left does not jump.
            items[place].rate = items[place].rate.map { ($0 + rate) / 2 } ?? rate
        }
        runs[number]?.last = (bytes, now)
    }

    /// The network is away: nothing is on its way until a download progresses again.
    mutating func networkLost() {
        for place in items.indices {
            items[place].inFlight = []
            items[place].rate = nil
        }
    }

    /// Begins no more downloads; those that are not finished stay in `items`, so that they can be saved.
    mutating func finish() { isOver = true }

    // MARK: Decisions

    private func place(of location: ResourceLocation) -> Int? {
        items.firstIndex { $0.track.location == location }
    }

    private mutating func stop(_ place: Int, as phase: DownloadReport.Phase) {
        items[place].phase = phase
        items[place].inFlight = []
        items[place].rate = nil
    }

    private mutating func cancelRuns(at location: ResourceLocation) -> [Output] {
        let numbers = runs.filter { $0.value.location == location && !$0.value.isCancelled }.map(\.key)
        for number in numbers { runs[number]?.isCancelled = true }
        return numbers.map { .cancel($0) }
    }

    private mutating func outputs() -> [Output] {
        revision += 1
        guard !isOver else { return [] }
        var outputs: [Output] = []
        while cost == .unmetered, runs.count < Self.mostRunning, let place = nextPlace {
            lastNumber += 1
            runs[lastNumber] = Run(location: items[place].track.location)
            items[place].phase = .running
            outputs.append(.start(lastNumber, items[place].track))
        }
        if sum != DownloadSum(), !items.contains(where: { $0.isAwaited && !$0.isAhead }) {
            outputs.append(.finished(sum))
            sum = DownloadSum()
        }
        return outputs + holdReport()
    }

    private mutating func holdReport() -> [Output] {
        let isHeld = cost == .metered && items.contains { $0.phase == .waiting }
        guard isHeld != isHoldReported, isHeld || cost == .unmetered else { return [] }
        isHoldReported = isHeld
        return [.held(isHeld)]
    }

    private var nextPlace: Int? {
        items.firstIndex { canStart($0) && !$0.isAhead } ?? items.firstIndex { canStart($0) }
    }

    /// A resource is opened again only after its cancelled download has closed it.
    private func canStart(_ item: DownloadReport) -> Bool {
        item.phase == .waiting && !runs.values.contains { $0.location == item.track.location }
    }
}

/// What became of the downloads since none was awaited.
struct DownloadSum: Sendable, Equatable {
    var downloaded = 0
    /// Those of which nothing was missing.
    var present = 0
    var failed = 0
    var firstFailure: MediaError?
}
