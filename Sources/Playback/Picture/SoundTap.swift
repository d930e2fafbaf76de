import Media
import Synchronization
import System

/// Makes pictures of what is written into the ring, while somebody looks at them.
///
/// `follow` is called on the decoder's thread, never on the audio thread. While nobody looks it reads one atomic and
/// returns: nothing is computed, allocated or woken.
final class SoundTap: Sendable {
    private struct Analysis {
        var maker: PictureMaker
        /// Where the ring goes on, and which of its contents that counts for.
        var next: FrameCount
        var source: Int
    }

    private let isWatched = Atomic<Bool>(false)
    // Guards what only the decoder's thread uses but for `watch`. Taken before `reel` where both are.
    private let analysis = Locked<Analysis?>(nil)
    private let reel = Locked(PictureReel())
    private let made = Atomic<Int>(0)

    /// Pictures made so far.
    var pictureCount: Int { made.load(ordering: .relaxed) }

    /// Says whether anybody looks; from any thread.
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

    /// Looks at what came into `ring` since the last call; the first time at all that was not taken yet. To be called
    /// by the ring's writer, between two writes.
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
            // Taken out, so that its buffers have one owner and are not copied.
            guard var current = analysis.take() else { return }
            let oldest = written - FrameCount(ring.capacityFrames)
            if current.next < oldest {
                current.maker.restart()
                current.next = oldest
            }
            let step = FrameCount(current.maker.step)
            ring.withFrames(current.next..<written) { samples, frame in
                current.maker.take(samples, at: frame) { picture, start in
                    made.add(1, ordering: .relaxed)
                    reel.withLock { $0.append(picture, of: start..<start + step) }
                }
            }
            current.next = written
            // Who looked away meanwhile found nothing to drop, or waits for that now.
            guard isWatched.load(ordering: .acquiring) else { return reel.withLock { $0.removeAll() } }
            analysis = current
        }
    }

    /// The picture of the frame that is heard; nil where there is none.
    func picture(at heard: FrameCount) -> SoundPicture? {
        guard isWatched.load(ordering: .relaxed) else { return nil }
        return reel.withLock { $0.picture(at: heard) }
    }
}
