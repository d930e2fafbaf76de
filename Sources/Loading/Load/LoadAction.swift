package import Media

/// The state of everything else at an event of `ResourceLoadState`.
package struct LoadMoment: Sendable {
    /// The time, on the same clock as all other times here.
    var now: Duration
    /// The contents of the store.
    package var stored: ByteRangeSet
    var network = ConnectivityReport()
    /// The most urgent need of other resources; while it lasts, this resource begins only requests at least
    /// as urgent. `nil` if they need nothing.
    var othersNeed: Urgency?

    package init(now: Duration = .zero, stored: ByteRangeSet = ByteRangeSet()) {
        self.now = now
        self.stored = stored
    }
}

/// Something that `ResourceLoadState` decided to do.
package enum LoadAction: Equatable, Sendable {
    case startFetch(FetchPlan)
    case cancelFetch(FetchPlan.ID)
    /// The wait is over: its offset is stored, past the end, or provided by a live stream.
    case wakeRead(LoadReaders.WaitID)
    case failRead(LoadReaders.WaitID, MediaError)
    /// Call `replan` at this time; replaces any time requested before.
    case wakeAt(Duration)
    /// The resource has changed on its server; sent once.
    case declareChanged
    /// An entry for the journal.
    case decided(JournalRecord.Decision, SafeText)
}

/// The result of looking for the byte that a read needs.
package enum ReadOutlook: Equatable, Sendable {
    case stored
    case end
    case missing
    /// The live stream has the byte, or will have it.
    case live
    case failed(MediaError)
}

/// How the body of a response is used.
package enum BodyUse: Equatable, Sendable {
    /// Store its bytes at the offsets from `from` on; bytes beyond `upTo` were not requested.
    case store(from: Int64, upTo: Int64)
    /// The body is a live stream and is handed over.
    case live
    case discard
}

/// The consequences of a response's head.
package struct AnswerOutcome: Equatable, Sendable {
    package var use: BodyUse
    package var actions: [LoadAction]
    /// `true` if the body may be played but not cached.
    package var forbidsStoring = false
    /// `true` if only the bytes can show that the file is the stored one, so that received bytes are compared
    /// with stored ones.
    package var comparesStored = false

    static func discard(_ actions: [LoadAction]) -> AnswerOutcome {
        AnswerOutcome(use: .discard, actions: actions)
    }
}
