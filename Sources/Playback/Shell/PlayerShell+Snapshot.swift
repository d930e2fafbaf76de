import Media
import System

// What is shown.
extension PlayerShell {
    private var currentResource: TrackResource? { state.currentPass.flatMap { passes.resource(of: $0) } }

    /// Music that is there behind the position: stored without a gap from the byte being heard. What is
    /// decoded already was stored before.
    var buffered: Duration { currentResource.map { buffered($0.report) } ?? .zero }

    private func buffered(_ report: LoadReport) -> Duration {
        guard let info = state.currentInfo, info.bytesPerSecond > 0, let offset = byteOffset(report),
            let run = report.stored.run(from: offset)
        else { return .zero }
        return .seconds(Double(run.count) / info.bytesPerSecond)
    }

    /// The part of a track that is here, 0...1; nil while that is not known.
    func cachedPart(ofTrack place: Int) -> Double? {
        guard state.queue.tracks.indices.contains(place) else { return nil }
        let track = state.queue.tracks[place]
        guard case .web = track.location else { return nil }
        if let resource = currentResource, resource.track.id == track.id, let length = resource.report.length
        {
            return Availability(storedBytes: resource.report.stored.byteCount, length: length).fraction
        }
        return kept?.value[track.id]?.fraction
    }

    private func byteOffset(_ report: LoadReport) -> Int64? {
        guard let info = state.currentInfo, info.bytesPerSecond > 0 else { return nil }
        let offset = info.audioStart + Int64(min(state.position.seconds * info.bytesPerSecond, 1e15))
        guard let length = report.length else { return offset }
        return max(0, min(offset, length - 1))
    }

    /// A snapshot shares the failures with the state, which copies them all to add one. While one track after
    /// another fails, they are shown in steps that grow with their number, so that each costs the same.
    private func updateShownFailures() {
        let news = abs(state.failures.count - shownFailures.count)
        if isOver || state.snapshotState != .opening || news > state.failures.count / 16 {
            shownFailures = state.failures
        }
    }

    func snapshot() -> PlayerSnapshot {
        var snapshot = PlayerSnapshot()
        let load = currentResource?.report ?? LoadReport()
        snapshot.state = state.snapshotState
        snapshot.tracks = state.queue.tracks
        snapshot.isIncomplete = state.queue.isIncomplete
        snapshot.queueRevision = state.queue.revision
        snapshot.learned = state.learned
        snapshot.currentIndex = state.queue.current
        snapshot.info = state.currentInfo
        snapshot.position = state.position
        snapshot.isExact = state.isExact
        snapshot.duration = state.duration
        snapshot.buffered = buffered(load)
        snapshot.load = load
        snapshot.retryIn = load.wait.map { max(.zero, $0.retryAt - clock.now) }
        snapshot.connectivity = state.connectivity
        snapshot.availability = kept?.value ?? [:]
        snapshot.byteOffset = byteOffset(load)
        snapshot.volume = state.volume
        snapshot.isMuted = state.isMuted
        snapshot.isShuffled = state.queue.isShuffled
        snapshot.repeatMode = state.queue.repeatMode
        snapshot.gainMode = state.gainMode
        snapshot.gainDecibels = state.gainDecibels
        updateShownFailures()
        snapshot.failures = shownFailures
        snapshot.messages = state.messages
        snapshot.totalCachedBytes = ledger.summary.cachedBytes + load.cachedBytes
        snapshot.totalFetchedBytes = ledger.summary.fetchedBytes + load.fetchedBytes
        snapshot.isOver = isOver
        return snapshot
    }
}
