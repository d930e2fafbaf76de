import Media
import System

// Carries out what the state wants done.
extension ResourceLoader {
    func perform(_ actions: [ResourceLoadState.Action]) {
        for action in actions {
            switch action {
            case .startFetch(let plan): startFetch(plan)
            case .cancelFetch(let id): guarded.withLock { $0.tasks[id] }?.cancel()
            case .wakeRead(let id): takeWaiter(id)?.resume()
            case .failRead(let id, let error): takeWaiter(id)?.resume(throwing: error)
            case .wakeAt(let time): wake(at: time)
            case .decided(let decision, let text):
                tell(
                    JournalRecord(
                        time: parts.clock.now,
                        resource: url.safeText,
                        event: .decision(decision, text)
                    )
                )
            case .declareChanged: break
            }
        }
    }

    /// Performs `actions`, and waits for what takes its time: a changed resource's new entry.
    func performAll(_ actions: [ResourceLoadState.Action]) async {
        perform(actions)
        if actions.contains(.declareChanged) { await onChanged(url, self) }
    }

    private func takeWaiter(_ id: ResourceLoadState.WaitID) -> CheckedContinuation<Void, any Error>? {
        guarded.withLock { $0.waiters.removeValue(forKey: id) }
    }

    private func startFetch(_ plan: FetchPlan) {
        let mayRun = guarded.withLock { guarded in
            // A seek may have cancelled it between the decision and here.
            guard !guarded.isClosed, guarded.state.isUnderWay(plan.id) else { return false }
            // Started under the lock, so that a cancel which follows finds the task.
            guarded.tasks[plan.id] = Task { await self.run(plan) }
            return true
        }
        if !mayRun { step { $0.fetchEnded(plan.id, error: nil) } }
    }

    /// The end of a fetch's task, whatever ended it. `wasAway` tells how the network was when it began.
    func finish(_ id: FetchPlan.ID, error: MediaError?, wasAway: Bool = false) {
        let report = error == nil ? nil : parts.connectivity?.report
        let network = ResourceLoadState.NetworkOutlook(
            report: report ?? ConnectivityReport(),
            wasAway: wasAway
        )
        let actions = decide { guarded in
            guarded.tasks[id] = nil
            return guarded.state.fetchEnded(id, error: error, network: network)
        }
        // A body can tell by its end how long the resource is.
        keepDescription()
        perform(actions)
    }

    private func wake(at time: Duration) {
        let earlier = guarded.withLock { guarded -> Task<Void, Never>? in
            guard !guarded.isClosed else { return nil }
            let earlier = guarded.timer
            guarded.timer = Task { [weak self, clock = parts.clock] in
                guard (try? await clock.sleep(until: time)) != nil else { return }
                self?.step { $0.timeCame() }
            }
            return earlier
        }
        earlier?.cancel()
    }

    func tell(_ record: JournalRecord) { parts.journal?.record(record) }

    /// Keeps what the answers told.
    func keepDescription() {
        describing.withLock { _ in store.describe(guarded.withLock { $0.state.description }) }
    }
}
