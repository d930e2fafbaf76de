internal import Media

extension KeyMap {
    /// The keys that most terminal players share (cmus, mpv, rmpc).
    package static let standard = KeyMap([
        Binding([.character(" ")], .player(.toggle), "pause or go on"),
        Binding([.enter], .playSelected, "play the selected track"),
        Binding([.character(">")], .player(.next), "next track"),
        Binding([.character("<")], .player(.previous), "previous track"),
        Binding([.right], .player(.seek(.by(.seconds(5)))), "5 seconds on"),
        Binding([.left], .player(.seek(.by(.seconds(-5)))), "5 seconds back"),
        Binding([.character(".")], .player(.seek(.by(.seconds(60)))), "a minute on"),
        Binding([.character(",")], .player(.seek(.by(.seconds(-60)))), "a minute back"),
        Binding([.character("+"), .character("=")], .player(.changeVolume(by: 5)), "louder"),
        Binding([.character("-")], .player(.changeVolume(by: -5)), "softer"),
        Binding([.character("m")], .player(.mute), "mute or unmute"),
        Binding([.character("s")], .player(.shuffle), "shuffle on or off"),
        Binding([.character("r")], .player(.setRepeat(nil)), "repeat: off, all, one"),
        Binding([.character("R")], .player(.setGain(nil)), "gain: off, track, album"),
        Binding([.character("t")], .toggleRemainingTime, "time left or time passed"),
        Binding([.character("j"), .down], .selectBy(1), "select the next row"),
        Binding([.character("k"), .up], .selectBy(-1), "select the row before"),
        Binding([.pageDown, .control("f")], .selectByPage(1), "a page down"),
        Binding([.pageUp, .control("b")], .selectByPage(-1), "a page up"),
        Binding([.character("g"), .home], .selectFirst, "first row"),
        Binding([.character("G"), .end], .selectLast, "last row"),
        Binding([.character("d"), .delete], .removeSelected, "remove the selection"),
        // Not `p`, which is the pause of many players: a slip must not fill the disk.
        Binding([.character("P")], .pinSelected, "pin or unpin selection"),
        Binding([.character("J")], .moveSelected(by: 1), "move the selection down"),
        Binding([.character("K")], .moveSelected(by: -1), "move the selection up"),
        Binding([.character(":")], .openCommandLine, "type a command"),
        Binding([.character("?")], .toggleHelp, "show or hide this help"),
        Binding([.escape], .closeHelp, "close the help"),
        Binding([.control("l")], .redraw, "draw the screen again"),
        Binding([.character("q")], .quit, "quit"),
    ])
}
