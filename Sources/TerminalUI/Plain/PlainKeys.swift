// Both include termios.h; the compiler finds `termios` in the one that it loads first.
internal import CCurses
internal import CTerminal
internal import Glibc
package import Media

/// Takes single keys from a terminal that has no screen, or whose listener wants none.
package struct PlainKeys: Sendable {
    private let keyMap: KeyMap
    private let history: [String]
    private let remember: @Sendable (String) -> Void
    private let glyphs: Glyphs
    private let marksPastes: Bool

    /// `remember` takes a line that was entered; it must not wait. `marksPastes` says that the terminal knows sequences:
    /// it is asked to mark what is pasted, which then adds what it names and fires no keys.
    package init(
        keyMap: KeyMap,
        history: [String],
        remember: @escaping @Sendable (String) -> Void,
        glyphs: Glyphs,
        marksPastes: Bool
    ) {
        self.keyMap = keyMap
        self.history = history
        self.remember = remember
        self.glyphs = glyphs
        self.marksPastes = marksPastes
    }

    /// Reads keys from the terminal at `input` on the calling thread, until the player is over or the terminal is
    /// gone. Then its modes are as before; a fault, a stop and their end bring them back too.
    ///
    /// What keys are answered with goes to `say`, a line each, from this thread; `prompt` shows that a line is to be
    /// typed, and what of it was. The terminal itself edits that line, which is what readers of screens know best.
    package func run(
        player: any PlayerControl,
        input: Int32,
        say: @escaping (SafeText) -> Void,
        prompt: (SafeText) -> Void
    ) {
        guard let news = WakePipe(), let signals = WakePipe() else { return }
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
        takeKeys(input, modes)
        player.observe { news.wake() }
        var state = PlainState(keyMap: keyMap, history: history, glyphs: glyphs)
        var decoder = RawKeyDecoder()
        // Whether the terminal has its own modes for a line.
        var isTypingLine = false
        // Whether the terminal is another's, since the session went on in the background.
        var isAway = false
        // What holds from the start is no news.
        _ = state.take(player.snapshot)
        while !player.snapshot.isOver {
            var descriptors = [input, signals.readEnd, news.readEnd].map {
                pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
            }
            if isAway { descriptors[0].fd = -1 }
            let patience = isAway ? Int32(Foreground.patience / .milliseconds(1)) : -1
            guard poll(&descriptors, nfds_t(descriptors.count), patience) >= 0 else { continue }
            for signal in signals.drain() {
                if Int32(signal) == SIGTSTP {
                    if !isAway { giveBack(input, modes) }
                    relay.suspend()
                }
                isAway = true
            }
            if isAway, Foreground.holds(input) {
                isAway = false
                if !isTypingLine { takeKeys(input, modes) }
            }
            _ = news.drain()
            for line in state.take(player.snapshot) { say(line) }
            guard !isAway, descriptors[0].revents != 0 else { continue }
            guard let bytes = Self.read(input) else { break }
            let answers: [(actions: [UIAction], lines: [SafeText])]
            if isTypingLine {
                isTypingLine = false
                let line = String(decoding: bytes.prefix { $0 != 0x0A }, as: UTF8.self)
                answers = [state.entered(bytes.isEmpty ? nil : line)]
                // More lines behind it were pasted, and are no keys.
                tcflush(input, TCIFLUSH)
                takeKeys(input, modes)
            } else {
                answers = take(decoder.events(bytes), &state)
            }
            for answer in answers {
                for line in answer.lines { say(line) }
                for action in answer.actions { perform(action, player) }
            }
            if state.wantsLine {
                isTypingLine = true
                giveBack(input, modes)
                prompt(state.begun)
            }
        }
        relay.disarm()
        if !isAway { giveBack(input, modes) }
        _ = consume relay
    }

    private func take(
        _ events: [UIEvent],
        _ state: inout PlainState
    ) -> [(actions: [UIAction], lines: [SafeText])] {
        var answers: [(actions: [UIAction], lines: [SafeText])] = []
        for event in events {
            let wantedLine = state.wantsLine
            switch event {
            case .key(let key): answers.append(state.typed(key))
            case .pasted(let text): answers.append(state.pasted(text))
            default: break
            }
            // Nobody types on behind a line before it is read: all of it was pasted, and the rest is no keys.
            if !marksPastes, wantedLine, !state.wantsLine { break }
        }
        return answers
    }

    private func perform(_ action: UIAction, _ player: any PlayerControl) {
        switch action {
        case .send(let command): player.send(command)
        case .remember(let line): remember(line)
        // The loop ends with the player; there is nothing to draw and nobody to complete for.
        default: break
        }
    }

    /// Letter by letter and without an echo; Ctrl-C and Ctrl-Z stay signals.
    private func takeKeys(_ descriptor: Int32, _ modes: termios) {
        var modes = modes
        modes.c_lflag &= ~tcflag_t(ICANON | ECHO)
        tcsetattr(descriptor, TCSANOW, &modes)
        if marksPastes { Self.send(Self.markedPastes, descriptor) }
    }

    private func giveBack(_ descriptor: Int32, _ modes: termios) {
        var modes = modes
        if marksPastes { Self.send(Self.unmarkedPastes, descriptor) }
        tcsetattr(descriptor, TCSANOW, &modes)
    }

    private static let markedPastes = "\u{1B}[?2004h"
    private static let unmarkedPastes = "\u{1B}[?2004l"

    private static func send(_ text: String, _ descriptor: Int32) {
        var text = text
        _ = text.withUTF8 { write(descriptor, $0.baseAddress, $0.count) }
    }

    /// What is there; nil when nothing will come any more. Empty for a Ctrl-D in a line.
    private static func read(_ descriptor: Int32) -> [UInt8]? {
        var chunk = [UInt8](repeating: 0, count: 4_096)
        let count = Glibc.read(descriptor, &chunk, chunk.count)
        if count < 0 { return errno == EINTR || errno == EAGAIN ? [] : nil }
        var status = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        if count == 0, poll(&status, 1, 0) > 0, status.revents & Int16(POLLHUP | POLLERR) != 0 { return nil }
        return Array(chunk[..<count])
    }
}
