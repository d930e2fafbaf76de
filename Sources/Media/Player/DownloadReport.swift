/// A track that is to be downloaded, is being downloaded, or could not be.
package struct DownloadReport: Sendable, Equatable {
    package enum Phase: Sendable, Equatable {
        case waiting
        case running
        /// By the user.
        case paused
        case failed(MediaError)
    }

    package let track: Track
    /// `true` if it is downloaded because the queue plays it next (`AheadGoal`), not for itself.
    package var isAhead: Bool
    package var phase = Phase.waiting
    /// The stored bytes when they were last looked at, about once a second while it runs.
    package var stored = ByteRangeSet()
    /// The bytes that requests in progress have yet to deliver; empty unless it runs.
    package var inFlight: [ByteRange] = []
    /// In bytes; `nil` if unknown.
    package var length: Int64?
    /// Bytes per second in the last seconds; `nil` if not measured.
    package var rate: Double?

    package init(_ track: Track, isAhead: Bool = false, phase: Phase = .waiting) {
        self.track = track
        self.isAhead = isAhead
        self.phase = phase
    }

    /// The time that the missing bytes take at the present rate; `nil` if unknown.
    package var timeLeft: Duration? {
        guard let length, let rate, rate >= 1 else { return nil }
        return .seconds(Double(max(0, length - stored.byteCount)) / rate)
    }

    /// `true` if it receives bytes, and does not only wait for the connection.
    package var isMoving: Bool { phase == .running && (!inFlight.isEmpty || (rate ?? 0) >= 1_000) }

    /// `true` if its end is awaited: it waits or runs.
    package var isAwaited: Bool { phase == .waiting || phase == .running }
}

extension PlayerSnapshot {
    /// The running download of the resource of `track`; `nil` if none runs.
    package func runningDownload(of track: Track) -> DownloadReport? {
        downloads.first { $0.phase == .running && $0.track.location == track.location }
    }
}

/// A change of downloads by the user.
package enum DownloadChange: String, Sendable, CaseIterable {
    /// Stops those that wait or run until `resume`; what was fetched stays cached.
    case pause
    case resume = "continue"
    /// Tries those again that failed.
    case retry
    /// Forgets them; what was fetched stays cached.
    case cancel
}

/// The downloads that a command concerns.
package enum DownloadChoice: Sendable, Hashable {
    case all
    /// Those of tracks of the queue.
    case numbers(TrackNumbers)
    case at(ResourceLocation)
}
