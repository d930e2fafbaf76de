// CCurses and CTerminal both include termios.h; the compiler finds `termios` in the module that it loads
// first.
internal import CCurses
internal import CTerminal
internal import Glibc
package import Media
internal import System

/// Reads single keys from a terminal without a full screen, and replies in lines.
package struct PlainKeys: Sendable {
    private let configuration: TerminalConfiguration
    private let glyphs: Glyphs
    /// `true` if the terminal is asked to mark pasted text, which is then added to the queue and runs no
    /// keys.
    private let marksPastes: Bool
    private let input = STDIN_FILENO

    package init(configuration: TerminalConfiguration, glyphs: Glyphs) {
        self.configuration = configuration
        self.glyphs = glyphs
        marksPastes = configuration.isUsable
    }

    /// Reads keys from standard input, a terminal, on the calling thread until the player has ended or the
    /// terminal is lost.
    ///
    /// The terminal's modes are restored at the end, while the process is stopped, and after a fault. Replies
    /// are passed to `say`, line by line, on this thread. `prompt` shows the beginning of a line to be typed.
    /// The terminal itself edits that line, which works best with screen readers.
    package func run(
        player: any PlayerControl,
        say: @escaping (SafeText) -> Void,
        prompt: (SafeText) -> Void
    ) {
        guard let updates = WakePipe(), let signals = WakePipe() else { return }
        var modes = termios()
        guard tcgetattr(input, &modes) == 0 else { return }
        var relay = SignalRelay([SIGTSTP, SIGCONT], into: signals)
        relay.arm(
            SignalRelay.Watch(
                descriptor: input,
                modes: modes,
                standardError: STDERR_FILENO,
                reset: marksPastes ? Self.unmarkedPastes + "\r" : "",
                message: ""
            )
        )
        readSingleKeys(modes)
        let observation = player.observe { updates.wake() }
        defer { observation.end() }
        var state = PlainState(keyMap: configuration.keyMap, history: configuration.history, glyphs: glyphs)
        var keys = TerminalInput(descriptor: input)
        let answer = { (reply: PlainState.Reply) in
            for line in reply.lines { say(line) }
            for action in reply.actions { perform(action, player) }
        }
        // `true` while the terminal edits a line.
        var isTypingLine = false
        // `true` while this process is in the background and the terminal belongs to another.
        var isAway = false
        // Only changes after the start are reported.
        _ = state.receive(player.snapshot)
        while !player.snapshot.isOver {
            let found = Poll.wait(
                reading: [isAway ? -1 : input, signals.readEnd, updates.readEnd],
                atMost: isAway ? Foreground.checkInterval : nil
            )
            guard let found else { continue }
            for signal in signals.drain() {
                if Int32(signal) == SIGTSTP {
                    if !isAway { giveBack(modes) }
                    relay.suspend()
                }
                isAway = true
            }
            if isAway, Foreground.holds(input) {
                isAway = false
                if !isTypingLine { readSingleKeys(modes) }
            }
            _ = updates.drain()
            for line in state.receive(player.snapshot) { say(line) }
            guard !isAway, found[0] != 0 else { continue }
            if isTypingLine {
                guard let bytes = keys.readBytes() else { break }
                isTypingLine = false
                let line = String(decoding: bytes.prefix { $0 != 0x0A }, as: UTF8.self)
                // Further lines were pasted with this one and must not run keys.
                tcflush(input, TCIFLUSH)
                readSingleKeys(modes)
                answer(state.entered(bytes.isEmpty ? nil : line))
            } else {
                guard let events = keys.readEvents() else { break }
                for event in events {
                    let wantedLine = state.wantsLine
                    if case .key(let key) = event { answer(state.typed(key)) }
                    if case .pasted(let text) = event { answer(state.pasted(text)) }
                    // Keys after the line in the same read were pasted with it and must not run.
                    if !marksPastes, wantedLine, !state.wantsLine { break }
                }
            }
            if state.wantsLine {
                isTypingLine = true
                giveBack(modes)
                prompt(state.begun)
            }
        }
        relay.disarm()
        if !isAway { giveBack(modes) }
        _ = consume relay
    }

    private func perform(_ action: UIAction, _ player: any PlayerControl) {
        switch action {
        case .send(let command): player.send(command)
        case .remember(let line): configuration.remember(line)
        // Ignored: the loop ends with the player, and drawing and completion need a screen.
        default: break
        }
    }

    /// Turns line editing and echo off; Ctrl-C and Ctrl-Z remain signals.
    private func readSingleKeys(_ modes: termios) {
        var modes = modes
        modes.c_lflag &= ~tcflag_t(ICANON | ECHO)
        tcsetattr(input, TCSANOW, &modes)
        if marksPastes { send(Self.markedPastes) }
    }

    private func giveBack(_ modes: termios) {
        var modes = modes
        // First, because the terminal may take no output.
        tcsetattr(input, TCSANOW, &modes)
        if marksPastes { send(Self.unmarkedPastes) }
    }

    private static let markedPastes = "\u{1B}[?2004h"
    private static let unmarkedPastes = "\u{1B}[?2004l"

    private func send(_ text: String) { try? WholeFile.write(text.utf8, to: input) }
}
