package import Media

/// A key as the terminal tells it, after escape sequences were put together.
package enum Key: Hashable, Sendable {
    case character(Character)
    /// Control and a letter, in lower case.
    case control(Character)
    case enter
    case escape
    case backspace
    case delete
    case up
    case down
    case left
    case right
    case pageUp
    case pageDown
    case home
    case end
    case tab
    case backTab
    /// 1...12.
    case function(Int)

    /// How the help calls it.
    package var name: SafeText {
        switch self {
        case .character(" "): "Space"
        case .character(let character): SafeText(String(character))
        case .control(let letter): SafeText("Ctrl-\(letter.uppercased())")
        case .enter: "Enter"
        case .escape: "Esc"
        case .backspace: "Backspace"
        case .delete: "Del"
        case .up: "Up"
        case .down: "Down"
        case .left: "Left"
        case .right: "Right"
        case .pageUp: "PgUp"
        case .pageDown: "PgDn"
        case .home: "Home"
        case .end: "End"
        case .tab: "Tab"
        case .backTab: "Shift-Tab"
        case .function(let number): SafeText("F\(number)")
        }
    }
}
