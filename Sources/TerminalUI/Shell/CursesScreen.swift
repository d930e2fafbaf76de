internal import CCurses
internal import Glibc
internal import Media

/// One terminal in ncurses' hands, from `newterm` to `endwin`.
///
/// ncurses is not thread safe and keeps its screen in globals: one value at a time, used on the
/// thread that made it. `newterm` instead of `initscr`, which would end the process on failure.
struct CursesScreen: ~Copyable {
    /// Larger windows are drawn in part; a terminal's word for its size has no other bound.
    static let largest = (columns: 1_000, rows: 500)
    /// Characters; window managers show fewer.
    static let longestTitle = 200
    /// What one `readEvents` takes at most, so that a flood of input cannot keep the screen from drawing.
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
    /// Set while the terminal is another's: nothing is written then, and nothing read.
    private(set) var isAway = false

    /// Takes the terminal over; nil where ncurses cannot drive it.
    ///
    /// Descriptors are copied and stay the caller's. An empty `locale` is the environment's.
    init?(input inputDescriptor: Int32, output outputDescriptor: Int32, configuration: TerminalConfiguration)
    {
        // Only the character set: a decimal comma would change what other libraries parse.
        setlocale(LC_CTYPE, configuration.locale)
        isUnicode = nl_langinfo(nl_item(CODESET)).map { String(cString: $0) == "UTF-8" } ?? false
        guard let input = Self.stream(inputDescriptor, "r") else { return nil }
        guard let output = Self.stream(outputDescriptor, "w") else {
            fclose(input)
            return nil
        }
        // An escape key is told from a sequence by what follows within this many milliseconds.
        set_escdelay(25)
        guard let screen = newterm(configuration.term, output, input), let window = curses_stdscr() else {
            fclose(input)
            fclose(output)
            return nil
        }
        (self.screen, self.window, self.input, self.output) = (screen, window, input, output)
        // Not raw: Ctrl-C and Ctrl-Z stay signals, also for the programs around us.
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

    /// The window's size, asked of the terminal itself: `LINES` and `COLUMNS` of the environment go stale.
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

    /// Writes what differs from the last frame; all of it after a resize or when `isWhole`.
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

    /// What was typed since the last call; never waits longer than the escape delay.
    ///
    /// The second value says that more may be waiting.
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

    /// Gives the terminal back as it was, for a stop of the process.
    mutating func suspend() {
        guard !isSuspended, !isAway else { return }
        isSuspended = true
        send(modes.leave)
        Self.end(window)
    }

    /// Ends ncurses' hold. A terminal without a second screen (the Linux console, GNU screen as it comes) keeps what
    /// stood there; the last row, where the shell goes on, is emptied at least.
    private static func end(_ window: UnsafeMutablePointer<WINDOW>) {
        wmove(window, getmaxy(window) - 1, 0)
        wclrtoeol(window)
        wrefresh(window)
        endwin()
    }

    /// From now on the terminal is another's, until it is taken over again.
    mutating func stayAway() { isAway = true }

    /// Takes the terminal over again, after `suspend` or from a shell that changed it while the process was stopped
    /// without a word; the next frame is written whole.
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

    /// Names the terminal's window, where the name that it had comes back at the end.
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
            // The last cell of the window reports an error though it is drawn: nothing scrolls.
            wadd_wch(window, &character)
        }
    }

    /// The cell as ncurses takes it: it counts columns by the C library, whose table can be older
    /// or, in other locales, smaller than ours. What it counts otherwise becomes a question mark.
    private func drawable(_ cell: Cell) -> [[wchar_t]] {
        let characters = cell.text.unicodeScalars.map { wchar_t($0.value) }
        let (question, space) = (wchar_t(0x3F), wchar_t(0x20))
        guard let base = characters.first, isUnicode || base < 0x7F, Int(wcwidth(base)) == cell.width else {
            return cell.width == 2 ? [[question], [space]] : [[question]]
        }
        return isUnicode ? [characters] : [[base]]
    }

    /// Bytes that ncurses knows nothing of, after those that it still holds.
    private func send(_ text: String) {
        guard !text.isEmpty else { return }
        fflush(output)
        var text = text
        _ = text.withUTF8 { Glibc.write(fileno(output), $0.baseAddress, $0.count) }
    }

    /// Sequences that terminal descriptions leave out: the marks of a paste, the mouse, and the arrows as
    /// terminals send them that ignore the keypad mode. Unknown ones would arrive letter by letter.
    private static func defineKeys() {
        define_key("\u{1B}[200~", InputDecoder.pasteStart)
        define_key("\u{1B}[201~", InputDecoder.pasteEnd)
        // Not ncurses' own mouse: it waits to tell presses from clicks, and asks the console's gpm.
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
