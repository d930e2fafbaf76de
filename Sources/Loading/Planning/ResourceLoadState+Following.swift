import Media

// Windows that are asked for while the bytes they are compared with are still on their way.
extension ResourceLoadState {
    /// Whether the fetch `id` has to wait before it may bring anything.
    package func isHeld(_ id: FetchPlan.ID) -> Bool { fetches[id]?.isHeld ?? false }

    /// Whether the next window may be asked for from `offset` on while another one comes. Without validators it
    /// begins with the last bytes of that one, and waits for them; while something else is to be compared first,
    /// what comes of that is awaited.
    func mayAskAhead(at offset: Int64) -> Bool {
        !comparesBytes || (uncompared == nil && comingBytes(before: offset) != nil)
    }

    /// The bytes that end at `offset`, as far as they are stored or brought by a request that ends there; nil where
    /// there is no such request.
    func comingBytes(before offset: Int64) -> ByteRange? {
        let leader = fetches.values.first { leads($0, to: offset) && !$0.remaining.isEmpty }
        guard let leader else { return nil }
        let coming = leader.remaining
        let before = storedBytes(before: coming.lowerBound)
        let start = before.isEmpty ? coming.lowerBound : before.lowerBound
        return max(start, offset - settings.overlap)..<offset
    }

    /// Whether a window at `offset` would only be asked for to be held behind another one that is held.
    func isBehindFollower(_ offset: Int64) -> Bool {
        fetches.values.contains { $0.isHeld && $0.plan.overlap.upperBound <= offset }
    }

    /// Whether `fetch` brings the last bytes of what somebody wants and may not have before.
    func leadsToWanted(_ fetch: Fetch) -> Bool {
        fetches.values.contains { $0.isHeld && leads(fetch, to: $0.plan.overlap.upperBound) && isWanted($0) }
    }

    /// What is compared with bytes that are stored by now need not be held.
    mutating func admitFollowers() -> [Action] {
        fetches.keys.sorted().compactMap { id in
            guard let fetch = fetches[id], fetch.isHeld, stored.covers(fetch.plan.overlap) else { return nil }
            fetches[id]?.isHeld = false
            return .admitFetch(id)
        }
    }

    /// Ends what would wait for bytes that nobody brings.
    mutating func dropFollowers() -> [Action] {
        let held = fetches.keys.sorted().filter { id in
            guard let fetch = fetches[id], fetch.isHeld else { return false }
            return !fetches.values.contains { brings($0, what: fetch) }
        }
        return held.map { cancel($0) }
    }

    /// Whether `fetch` comes to `held`, or another one behind it will: after a cut it takes several. Who waits for
    /// what is held itself does not wait for others.
    private func brings(_ fetch: Fetch, what held: Fetch) -> Bool {
        guard !fetch.isHeld, !fetch.remaining.isEmpty else { return false }
        let (end, offset) = (fetch.remaining.upperBound, held.plan.overlap.upperBound)
        let isPressed = readers.values.contains { $0.isPressing && held.remaining.contains($0.offset) }
        return fetch.isWhole || (isPressed ? end == offset : end <= offset)
    }

    private func leads(_ fetch: Fetch, to offset: Int64) -> Bool {
        !fetch.isHeld && fetch.isAnswered && !fetch.isWhole && fetch.end == offset
    }
}
