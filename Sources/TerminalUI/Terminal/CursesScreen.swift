internal import CCurses
internal import Glibc
internal import Media

/// One terminal that ncurses draws on, from `newterm` to `endwin`. Its keys are read by `TerminalInput`.
///
/// ncurses is not thread safe and keeps its screen in globals: only one value may exist at a time, and it is
/// used on the thread that created it. Uses `newterm` because `initscr` ends the process on failure.
struct CursesScreen: ~Copyable {
    /// The largest area drawn: a terminal can claim any size.
    static let largest = (columns: 1_000, rows: 500)
    /// The longest title in characters; window managers show fewer.
    static let longestTitle = 200

    let isUnicode: Bool
    private let screen: OpaquePointer
    private let window: UnsafeMutablePointer<WINDOW>
    private let output: UnsafeMutablePointer<FILE>
    private var palette: Palette
    let modes: TerminalModes
    private var shownTitle: SafeText?
    private var shown: CellBuffer?
    private var isSuspended = false
    /// `true` while the terminal belongs to another process: nothing is written then.
    private(set) var isAway = false

    /// Takes control of the terminal; `nil` if ncurses cannot use it.
    ///
    /// The output's descriptor is copied and remains the caller's.
    init?(configuration: TerminalConfiguration) {
        // Sets only the character set: with a decimal comma, other libraries would parse numbers differently.
        setlocale(LC_CTYPE, configuration.locale)
        isUnicode = nl_langinfo(nl_item(CODESET)).map { String(cString: $0) == "UTF-8" } ?? false
        guard let output = Self.stream(configuration.output) else { return nil }
        // `newterm` requires an input too, but ncurses never reads it here.
        guard let screen = newterm(configuration.term, output, output), let window = curses_stdscr() else {
            fclose(output)
            return nil
        }
        (self.screen, self.window, self.output) = (screen, window, output)
        // Not raw mode, so that Ctrl-C and Ctrl-Z remain signals, for the other processes of the group too.
        cbreak()
        noecho()
        nonl()
        // Otherwise ncurses stops drawing if keys are waiting.
        typeahead(-1)
        curs_set(0)
        // The hidden cursor need not be moved after each frame.
        leaveok(window, true)
        palette = Palette(
            usesColor: configuration.usesColor,
            choices: configuration.colors,
            theme: configuration.theme ?? .dark
        )
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

    /// Passes the rows that differ from the last frame to ncurses, which sends only the cells that differ;
    /// after a resize or if `isWhole`, all cells are sent.
    mutating func show(_ frame: CellBuffer, isWhole: Bool = false) {
        guard !isAway else { return }
        if shown?.columns != frame.columns || shown?.rows != frame.rows {
            shown = nil
            werase(window)
        }
        let rows = frame.changedRows(since: shown)
        guard !rows.isEmpty || shown == nil || isWhole else { return }
        for row in rows {
            for (column, cell) in frame[row: row].enumerated() where cell.width > 0 {
                write(cell, column: column, row: row)
            }
        }
        shown = frame
        if isWhole { clearok(window, true) }
        wrefresh(window)
    }

    /// Asks the terminal for its background, unless the user has set the theme or the terminal cannot know;
    /// `true` if it will answer.
    func askForBackground() -> Bool {
        guard let question = modes.question, palette.hasColors else { return false }
        send(question)
        return true
    }

    /// Shows all later frames in the colours for `theme`.
    mutating func use(_ theme: Theme) {
        // Cells keep the numbers of their colour pairs, so all are written again.
        if palette.change(to: theme) { shown = nil }
    }

    /// Restores the terminal before the process stops.
    mutating func suspend() {
        guard !isSuspended, !isAway else { return }
        isSuspended = true
        send(modes.leave)
        Self.end(window)
    }

    /// Ends ncurses' control. A terminal without an alternate screen (the Linux console, GNU screen by
    /// default) keeps the last frame; its last row, where the shell continues, is cleared.
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

    /// The ASCII forms of symbols in our own messages.
    private static let asciiForms: [wchar_t: wchar_t] = [0x2013: 0x2D, 0xB7: 0x2D, 0x2026: 0x7E]

    /// Writes bytes without ncurses, after those in its buffer.
    private func send(_ text: String) {
        guard !text.isEmpty else { return }
        fflush(output)
        var text = text
        _ = text.withUTF8 { Glibc.write(fileno(output), $0.baseAddress, $0.count) }
    }

    private static func stream(_ descriptor: Int32) -> UnsafeMutablePointer<FILE>? {
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
        guard copy >= 0 else { return nil }
        guard let stream = fdopen(copy, "w") else {
            close(copy)
            return nil
        }
        return stream
    }
}
