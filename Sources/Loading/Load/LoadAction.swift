package import Media

/// When an event of `ResourceLoadState` happens.
package struct LoadMoment: Sendable {
    /// On the clock of every other time here.
    package var now: Duration
    /// The contents of the store.
    package var stored: ByteRangeSet

    package init(now: Duration = .zero, stored: ByteRangeSet = ByteRangeSet()) {
        self.now = now
        self.stored = stored
    }
}

/// Something that `ResourceLoadState` decided to do.
package enum LoadAction: Equatable, Sendable {
    case startFetch(FetchPlan)
    case cancelFetch(FetchPlan.ID)
    /// The wait is over: its offset is stored, lies past the end, or comes from a live stream.
    case wakeRead(LoadReaders.WaitID)
    case failRead(LoadReaders.WaitID, MediaError)
    /// `replan` is wanted then, instead of at any earlier time that was asked for.
    case wakeAt(Duration)
    /// The resource has changed on its server; comes once.
    case declareChanged
    /// For the journal.
    case decided(JournalRecord.Decision, SafeText)
}

/// The outcome of looking for the byte of a read.
package enum ReadOutlook: Equatable, Sendable {
    case stored
    case end
    case missing
    /// The live stream has it, or will.
    case live
    case failed(MediaError)
}

/// The use of an answer's body.
package enum BodyUse: Equatable, Sendable {
    /// Its bytes belong at the offsets from `from` on; what goes beyond `upTo` was not asked for.
    case store(from: Int64, upTo: Int64)
    /// It is a live stream and is handed over.
    case live
    case discard
}

/// The consequences of an answer's head.
package struct AnswerOutcome: Equatable, Sendable {
    package var use: BodyUse
    package var actions: [LoadAction]
    /// `true` if the body may be played but not cached.
    package var forbidsKeeping = false
    /// `true` if only the bytes tell whether the file is the stored one, so that each stored byte is compared.
    package var comparesStored = false

    static func discard(_ actions: [LoadAction]) -> AnswerOutcome {
        AnswerOutcome(use: .discard, actions: actions)
    }
}
