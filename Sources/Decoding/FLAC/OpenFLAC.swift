import Media

/// An open stream: its map, the walk over its frames, and how much of the last frame was passed on.
///
/// A class, so that the map and the bytes have one owner and are changed in place.
final class OpenFLAC {
    private let handle: FLACHandle
    private let width: Int
    var map: FLACMap
    var walk: FLACFrameWalk
    /// The PCM frames of the last frame that were not passed on yet.
    private var held = 0..<0
    /// `true` once a frame was damaged or missing.
    private var isDamaged = false
    /// PCM frames of silence to pass on after those held.
    private var silence: FrameCount = 0
    /// The position after all PCM frames that were decoded or are missing.
    private(set) var position: FrameCount
    /// The first PCM frame to play; those before it are only decoded.
    private var wanted: FrameCount = 0

    init(_ handle: FLACHandle, _ map: FLACMap, bytes: [UInt8]) {
        (self.handle, self.map) = (handle, map)
        width = map.stream.format.bytesPerFrame
        walk = FLACFrameWalk(map.stream, at: map.audioStart, expecting: map.origin)
        walk.append(bytes)
        position = map.origin
    }

    /// Writes as many PCM frames into `pcm` as are held and fit; returns their number.
    func pass(into pcm: UnsafeMutableRawBufferPointer) -> Int {
        let room = pcm.count / width
        let count = min(room, held.count)
        if count > 0 {
            handle.copy(held.prefix(count), into: pcm)
            held = held.dropFirst(count)
            return count
        }
        let silent = Int(min(FrameCount(room), silence))
        UnsafeMutableRawBufferPointer(rebasing: pcm[..<(silent * width)])
            .initializeMemory(as: UInt8.self, repeating: 0)
        silence -= FrameCount(silent)
        return silent
    }

    /// Decodes the frame whose bytes are at `range` of `walk.bytes`. If it is damaged, replaces it by silence and
    /// returns `false`. Call it only when all PCM was passed on.
    func decode(_ header: FLACFrameHeader, _ range: Range<Int>) -> Bool {
        let isDecoded = walk.bytes.withUnsafeBytes { bytes in
            handle.decode(header, UnsafeRawBufferPointer(rebasing: bytes[range]))
        }
        position = header.position
        guard isDecoded else {
            skip(FrameCount(header.count))
            return false
        }
        position = header.end
        let early = min(max(0, wanted - header.position), FrameCount(header.count))
        held = Int(early)..<header.count
        return true
    }

    /// `true` if all frames were decoded, and their samples have the MD5 that the stream states. Call it once, at the
    /// end of a stream that a handle which checks the MD5 has decoded from its start.
    func hasItsDigest() -> Bool { !isDamaged && handle.finish() }

    /// Replaces `count` missing PCM frames by silence, except those before the first wanted frame.
    func skip(_ count: FrameCount) {
        isDamaged = true
        silence += max(0, position + count - max(position, wanted))
        position += count
    }

    /// Continues with `walk`, which begins at `position`, and plays from the PCM frame `wanted` on.
    func restart(_ walk: FLACFrameWalk, at position: FrameCount, wanted: FrameCount) {
        (self.walk, self.position, self.wanted) = (walk, position, wanted)
        (held, silence) = (0..<0, 0)
    }
}
