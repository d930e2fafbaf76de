internal import CCurses
internal import Glibc
internal import Media

/// One terminal under the control of ncurses, from `newterm` to `endwin`.
///
/// ncurses is not thread safe and keeps its screen in globals: only one value may exist at a time, and it is
/// used on the thread that created it. Uses `newterm` because `initscr` ends the process on failure.
struct CursesScreen: ~Copyable {
    /// The largest area drawn: a terminal can claim any size.
    static let largest = (columns: 1_000, rows: 500)
    /// The longest title in characters; window managers show fewer.
    static let longestTitle = 200
    /// The most that one `readEvents` reads, so that a flood of input cannot prevent drawing.
    static let mostCodesAtOnce = 1_024

    let isUnicode: Bool
    private let screen: OpaquePointer
    private let window: UnsafeMutablePointer<WINDOW>
    private let input: UnsafeMutablePointer<FILE>
    private let output: UnsafeMutablePointer<FILE>
    private let palette: Palette
    let modes: TerminalModes
    private var shownTitle: SafeText?
    private var shown: CellBuffer?
    private var decoder = InputDecoder()
    private var isSuspended = false
    /// `true` while the terminal belongs to another process: nothing is written or read then.
    private(set) var isAway = false

    /// Takes control of the terminal; `nil` if ncurses cannot use it.
    ///
    /// The descriptors are copied and remain the caller's. An empty `locale` selects the environment's.
    init?(input inputDescriptor: Int32, output outputDescriptor: Int32, configuration: TerminalConfiguration)
    {
        // Sets only the character set: with a decimal comma, other libraries would parse numbers differently.
        setlocale(LC_CTYPE, configuration.locale)
        isUnicode = nl_langinfo(nl_item(CODESET)).map { String(cString: $0) == "UTF-8" } ?? false
        guard let input = Self.stream(inputDescriptor, "r") else { return nil }
        guard let output = Self.stream(outputDescriptor, "w") else {
            fclose(input)
            return nil
        }
        // An escape byte begins a sequence only if more follows within this many milliseconds.
        set_escdelay(25)
        guard let screen = newterm(configuration.term, output, input), let window = curses_stdscr() else {
            fclose(input)
            fclose(output)
            return nil
        }
        (self.screen, self.window, self.input, self.output) = (screen, window, input, output)
        // Not raw mode, so that Ctrl-C and Ctrl-Z remain signals, for the other processes of the group too.
        cbreak()
        noecho()
        nonl()
        keypad(window, true)
        nodelay(window, true)
        curs_set(0)
        Self.defineKeys()
        palette = Palette(usesColor: configuration.usesColor, choices: configuration.colors)
        modes = configuration.modes
        wrefresh(window)
        send(modes.enter)
    }

    deinit {
        if !isAway, !isSuspended {
            send(modes.leave)
            Self.end(window)
            send("\u{1B}[0m")
        }
        delscreen(screen)
        fclose(input)
        fclose(output)
    }

    /// The window's size, read from the terminal itself: `LINES` and `COLUMNS` do not follow a resize.
    mutating func fitWindow() -> (columns: Int, rows: Int) {
        var size = winsize()
        if curses_window_size(fileno(output), &size) == 0, size.ws_col > 0, size.ws_row > 0 {
            let rows = min(Int32(size.ws_row), Int32(Self.largest.rows))
            let columns = min(Int32(size.ws_col), Int32(Self.largest.columns))
            if rows != getmaxy(window) || columns != getmaxx(window) {
                resizeterm(rows, columns)
                shown = nil
            }
        }
        return (Int(getmaxx(window)), Int(getmaxy(window)))
    }

    /// Writes the cells that differ from the last frame; all cells after a resize or if `isWhole`.
    mutating func show(_ frame: CellBuffer, isWhole: Bool = false) {
        guard !isAway else { return }
        let runs: [CellRun]
        if let shown {
            runs = frame.changes(since: shown)
        } else {
            werase(window)
            runs = frame.changes(since: CellBuffer(columns: frame.columns, rows: frame.rows))
        }
        guard !runs.isEmpty || shown == nil || isWhole else { return }
        for run in runs { write(run) }
        shown = frame
        if isWhole { clearok(window, true) }
        wrefresh(window)
    }

    /// The events since the last call; waits no longer than the escape delay. `isFull` is `true` if more may be
    /// waiting.
    mutating func readEvents() -> (events: [UIEvent], isFull: Bool) {
        var events: [UIEvent] = []
        for _ in 0..<Self.mostCodesAtOnce {
            var code = wint_t()
            switch wget_wch(window, &code) {
            case OK:
                if let scalar = Unicode.Scalar(code), let event = decoder.character(scalar) {
                    events.append(event)
                }
            case KEY_CODE_YES:
                if let event = decoder.functionKey(Int32(bitPattern: code)) { events.append(event) }
            default: return (events, false)
            }
        }
        return (events, true)
    }

