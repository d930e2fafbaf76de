package import Media

/// What happens to the screen.
package enum UIEvent: Sendable, Equatable {
    case key(Key)
    /// Text that was pasted; never taken for keys.
    case pasted(SafeText)
    case mouse(MouseEvent)
    /// The player's newest snapshot.
    case snapshot(PlayerSnapshot)
    case resized(columns: Int, rows: Int)
    /// A signal asks for the end.
    case endRequested
}
