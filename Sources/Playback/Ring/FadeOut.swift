import Media
import Synchronization

/// Lets the frames that the audio thread reads become silent. The player's loop begins and ends it; the audio
/// thread applies it, and neither waits for the other.
final class FadeOut: Sendable {
    /// The frames until silence; negative without a fade.
    private let left = Atomic<Int>(-1)
    private let length = Atomic<Int>(1)

    /// Fades from the level that is reached `left` frames before the end of a fade of `length` frames.
    func begin(left: Int, of length: Int) {
        self.length.store(max(1, length), ordering: .relaxed)
        self.left.store(max(0, left), ordering: .releasing)
    }

    /// Later frames are heard as they are.
    func end() { left.store(-1, ordering: .releasing) }

    /// Scales whole frames of `format`. Only for the audio thread.
    func apply(to pcm: UnsafeMutableRawBufferPointer, of format: AudioFormat) {
        let before = left.load(ordering: .acquiring)
        guard before >= 0 else { return }
        let after = max(0, before - pcm.count / format.bytesPerFrame)
        level(at: after).apply(to: pcm, of: format, from: level(at: before))
        // A fade that was begun or ended meanwhile stays as it is.
        _ = left.compareExchange(expected: before, desired: after, ordering: .acquiringAndReleasing)
    }

    /// Squared, which sounds more even than a line.
    private func level(at left: Int) -> GainStage {
        let share = Double(left) / Double(length.load(ordering: .relaxed))
        return GainStage(share: share * share)
    }
}
