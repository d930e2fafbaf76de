package import Media

/// What the shell must do after an event.
package enum UIAction: Sendable, Equatable {
    case send(PlayerCommand)
    /// Writes every cell again: something else has written on the terminal.
    case redrawAll
    /// Leaves the screen, once the player is over or after a bounded wait.
    case leave
}
