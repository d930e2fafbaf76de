/// One line that the player had to say.
package struct PlayerMessage: Sendable, Equatable {
    /// Counts up, and is never used twice: tells what was seen from what is new.
    package var number: Int
    /// When it was said, on the player's clock.
    package var time: Duration
    package var text: SafeText

    package init(number: Int, time: Duration, text: SafeText) {
        self.number = number
        self.time = time
        self.text = text
    }
}
