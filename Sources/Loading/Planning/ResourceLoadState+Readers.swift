package import Media

// What readers do.
extension ResourceLoadState {
    package mutating func readerOpened(_ id: ReaderID) {
        readers[id] = Reader()
    }

    /// A read looks at `offset`. When that is missing, the reader counts as waiting from now on.
    package mutating func readRequested(_ id: ReaderID, at offset: Int64) -> [Action] {
        guard var reader = readers[id] else { return [] }
        reader.offset = offset
        if reader.isRevoked { reader.readAhead = nil }
        reader.isRevoked = false
        readers[id] = reader
        guard outlook(at: offset) == .missing else {
            readers[id]?.wait = nil
            return plan()
        }
        readers[id]?.wait = WaitID(value: nextWaitID)
        nextWaitID += 1
        return plan(newcomer: id)
    }

    /// The wait that the reader is in; nil when it waits for nothing.
    package func wait(of id: ReaderID) -> WaitID? { readers[id]?.wait }

    /// Whether the reader is still there.
    package func hasReader(_ id: ReaderID) -> Bool { readers[id] != nil }

    /// The waiting task was cancelled. What it wanted goes on until the reader's next read or its close
    /// tells where it wants to be: a seek's first act is to cancel, and its target may lie near.
    package mutating func readCancelled(_ id: ReaderID) {
        readers[id]?.wait = nil
    }

    /// The reader plays so many bytes a second; with 0 it is about to go elsewhere, perhaps not far: what is under
    /// way ahead of it goes on until its next read.
    package mutating func readAheadAllowed(_ id: ReaderID, bytesPerSecond: Double) -> [Action] {
        let ahead = readAhead(bytesPerSecond: bytesPerSecond)
        readers[id]?.isRevoked = bytesPerSecond <= 0
        if bytesPerSecond > 0 {
            readers[id]?.readAhead = ahead
            readers[id]?.bytesPerSecond = bytesPerSecond
        }
        return plan()
    }

    /// A patient reader's reads count as the head of the next track does.
    package mutating func patienceSet(_ id: ReaderID, _ isPatient: Bool) -> [Action] {
        readers[id]?.isPatient = isPatient
        return plan()
    }

    package mutating func prefetchRequested(_ id: ReaderID, _ range: ByteRange) -> [Action] {
        guard !range.isEmpty else { return [] }
        readers[id]?.prefetches.append(range)
        return plan()
    }

    /// The reader wants all that is missing, when nobody wants anything more urgent.
    package mutating func fillRequested(_ id: ReaderID) -> [Action] {
        readers[id]?.fills = true
        return plan()
    }

    /// The reader is gone; what only it wanted ends, also in mid-body.
    package mutating func readerClosed(_ id: ReaderID) -> [Action] {
        readers[id] = nil
        guard readers.isEmpty else { return plan() }
        return cancelAll()
    }

    /// Wakes every read whose wait is over.
    mutating func wakes() -> [Action] {
        var actions: [Action] = []
        for id in readers.keys.sorted() {
            guard let reader = readers[id], let wait = reader.wait else { continue }
            switch outlook(at: reader.offset) {
            case .missing: continue
            case .stored, .end, .live: actions.append(.wakeRead(wait))
            case .failed(let error): actions.append(.failRead(wait, error))
            }
            readers[id]?.wait = nil
        }
        return actions
    }

    /// Fails the reads that wait and for which `isMeant` holds at their offset.
    mutating func failReads(_ error: MediaError, where isMeant: (Int64) -> Bool) -> [Action] {
        var actions: [Action] = []
        for id in readers.keys.sorted() {
            guard let reader = readers[id], let wait = reader.wait, isMeant(reader.offset) else { continue }
            readers[id]?.wait = nil
            actions.append(.failRead(wait, error))
        }
        return actions
    }

    private func readAhead(bytesPerSecond: Double) -> Int64 {
        switch settings.readAhead {
        case .all: .max / 4
        case .size(let size): max(0, size)
        case .time(let time):
            max(settings.leastReadAhead, Int64(min(time.seconds * max(0, bytesPerSecond), 1e15)))
        }
    }
}
