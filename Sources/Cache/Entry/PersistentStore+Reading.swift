import Media
import System

extension PersistentStore {
    package func read(at offset: Int64, count: Int) async throws -> [UInt8] {
        guard offset >= 0, count > 0 else { return [] }
        if let held = takeHeld(at: offset, count: count) { return held }
        let bytes = await engine.io.run {
            // Held by now, where the thread was just reading it.
            if let held = self.takeHeld(at: offset, count: count) { return held }
            let bytes = self.readNow(at: offset, count: count)
            let next = self.guarded.withLock { $0.ahead.answered(at: offset, count: bytes.count) }
            if let next { self.readAhead(at: next, count: count) }
            return bytes
        }
        guard bytes.isEmpty, let volatile = guarded.withLock({ $0.volatile }) else { return bytes }
        return try await volatile.read(at: offset, count: count)
    }

    /// Answers a read by what was read ahead of it; nil where that is nothing.
    private func takeHeld(at offset: Int64, count: Int) -> [UInt8]? {
        let (bytes, next) = guarded.withLock { guarded -> ([UInt8]?, Int64?) in
            guard let bytes = guarded.ahead.take(at: offset, count: count) else { return (nil, nil) }
            return (bytes, guarded.ahead.answered(at: offset, count: bytes.count))
        }
        if let next { readAhead(at: next, count: count) }
        return bytes
    }

    /// Reads what comes next behind the answer, so that its check costs the reader no time.
    private func readAhead(at offset: Int64, count: Int) {
        engine.io.submit { [weak self] in
            guard let self, guarded.withLock({ $0.isCommitted(at: offset) }) else { return }
            let bytes = readNow(at: offset, count: min(count, ReadAheadState.mostHeld))
            guarded.withLock { $0.ahead.arrived(bytes, at: offset) }
        }
    }

    func readNow(at offset: Int64, count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        // Grown piece by piece it would be copied each time; who asks for very much rarely gets it.
        bytes.reserveCapacity(min(count, ReadAheadState.mostHeld))
        while bytes.count < count {
            let (position, isTooFar) = offset.addingReportingOverflow(Int64(bytes.count))
            let wanted = count - bytes.count
            let next = guarded.withLock { guarded in
                isTooFar
                    ? nil
                    : guarded.state.segment(at: position, count: wanted).map { ($0, guarded.place) }
            }
            guard let (segment, place) = next else { break }
            switch segment {
            case .buffered(let piece): bytes += piece
            case .committed(let extent, let isChecked):
                let range = position..<min(extent.range.upperBound, position &+ Int64(wanted))
                guard let piece = read(range, of: extent, isChecked: isChecked, in: place) else {
                    return bytes
                }
                bytes += piece
            }
        }
        return bytes
    }

    /// The bytes of `range`; nil, and the extent dropped, when they are not those that were committed.
    ///
    /// A disk that cannot read them is damage too: what it lost can be fetched again.
    private func read(
        _ range: ByteRange,
        of extent: Extent,
        isChecked: Bool,
        in place: Place
    ) -> ArraySlice<UInt8>? {
        if isChecked, case .checked = engine.protection {
            if let bytes = try? place.file.read(range), bytes.count == range.count { return bytes[...] }
            return drop(extent, in: place)
        }
        let start = Int(range.lowerBound - extent.range.lowerBound)
        let unsealed = guarded.withLock { $0.unsealed.flatMap { $0.extent == extent ? $0.bytes : nil } }
        if let unsealed { return unsealed[start..<start + range.count] }
        let stored = (try? place.file.read(extent.range)) ?? []
        guard let bytes = engine.protection.bytes(of: extent, from: stored, of: place.entry) else {
            return drop(extent, in: place)
        }
        guarded.withLock { guarded in
            guarded.state.extentChecked(extent)
            if case .sealed = engine.protection { guarded.unsealed = (extent, bytes) }
        }
        return bytes[start..<start + range.count]
    }

    /// Withdraws what was claimed of the extent, and tells of it.
    private func drop(_ extent: Extent, in place: Place) -> ArraySlice<UInt8>? {
        guard guarded.withLock({ $0.state.extentDropped(extent) }) else { return nil }
        let (start, end) = (extent.range.lowerBound, extent.range.upperBound)
        engine.settings.onNotice(
            MediaError(
                .damagedExtent,
                url.safeText,
                SafeText("stored bytes \(start)–\(end - 1) were damaged")
            )
        )
        let engine = engine
        // Handed over before any write can fill the place, so it runs before that write's commit.
        engine.committer.submit { engine.drop([extent], of: place.entry) }
        return nil
    }
}

extension PersistentStore.Guarded {
    /// Whether the byte at `offset` has to be read from the file; in a closed store nobody will ask for it.
    fileprivate func isCommitted(at offset: Int64) -> Bool {
        if case .closed = standing { return false }
        if case .committed = state.segment(at: offset, count: 1) { return true }
        return false
    }
}
