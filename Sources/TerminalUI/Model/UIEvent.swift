package import Media

/// What happens to the screen.
package enum UIEvent: Sendable, Equatable {
    case key(Key)
    /// Text that was pasted, as it came; never taken for keys.
    case pasted(String)
    /// The paths that begin with a word, which `UIAction.listPaths` asked for.
    case listed(word: String, paths: [String])
    case mouse(MouseEvent)
    /// The player's newest snapshot.
    case snapshot(PlayerSnapshot)
    /// The cache was looked at; nil when there is none.
    case kept(KeptReport?)
    /// The newest requests and how many there were in all; and those that have not ended, in the order they began.
    case requests([JournalRecord], count: Int, underWay: [JournalRecord])
    /// There is time for a slice of what `UIState.hasWork` speaks of.
    case idle
    /// The picture of what is heard at this moment, on the shell's clock; nil where there is none.
    case sound(SoundPicture?, at: Duration)
    case resized(columns: Int, rows: Int)
    /// A signal asks for the end.
    case endRequested
}
