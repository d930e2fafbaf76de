import Media

/// An entry of an edit list (ISO/IEC 14496-12 §8.6.6): a part of the track to play, or a pause. Pure.
struct MP4Edit: Equatable {
    static let mostCount: Int64 = 1_024

    /// The start of the part in units of the track; `nil` for a pause.
    let start: Int64?
    /// The length in units of the movie; 0 in the last entry for all that follows.
    let length: Int64

    /// Reads the entries after the version and flags; `isLong` states that their numbers have 64 bits.
    static func list(_ reader: inout BigEndianReader, isLong: Bool) -> [MP4Edit] {
        var edits: [MP4Edit] = []
        for _ in 0..<min(reader.next(4) ?? 0, mostCount) {
            if isLong { _ = reader.next(1) }
            guard let length = reader.next(isLong ? 7 : 4) else { break }
            let high = isLong ? reader.next(1) : 0
            guard let start = reader.next(isLong ? 7 : 4), reader.next(4) != nil else { break }
            // A start of -1 is a pause. Some programs write later starts as numbers without a sign.
            let isPause = high != 0 || (!isLong && start == Int64(UInt32.max))
            edits.append(MP4Edit(start: isPause ? nil : start, length: length))
        }
        return edits
    }
}

extension MP4Track {
    fileprivate func isPause(_ edit: MP4Edit) -> Bool {
        // A start behind the end of the track is a negative number.
        edit.start.map { $0 >= Int64(Int32.max) && $0 >= duration } ?? true
    }

    /// The pause in front of the track, in units of the movie. It delays chapters; the music begins at once.
    var delay: Int64 {
        edits.prefix(while: isPause).reduce(0) { min($0 + $1.length, BoxWalk.farthest) }
    }

    /// The edits from the first to the last part that is played, with the pauses between them.
    var playedEdits: ArraySlice<MP4Edit> {
        guard let first = edits.firstIndex(where: { !isPause($0) }),
            let last = edits.lastIndex(where: { !isPause($0) })
        else { return [] }
        return edits[first...last]
    }
}

/// A part of the music of an MP4 file: frames of its packets, or silence.
struct MP4Part: Equatable {
    /// The position of the part in the music.
    let start: FrameCount
    /// The frames to play, counted from the first one of packet 0; up to the largest number if the end is
    /// unknown.
    let frames: Range<FrameCount>
    /// `true` if silence replaces the frames.
    var isSilent = false
}

extension MP4Head {
    /// The parts of `track` that are played, in order; at least one. The track has `packetCount` packets;
    /// `nil` if their number is unknown.
    func parts(of track: MP4Track, in codec: any PacketCodec, packetCount: Int64?) -> [MP4Part] {
        let rate = Int64(codec.format.sampleRate)
        let edits = track.playedEdits
        let whole = MP4Part(start: 0, frames: music(of: track, edits.first, in: codec))
        guard edits.count > 1 else { return [whole] }
        var end = packetCount.map { $0 * FrameCount(codec.packetFrames) } ?? .max
        if !isFragmented, track.duration > 0 {
            end = min(end, Self.frames(track.duration, per: track.timescale, rate))
        }
        var parts: [MP4Part] = []
        var position: FrameCount = 0
        /// The length of the edits so far.
        var length: Int64 = 0
        for (index, edit) in zip(edits.indices, edits) {
            let before = Self.frames(length, per: movieTimescale, rate)
            length = min(length + edit.length, BoxWalk.farthest)
            let count = Self.frames(length, per: movieTimescale, rate) - before
            let start = track.isPause(edit) ? nil : edit.start
            let first = start.map { Self.frames($0, per: track.timescale, rate) }
            let isOpen = edit.length == 0 && index == edits.indices.last
            let stated = isOpen ? FrameCount.max : (first ?? 0) + count
            // A part ends with the track at the latest. Silence has no end of its own.
            let frames = (first ?? 0)..<max(first ?? 0, first == nil ? stated : min(stated, end))
            guard !frames.isEmpty else { continue }
            parts.append(MP4Part(start: position, frames: frames, isSilent: first == nil))
            position += min(FrameCount(frames.count), BoxWalk.farthest)
        }
        return parts.isEmpty ? [whole] : parts
    }

    /// The number of frames, of which a second has `rate`, in `units`, of which it has `scale`.
    private static func frames(_ units: Int64, per scale: Int64, _ rate: Int64) -> FrameCount {
        scale > 0 ? FrameCount(min((Double(units) * Double(rate) / Double(scale)).rounded(), 1e15)) : 0
    }

    /// The frames of `track` to play if its edit list has one part at most, `edit`, counted from the first
    /// one of packet 0.
    ///
    /// The edit list states them if its part begins after 0; otherwise `iTunSMPB`, or, without that, the edit
    /// list. Without both, a first packet that only overlaps with the next one is not played.
    private func music(of track: MP4Track, _ edit: MP4Edit?, in codec: any PacketCodec) -> Range<FrameCount> {
        let rate = Int64(codec.format.sampleRate)
        var end = track.duration > 0 ? Self.frames(track.duration, per: track.timescale, rate) : .max
        if isFragmented { end = .max }
        var start = min(FrameCount(codec.packetFrames), codec.primingFrames)
        if let gapless = tags.gapless, (edit?.start ?? 0) == 0 {
            start = gapless.lowerBound
            end = min(end, gapless.upperBound)
        } else if let edit {
            start = Self.frames(edit.start ?? 0, per: track.timescale, rate)
            // The length is stated in units of the movie, often milliseconds. If it is shorter than the track
            // by at most one unit, that is only rounding.
            let stated = start + Self.frames(edit.length, per: movieTimescale, rate)
            // It has not counted fragments that come later.
            if edit.length > 0, !(isFragmented && track.table.isComplete),
                end == .max || end - stated > Self.frames(1, per: movieTimescale, rate)
            {
                end = stated
            }
        }
        return start..<max(start, end)
    }
}
