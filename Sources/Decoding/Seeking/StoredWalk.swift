import Media

/// Walks stored bytes for frames that nobody walked yet, slice by slice, from the frames that are known.
///
/// Pure: `wanted` says which bytes come next, `took` takes them. Every run of known frames is carried on as far
/// as bytes behind it are stored; a run that was carried on into the next one closes the hole between.
struct StoredWalk {
    /// What one step looks at.
    static let slice = 65_536

    private var scan: FrameScan?
    /// The point at which `scan` began.
    private var first: Int64 = 0
    /// Where the walk from the end of a run, known by its point, came to wait for bytes; `.max` where
    /// nothing can come of it.
    private var waits: [Int64: Int64] = [:]

    /// Where bytes are to be read now; nil when none that would help are stored.
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

    /// Takes `bytes`, which were read where `wanted` said, into `map`, and tells `found` of every frame.
    mutating func took(
        _ bytes: [UInt8],
        length: Int64?,
        into map: inout StreamMap,
        found: (_ number: Int64, _ offset: Int64) -> Void
    ) {
        guard var scan else { return }
        // Bytes that are called stored and cannot be read would be asked for without end.
        guard !bytes.isEmpty else { return rest(at: .max) }
        let before = scan.offset
        var isJoined = false
        var isContradicted = false
        let first = first
        scan.scan(bytes) { number, offset in
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

    /// Ends the scan, which waits for bytes at `offset`.
    private mutating func rest(at offset: Int64) {
        guard let scan else { return }
        // The end of the run is the last point that was passed.
        let last = (scan.number - 1) / SeekTable.stride * SeekTable.stride
        waits[max(first, last)] = offset
        self.scan = nil
    }
}
