/// What a cell means; the shell alone turns a meaning into colours and attributes.
package enum Style: UInt8, Sendable, CaseIterable {
    case normal
    /// The line that names the view.
    case title
    /// Text that may be passed over: numbers, durations, units.
    case dim
    /// The track being heard.
    case playing
    /// The row that the next command is about.
    case selected
    /// Something failed.
    case error
    /// A message that is no failure.
    case notice
    /// What is being typed.
    case prompt
    /// A row that is marked.
    case marked
    /// Where in the bar the music is.
    case head
    /// A bar's part that was heard.
    case played
    /// A bar's part that needs no network.
    case cached
    /// A bar's part that is on its way.
    case inFlight
    /// A bar's part that must be fetched.
    case missing
    /// What of the picture of the sound is soft, louder, and near full scale.
    case soft
    case middling
    case loud
}
