import Media
import System

// What it tells.
extension ResourceLoader {
    /// What was spent for this resource before it was opened.
    func count(requests: Int, bytes: Int64) {
        guarded.withLock { guarded in
            guarded.counters.requestCount += requests
            guarded.counters.fetchedBytes += bytes
        }
    }

    /// What is known of the line to the resource's server.
    var measure: LineMeasure { guarded.withLock { $0.state.measure } }

    var report: LoadReport {
        let isKept = store.isPersistent
        var (report, live) = guarded.withLock { guarded in
            var report = LoadReport()
            report.length = guarded.state.length
            report.stored = guarded.state.stored
            report.inFlight = guarded.state.inFlight
            report.cachedBytes = guarded.counters.cachedBytes
            report.fetchedBytes = guarded.counters.fetchedBytes
            report.requestCount = guarded.counters.requestCount
            report.bytesPerSecond = guarded.state.measure.bytesPerSecond
            report.wait = guarded.state.wait
            let seekability = guarded.state.description.seekability(
                isComplete: guarded.state.isComplete,
                isLive: guarded.live != nil
            )
            report.isSeekable = seekability == .anywhere
            report.isKept = isKept
            return (report, guarded.live)
        }
        live?.add(to: &report)
        return report
    }
}
