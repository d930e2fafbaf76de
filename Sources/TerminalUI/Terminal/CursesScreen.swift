internal import CCurses
internal import Glibc
internal import Media
internal import System

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
        isUnicode = Glyphs.ofLocale(configuration.locale).isUnicode
        guard let type = configuration.type, let output = Self.stream(configuration.output) else {
            return nil
        }
        // `newterm` requires an input too, but ncurses never reads it here.
        guard let screen = newterm(type, output, output), let window = curses_stdscr() else {
            fclose(output)
            return nil
        }
        self.screen = screen
        self.window = window
        self.output = output
        // Not raw mode, so that Ctrl-C and Ctrl-Z remain signals, for the other processes of the group too.
        cbreak()
        noecho()
        nonl()
        Self.unbindCtrlS(fileno(output))
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
        let rows = frame.changedRows(since: isWhole ? nil : shown)
        guard !rows.isEmpty || shown == nil || isWhole else { return }
        var uncertain: [(cell: Cell, parts: [[wchar_t]], column: Int, row: Int)] = []
        for row in rows {
            for (column, cell) in frame[row: row].enumerated() where cell.width > 0 {
                let parts = drawable(cell)
                let isCertain = Self.isCertain(parts, width: cell.width)
                if !isCertain { uncertain.append((cell, parts, column, row)) }
                wmove(window, Int32(row), Int32(column))
                for part in isCertain ? parts : Array(repeating: [Self.space], count: cell.width) {
                    write(part, cell)
                }
            }
        }
        shown = frame
        if isWhole { clearok(window, true) }
        wrefresh(window)
        for item in uncertain { overwrite(item.parts, item.cell, column: item.column, row: item.row) }
    }

    /// Writes a character over blanks: the terminal may draw it in fewer columns than ncurses counts, or it
    /// has more marks than a cell of ncurses holds.
    private func overwrite(_ parts: [[wchar_t]], _ cell: Cell, column: Int, row: Int) {
        wmove(window, Int32(row), Int32(column))
        for part in parts {
            write(Array(part.prefix(Self.cellLimit)), cell)
            guard part.count > Self.cellLimit else { continue }
            wrefresh(window)
            let further = part.dropFirst(Self.cellLimit).compactMap { Unicode.Scalar(UInt32($0)) }
            send(String(String.UnicodeScalarView(further)))
        }
        wrefresh(window)
        // The terminal's cursor may not be where ncurses expects it. After the last column, ncurses expects
        // nothing.
        let end = column + cell.width
        if end < Int(getmaxx(window)) { send("\u{1B}[\(row + 1);\(end + 1)H") }
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

    /// Writes a character with columns and its marks where the last one ended.
    private func write(_ part: [wchar_t], _ cell: Cell) {
        let (attributes, pair) = palette.rendition(of: cell.style, on: cell.ground)
        var character = cchar_t()
        guard setcchar(&character, part + [0], attributes, pair, nil) == OK else { return }
        // For the last cell of the window this returns an error although the cell is drawn, because the
        // window does not scroll.
        wadd_wch(window, &character)
    }

    /// The cell as characters with columns, each with its marks, for which ncurses counts the same columns.
    ///
    /// ncurses asks the C library, whose table can be older than ours or, in other locales, smaller. A
    /// character with another width there is replaced by its ASCII form or a question mark.
    private func drawable(_ cell: Cell) -> [[wchar_t]] {
        var parts: [[wchar_t]] = []
        var columns = 0
        for character in cell.text.unicodeScalars.map({ wchar_t($0.value) }) {
            let width = isUnicode || character < 0x7F ? max(0, Int(wcwidth(character))) : 0
            if width == 0, let last = parts.indices.last {
                if isUnicode { parts[last].append(character) }
            } else {
                parts.append([character])
                columns += width
            }
        }
        if columns == cell.width { return parts }
        let question = parts.first.flatMap { Self.asciiForms[$0[0]] } ?? 0x3F
        return [[question]] + Array(repeating: [Self.space], count: cell.width - 1)
    }

    /// `true` if all terminals draw `parts` in `width` columns. Some join emoji: wide characters after the
    /// first.
    private static func isCertain(_ parts: [[wchar_t]], width: Int) -> Bool {
        (parts.count == 1 || parts.count == width) && parts.allSatisfy { $0.count <= cellLimit }
    }

    private static let space = wchar_t(0x20)

    /// The most characters in a cell of ncurses (`CCHARW_MAX`).
    private static let cellLimit = 5

    /// Makes Ctrl-S a key like others: it would stop the output, which looks like a player that hangs.
    private static func unbindCtrlS(_ descriptor: Int32) {
        var modes = termios()
        guard tcgetattr(descriptor, &modes) == 0 else { return }
        modes.c_iflag &= ~tcflag_t(IXON)
        tcsetattr(descriptor, TCSANOW, &modes)
        // ncurses sets these modes again after a stop.
        def_prog_mode()
    }

    /// The ASCII forms of symbols in our own messages.
    private static let asciiForms: [wchar_t: wchar_t] = [0x2013: 0x2D, 0xB7: 0x2D, 0x2026: 0x7E]

    /// Writes bytes without ncurses, after those in its buffer.
    private func send(_ text: String) {
        guard !text.isEmpty else { return }
        fflush(output)
        try? WholeFile.write(text.utf8, to: fileno(output))
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
