import Media

/// Scans stored bytes for frames that are not in the seek table yet, slice by slice. Pure.
///
/// `wanted` returns the offset to read at, and `took` accepts the bytes read. Each run of known frames is
/// extended as far as the bytes after it are stored; a run that reaches the next one closes the hole between
/// them.
struct StoredWalk {
    /// The number of bytes read per step.
    static let slice = 65_536

    private var scan: FrameScan?
    /// The frame at which `scan` began.
    private var first: Int64 = 0
    /// For each run, by the frame at its end, the offset at which the scan waits for bytes; `.max` if more
    /// bytes cannot help.
    private var waits: [Int64: Int64] = [:]

    /// The offset to read at; `nil` if no stored bytes would help.
    mutating func wanted(in map: StreamMap, length: Int64?, isStored: (ByteRange) -> Bool) -> Int64? {
        func canStep(at offset: Int64) -> Bool {
            let end = min(offset + Int64(FrameScan.reach), length ?? .max)
            return offset < end && isStored(offset..<end)
        }
        if let scan {
            if canStep(at: scan.offset) { return scan.offset }
            rest(at: scan.offset)
        }
        var frame: Int64 = -1
        while let end = map.table.runEnd(after: frame) {
            frame = end.frame
            let offset = map.origin + end.offset
            let wait = waits[frame] ?? offset
            guard wait != .max, canStep(at: wait) else { continue }
            first = frame
            scan = map.scan(fromFrame: frame, at: offset)
            return offset
        }
        return nil
    }

    /// Records in `map` the frames found in `bytes`, which were read at the `wanted` offset. Calls `found`
    /// for each.
    mutating func took(
        _ bytes: [UInt8],
        length: Int64?,
        into map: inout StreamMap,
        found: (_ number: Int64, _ offset: Int64) -> Void
    ) {
        guard var scan else { return }
        // Stop here: otherwise, bytes that are stored but cannot be read would be requested again and again.
        guard !bytes.isEmpty else { return rest(at: .max) }
        let before = scan.offset
        var isJoined = false
        var isContradicted = false
        let first = first
        scan.scan(bytes, endingAt: length) { number, offset in
            if number > first, let known = map.table.offset(ofFrame: number) {
                isJoined = true
                isContradicted = isContradicted || known != offset - map.origin
            }
            if !isContradicted { map.observe(frame: number, at: offset) }
            found(number, offset)
        }
        self.scan = scan
        if let length, let count = scan.frameCount(endingAt: length) {
            map.ended(after: count)
            rest(at: .max)
        } else if scan.isLost || isContradicted {
            rest(at: .max)
        } else if isJoined {
            self.scan = nil
        } else if scan.offset == before {
            rest(at: scan.offset + Int64(bytes.count))
        }
    }

    /// Suspends the scan until the bytes at `offset` are stored; `.max` ends it for good.
    private mutating func rest(at offset: Int64) {
        guard let scan else { return }
        // The run now ends at the last point that the scan passed.
        let last = (scan.number - 1) / SeekTable.stride * SeekTable.stride
        waits[max(first, last)] = offset
        self.scan = nil
    }
}
