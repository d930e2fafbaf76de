package import Media

/// What the shell must do after an event.
package enum UIAction: Sendable, Equatable {
    case send(PlayerCommand)
    /// Writes a line that was entered into the history.
    case remember(String)
    /// Reads which files and folders begin so; `UIEvent.listed` brings them.
    case listPaths(String)
    /// Says whether the cache is looked at: then it is read at once, and again when it is another.
    case watchCache(Bool)
    case evict(KeptEntry.ID)
    case pinKept(KeptEntry.ID, Bool)
    /// Says whether the picture of the sound is looked at.
    case watchSound(Bool)
    /// Writes every cell again: something else has written on the terminal.
    case redrawAll
    /// Leaves the screen, once the player is over or after a bounded wait.
    case leave
}
