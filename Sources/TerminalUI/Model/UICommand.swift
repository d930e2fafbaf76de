package import Media

/// What a key does, by name; keys are bound to these and to nothing else.
package enum UICommand: Sendable, Equatable {
    case player(PlayerCommand)
    case show(ViewName)
    /// By tabs: 1 is the next, -1 the one before.
    case nextView(by: Int)
    case selectBy(Int)
    /// By screens of the list: 1 is down, -1 is up.
    case selectByPage(Int)
    case selectFirst
    case selectLast
    case selectCurrent
    case playSelected
    case removeSelected
    case pinSelected
    /// 1 is down, -1 is up.
    case moveSelected(by: Int)
    case toggleMark
    case markAll
    case unmarkAll
    /// Looks for a text; nil asks for it.
    case search(String?)
    /// 1 is on, -1 is back.
    case nextMatch(Int)
    /// Shows only what a text means; nil asks for it.
    case filter(String?)
    case toggleRemainingTime
    /// Shows or hides the picture of the sound.
    case toggleSound
    /// Opens the command line with this in it.
    case openCommandLine(String)
    case toggleHelp
    /// Leaves what is open: a view, a filter, the marks.
    case back
    case redraw
    case quit
}
