package import Media

/// What a key does, by name; keys are bound to these and to nothing else.
package enum UICommand: Sendable, Equatable {
    case player(PlayerCommand)
    case selectBy(Int)
    /// By screens of the list: 1 is down, -1 is up.
    case selectByPage(Int)
    case selectFirst
    case selectLast
    case playSelected
    case removeSelected
    case pinSelected
    /// 1 is down, -1 is up.
    case moveSelected(by: Int)
    case toggleRemainingTime
    case openCommandLine
    case toggleHelp
    case closeHelp
    case redraw
    case quit
}