    /// Restores the terminal before the process stops.
    mutating func suspend() {
        guard !isSuspended, !isAway else { return }
        isSuspended = true
        send(modes.leave)
        Self.end(window)
    }

    /// Ends ncurses' control. A terminal without an alternate screen (the Linux console, GNU screen by default)
    /// keeps the last frame; its last row, where the shell continues, is cleared.
    private static func end(_ window: UnsafeMutablePointer<WINDOW>) {
        wmove(window, getmaxy(window) - 1, 0)
        wclrtoeol(window)
        wrefresh(window)
        endwin()
    }

    /// Leaves the terminal to another process until `resume`.
    mutating func stayAway() { isAway = true }

    /// Takes control of the terminal again, after `suspend`, or after SIGSTOP, when a shell may have changed
    /// its modes. The next frame is written completely.
    mutating func resume() {
        shown = nil
        shownTitle = nil
        if isSuspended {
            wrefresh(window)
            send(modes.enter)
        } else {
            reset_prog_mode()
            clearok(window, true)
            send(modes.modes)
        }
        isSuspended = false
        isAway = false
    }

    /// Sets the window's title, on terminals that can restore the old one later.
    mutating func setTitle(_ title: SafeText) {
        guard title != shownTitle, !isAway else { return }
        shownTitle = title
        let text = title.string.prefix(Self.longestTitle)
        send(modes.title(isUnicode ? String(text) : String(text.map { $0.isASCII ? $0 : "?" })))
    }

    private func write(_ run: CellRun) {
        var column = run.column
        for cell in run.cells {
            if cell.width > 0 { write(cell, column: column, row: run.row) }
            column += 1
        }
    }

    private func write(_ cell: Cell, column: Int, row: Int) {
        let (attributes, pair) = palette.rendition(of: cell.style)
        wmove(window, Int32(row), Int32(column))
        for characters in drawable(cell) {
            var character = cchar_t()
            guard setcchar(&character, characters + [0], attributes, pair, nil) == OK else { continue }
            // For the last cell of the window this returns an error although the cell is drawn, because the
            // window does not scroll.
            wadd_wch(window, &character)
        }
    }

    /// The cell as characters for which ncurses counts the same columns.
    ///
    /// ncurses asks the C library, whose table can be older than ours or, in other locales, smaller. A
    /// character with another width there is replaced by its ASCII form or a question mark.
    private func drawable(_ cell: Cell) -> [[wchar_t]] {
        let characters = cell.text.unicodeScalars.map { wchar_t($0.value) }
        let space = wchar_t(0x20)
        let question = characters.first.flatMap { Self.asciiForms[$0] } ?? 0x3F
        guard let base = characters.first, isUnicode || base < 0x7F, Int(wcwidth(base)) == cell.width else {
            return cell.width == 2 ? [[question], [space]] : [[question]]
        }
        return isUnicode ? [characters] : [[base]]
    }

    /// Symbols in our own messages.
    private static let asciiForms: [wchar_t: wchar_t] = [0x2013: 0x2D, 0xB7: 0x2D, 0x2026: 0x7E]

    /// Writes bytes without ncurses, after those in its buffer.
    private func send(_ text: String) {
        guard !text.isEmpty else { return }
        fflush(output)
        var text = text
        _ = text.withUTF8 { Glibc.write(fileno(output), $0.baseAddress, $0.count) }
    }

    /// Defines sequences that terminal descriptions lack: paste marks, the mouse, and the arrows of terminals
    /// that ignore the keypad mode. Unknown sequences would arrive letter by letter.
    private static func defineKeys() {
        define_key("\u{1B}[200~", InputDecoder.pasteStart)
        define_key("\u{1B}[201~", InputDecoder.pasteEnd)
        // ncurses' own mouse support is not used: it delays presses to detect clicks, and connects to the
        // console's gpm.
        define_key("\u{1B}[<", InputDecoder.mouseStart)
        define_key("\u{1B}[M", InputDecoder.oldMouseStart)
        define_key("\u{1B}[A", KEY_UP)
        define_key("\u{1B}[B", KEY_DOWN)
        define_key("\u{1B}[C", KEY_RIGHT)
        define_key("\u{1B}[D", KEY_LEFT)
        define_key("\u{1B}[H", KEY_HOME)
        define_key("\u{1B}[F", KEY_END)
        define_key("\u{1B}[Z", KEY_BTAB)
    }

    private static func stream(_ descriptor: Int32, _ mode: String) -> UnsafeMutablePointer<FILE>? {
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
        guard copy >= 0 else { return nil }
        guard let stream = fdopen(copy, mode) else {
            close(copy)
            return nil
        }
        return stream
    }
}
