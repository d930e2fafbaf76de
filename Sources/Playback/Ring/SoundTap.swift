import Media
import Synchronization
import System

/// Makes pictures of the frames that are written into the ring, while the spectrum view is open.
///
/// `follow` is called on the decoder's thread, never on the audio thread. While no view is open it reads one
/// atomic and returns: nothing is computed, allocated or woken.
final class SoundTap: Sendable {
    private struct Analysis {
        var maker: PictureMaker
        /// The next frame to analyse, and the content of the ring in which it is counted.
        var next: FrameCount
        var source: Int
    }

    private let isWatched = Atomic<Bool>(false)
    // Used by the decoder's thread, and by `watch`. Locked before `reel` if both are.
    private let analysis = Locked<Analysis?>(nil)
    private let reel = Locked(PictureReel())
    private let made = Atomic<Int>(0)

    /// The number of pictures made so far.
    var pictureCount: Int { made.load(ordering: .relaxed) }

    /// Starts or stops making pictures. May be called from any thread.
    func watch(_ isWatched: Bool) {
        guard self.isWatched.exchange(isWatched, ordering: .acquiringAndReleasing) != isWatched else {
            return
        }
        guard !isWatched else { return }
        analysis.withLock { analysis in
            analysis = nil
            reel.withLock { $0.removeAll() }
        }
    }

    /// Analyses the frames written into `ring` since the last call; the first time, all that were not read
    /// yet. The ring's writer calls this between two writes.
    func follow(_ ring: PCMRing) {
        guard isWatched.load(ordering: .relaxed) else { return }
        analysis.withLock { analysis in
            let written = ring.writtenFrames
            let source = ring.content
            if analysis?.source != source || analysis?.maker.format != ring.format {
                let next = written - FrameCount(ring.availableFrames)
                analysis = Analysis(maker: PictureMaker(format: ring.format), next: next, source: source)
                reel.withLock { $0.forget(from: next) }
            }
            // Taken out, so that its buffers have one owner and are not copied at each change.
            guard var current = analysis.take() else { return }
            let oldest = written - FrameCount(ring.capacityFrames)
            if current.next < oldest {
                current.maker.restart()
                current.next = oldest
            }
            let step = FrameCount(current.maker.step)
            ring.withFrames(current.next..<written) { pcm, frame in
                current.maker.add(pcm, at: frame) { picture, start in
                    made.add(1, ordering: .relaxed)
                    reel.withLock { $0.append(picture, of: start..<start + step) }
                }
            }
            current.next = written
            // `watch(false)` may have run in the meantime, when there was nothing to drop.
            guard isWatched.load(ordering: .acquiring) else { return reel.withLock { $0.removeAll() } }
            analysis = current
        }
    }

    func picture(at heard: FrameCount) -> SoundPicture? {
        guard isWatched.load(ordering: .relaxed) else { return nil }
        return reel.withLock { $0.picture(at: heard) }
    }
}

/// The latest pictures of one stream, by the frames that they show. Pure.
struct PictureReel {
    /// Enough for the frames that are written but not yet heard: the ring, the sink's own buffer, and one
    /// decoded step.
    static let most = 100

    private struct Entry {
        var frames: Range<FrameCount>
        var picture: SoundPicture
    }

    /// In the order of their frames, without overlap.
    private var entries: [Entry] = []

    var count: Int { entries.count }

    /// Adds the picture of `frames`. Removes older pictures of these or later frames, which the ring dropped
    /// unheard.
    mutating func append(_ picture: SoundPicture, of frames: Range<FrameCount>) {
        forget(from: frames.lowerBound)
        entries.append(Entry(frames: frames, picture: picture))
        if entries.count > Self.most { entries.removeFirst(entries.count - Self.most) }
    }

    /// Drops the pictures of the frames from `frame` on, which were replaced.
    mutating func forget(from frame: FrameCount) {
        while let last = entries.last, last.frames.upperBound > frame { entries.removeLast() }
    }

    mutating func removeAll() { entries = [] }

    /// The picture that shows `frame`; `nil` if there is none.
    func picture(at frame: FrameCount) -> SoundPicture? {
        entries.last { $0.frames.lowerBound <= frame }
            .flatMap { $0.frames.contains(frame) ? $0.picture : nil }
    }
}
