package import Media

// What fetches bring.
extension ResourceLoadState {
    /// Whether the fetch was neither cancelled nor has ended.
    package func isUnderWay(_ id: FetchPlan.ID) -> Bool { fetches[id] != nil }

    /// `range` was written to the store by the fetch `id`.
    ///
    /// Counted also for a fetch that was cancelled meanwhile: its bytes are as good as any.
    package mutating func bytesStored(_ range: ByteRange, by id: FetchPlan.ID) -> [Action] {
        // Bytes that were there before are no progress: a server that always breaks off among them
        // would be asked for ever.
        let isNew = !stored.covers(range)
        stored.insert(contentsOf: range)
        noteCompared(range, by: id)
        if isNew {
            isBackgroundHeld = false
            retry.progressed()
        }
        if var fetch = fetches[id] {
            fetch.next = max(fetch.next, range.upperBound)
            fetch.hasProgress = fetch.hasProgress || isNew
            fetches[id] = fetch
            if fetch.remaining.isEmpty {
                hasWholeWindow = true
                if fetch.plan.why == .readAhead { wholeWindows += 1 }
            }
            if fetch.isWhole, length == nil, fetch.next > settings.largestUnknownBody {
                return beginHandOver(of: id)
            }
        } else if let rest = leaving[id] {
            leaving[id] = min(max(rest.lowerBound, range.upperBound), rest.upperBound)..<rest.upperBound
        }
        return wakes() + plan()
    }

    /// The store no longer has everything it had (a failed check, an eviction): it now has `stored`.
    package mutating func bytesLost(nowStored stored: ByteRangeSet) -> [Action] {
        self.stored = stored
        return plan()
    }

    /// The store was looked at again just before the request of `id` leaves, and has `stored` now: another process
    /// may have brought some of it. False where that request is not to be sent.
    package mutating func storeLooked(
        _ id: FetchPlan.ID,
        nowStored: ByteRangeSet
    ) -> (isNeeded: Bool, actions: [Action]) {
        let news = nowStored.subtracting(stored)
        stored.formUnion(news)
        guard let fetch = fetches[id] else { return (false, wakes()) }
        let isNeeded = fetch.plan.wanted.map { news.intersection(ByteRangeSet($0)).isEmpty } ?? !isComplete
        if !isNeeded { fetches[id] = nil }
        // What is still missing of it is planned anew.
        return (isNeeded, wakes() + (isNeeded ? [] : plan()))
    }

    /// The body ended as its framing told, or with `error`; `network` is what is known of it at that moment.
    package mutating func fetchEnded(
        _ id: FetchPlan.ID,
        error: MediaError?,
        network: NetworkOutlook = NetworkOutlook()
    ) -> [Action] {
        // That a cancelled one ended is no news, except to who waits for it to be gone.
        if leaving.removeValue(forKey: id) != nil { return plan() }
        guard let fetch = fetches.removeValue(forKey: id) else { return [] }
        if error == nil, fetch.isWhole, fetch.isAnswered, length == nil,
            fetch.next >= stored.ranges.last?.upperBound ?? 0
        {
            // A body without a stated length told it by ending.
            description.length = fetch.next
            retry.progressed()
            return wakes() + plan()
        }
        if fetch.hasProgress { return wakes() + plan() }
        let reason = error ?? MediaError(.cut, subject, "the server answers without sending anything")
        return attemptFailed(
            fetch,
            reason,
            isWorthWaiting: RetryPolicy.isWorthWaiting(for: reason),
            network: network
        )
    }

    /// Ends a fetch before its time.
    mutating func cancel(_ id: FetchPlan.ID) -> Action {
        if let fetch = fetches.removeValue(forKey: id) { leaving[id] = fetch.remaining }
        // Where a connection takes one request at a time it ends with a request that is ended early.
        pairedAt = nil
        return .cancelFetch(id)
    }

    mutating func cancelAll() -> [Action] { fetches.keys.sorted().map { cancel($0) } }
}

// Bodies without end.
extension ResourceLoadState {
    /// Whether the fetch `id` brings a live stream: its body is no longer to be stored.
    package func isHandingOver(_ id: FetchPlan.ID) -> Bool { isHandingOver && fetches[id] != nil }

    /// The live stream has the body now, and reads are answered from there.
    package mutating func handedOver(_ id: FetchPlan.ID) -> [Action] {
        guard isHandingOver else { return [] }
        fetches[id] = nil
        isHandingOver = false
        isLive = true
        return wakes()
    }

    /// The body of `id` has no end. What else is under way ends; the reads wait for `handedOver`.
    mutating func beginHandOver(of id: FetchPlan.ID) -> [Action] {
        isHandingOver = true
        let others = fetches.keys.sorted().filter { $0 != id }
        return others.map { cancel($0) } + wakes() + [.decided(.live, "the body goes on without end")]
    }
}
