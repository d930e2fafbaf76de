package import Media

/// What the screen shows besides the player.
package struct ScreenSurroundings: Sendable {
    /// nil where nothing is kept.
    package var kept: (any KeptShelf)?
    /// nil where nobody remembers requests.
    package var requests: RequestHistory?
    /// A moment of the player's clock as people read it, in eight columns.
    package var timeOfDay: @Sendable (Duration) -> SafeText

    package init(
        kept: (any KeptShelf)? = nil,
        requests: RequestHistory? = nil,
        timeOfDay: @escaping @Sendable (Duration) -> SafeText = { SafeText($0.clockTime) }
    ) {
        self.kept = kept
        self.requests = requests
        self.timeOfDay = timeOfDay
    }
}
