/// What a listener can ask for, by key, on the `:` line or on headless standard input.
package enum PlayerCommand: Sendable, Equatable {
    case play
    case pause
    case toggle
    case stop
    case next
    case previous
    /// A place in the queue, from 1.
    case jump(Int)
    case seek(SeekTarget)
    /// 0...100.
    case volume(Int)
    case changeVolume(by: Int)
    case mute
    /// Another order to play in, or the queue's own again.
    case shuffle
    /// Puts the queue itself in a random order, the current track first.
    case shuffleNow
    /// nil goes to the next mode: off, all, one.
    case setRepeat(RepeatMode?)
    /// nil goes to the next mode: off, track, album.
    case setGain(GainMode?)
    case add(String)
    case remove(TrackNumbers)
    /// Puts tracks, together and in their order, where the first of them is track `to` (from 1).
    case move(TrackNumbers, to: Int)
    case sort(SortKey)
    case clear
    /// Takes back the last change of the queue: adding, removing, moving, sorting, shuffling, clearing.
    case undo
    case save(String)
    case reload
    /// Pins a track in the cache, or lets go of it; its place in the queue, from 1, or nil for the current one.
    case pin(Int?)
    case status
    case quit
}

package enum RepeatMode: String, Sendable, CaseIterable {
    case off
    case one
    case all
}
