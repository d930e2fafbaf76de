internal import Media

extension KeyMap {
    /// The keys that most terminal players share (cmus, mpv, rmpc).
    package static let standard = KeyMap(playing + views + lists + queue + commands)

    private static let playing = [
        Binding([.character(" ")], .player(.toggle), "pause or go on"),
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
        Binding([.character("t")], .toggleRemainingTime, "time left or passed"),
        Binding([.character("v")], .toggleSound, "picture of the sound"),
    ]

    private static let views = [
        Binding([.tab], .nextView(by: 1), "next view"),
        Binding([.backTab], .nextView(by: -1), "view before"),
        Binding([.character("1")], .show(.queue), "queue"),
        Binding([.character("2")], .show(.playing), "what is playing"),
        Binding([.character("3")], .show(.cache), "what is kept"),
        Binding([.character("4")], .show(.network), "requests, and why"),
        Binding([.character("5")], .show(.messages), "what was said"),
        Binding([.character("6")], .show(.help), "keys"),
        Binding([.character("?")], .toggleHelp, "show or hide the keys"),
        Binding([.escape], .back, "leave filter or view"),
    ]

    private static let lists = [
        Binding([.character("j"), .down], .selectBy(1), "row below"),
        Binding([.character("k"), .up], .selectBy(-1), "row above"),
        Binding([.pageDown, .control("f")], .selectByPage(1), "a page down"),
        Binding([.pageUp, .control("b")], .selectByPage(-1), "a page up"),
        Binding([.character("g"), .home], .selectFirst, "first row"),
        Binding([.character("G"), .end], .selectLast, "last row"),
        Binding([.character("i")], .selectCurrent, "go to what is playing"),
        Binding([.enter], .playSelected, "play; in cache: add"),
        Binding([.character("d"), .delete], .removeSelected, "remove; in cache: drop"),
        // Not `p`, which is the pause of many players: a slip must not fill the disk.
        Binding([.character("P")], .pinSelected, "pin or unpin"),
    ]

    private static let queue = [
        Binding([.character("/")], .search(nil), "search"),
        Binding([.character("n")], .nextMatch(1), "next match"),
        Binding([.character("N")], .nextMatch(-1), "match before"),
        Binding([.character("f")], .filter(nil), "show only what matches"),
        Binding([.character("x")], .toggleMark, "mark for d, P, J and K"),
        Binding([.character("*")], .markAll, "mark all that is shown"),
        Binding([.character("X")], .unmarkAll, "unmark all"),
        Binding([.character("J")], .moveSelected(by: 1), "move down"),
        Binding([.character("K")], .moveSelected(by: -1), "move up"),
        Binding([.character("S")], .openCommandLine("sort "), "sort"),
        Binding([.character("Z")], .player(.shuffleNow), "shuffle the list itself"),
        Binding([.character("C")], .player(.clear), "clear the queue"),
        Binding([.character("u")], .player(.undo), "undo a change"),
        Binding([.character("a")], .openCommandLine("add "), "add a file or URL"),
        Binding([.character("w")], .openCommandLine("save "), "save as a playlist"),
    ]

    private static let commands = [
        Binding([.character(":")], .openCommandLine(""), "type a command"),
        Binding([.control("l")], .redraw, "draw the screen again"),
        Binding([.character("q")], .quit, "quit"),
    ]
}
