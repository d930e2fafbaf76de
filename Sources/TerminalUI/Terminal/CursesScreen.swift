internal import CCurses
internal import Glibc
internal import Media
internal import System

/// One terminal, from `newterm` to `endwin`. Its keys are read by `TerminalInput`.
///
/// ncurses draws on it, except with 24-bit colours, which ncurses only has by redefining the palette, or with
/// a description that few systems install. Then a `FrameWriter` draws, and ncurses' own window stays blank.
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
    /// `true` if the terminal draws 24-bit colours.
    private let isExact: Bool
    private var palette: Palette
    private var pairs: ColorPairs
    let modes: TerminalModes
    private var shownTitle: SafeText?
    private var shown: CellBuffer?
    private var isSuspended = false
    private var hasAsked = false
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
        let isExact = configuration.usesColor && has_colors() && Self.isExact(configuration)
        pairs = ColorPairs(usesColor: configuration.usesColor && !isExact)
        palette = Palette(
            colors: isExact ? Palette.exactColors : pairs.colors,
            own: configuration.colors,
            theme: configuration.theme
        )
        self.isExact = isExact
        modes = configuration.modes
        wrefresh(window)
        send(modes.enter)
    }

    deinit {
        if !isAway, !isSuspended {
            leave()
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

    /// Sends the cells that differ from the last frame; after a resize or if `isWhole`, all cells.
    mutating func show(_ frame: CellBuffer, isWhole: Bool = false) {
        guard !isAway else { return }
        guard isExact else { return draw(frame, isWhole: isWhole) }
        let before = isWhole ? nil : shown
        send(FrameWriter.bytes(from: before, to: frame, palette: palette, isUnicode: isUnicode))
        shown = frame
    }

    /// Passes the rows that differ from the last frame to ncurses, which sends only the cells that differ.
    private mutating func draw(_ frame: CellBuffer, isWhole: Bool) {
        if shown?.columns != frame.columns || shown?.rows != frame.rows {
            shown = nil
            werase(window)
        }
        var rows = frame.changedRows(since: isWhole ? nil : shown)
        if pairs.isFull, !rows.isEmpty {
            pairs.removeAll()
            rows = Array(0..<frame.rows)
        }
        guard !rows.isEmpty || shown == nil || isWhole else { return }
        var uncertain: [(cell: Cell, parts: [[wchar_t]], column: Int, row: Int)] = []
        for row in rows {
            for (column, cell) in frame[row: row].enumerated() where cell.width > 0 {
                let drawn = CellParts(of: cell, isUnicode: isUnicode)
                let isCertain = drawn.isCertain && drawn.parts.allSatisfy { $0.count <= Self.cellLimit }
                if !isCertain { uncertain.append((cell, drawn.parts, column, row)) }
                wmove(window, Int32(row), Int32(column))
                let values = pairs.values(for: palette.rendition(of: cell))
                for part in isCertain ? drawn.parts : drawn.blanks { write(part, values) }
            }
        }
        shown = frame
        if isWhole { clearok(window, true) }
        wrefresh(window)
        for item in uncertain { overwrite(item.parts, item.cell, column: item.column, row: item.row) }
    }

    /// Writes a character over blanks: the terminal may draw it in fewer columns than ncurses counts, or it
    /// has more marks than a cell of ncurses holds.
    private mutating func overwrite(_ parts: [[wchar_t]], _ cell: Cell, column: Int, row: Int) {
        wmove(window, Int32(row), Int32(column))
        let values = pairs.values(for: palette.rendition(of: cell))
        for part in parts {
            write(Array(part.prefix(Self.cellLimit)), values)
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

    /// Asks the terminal for its background, once, if that decides the colours and the terminal can know;
    /// `true` if it will answer.
    mutating func askForBackground() -> Bool {
        guard !hasAsked, !isAway, palette.followsTerminal, let question = modes.question else { return false }
        hasAsked = true
        send(question)
        return true
    }

    /// Shows all later frames in the colours of `theme`, on a terminal with `background` if that is known.
    mutating func use(_ theme: Theme, background: ScreenColor?) {
        let next = palette.showing(theme, terminal: background.map { BaseTheme(on: $0) } ?? .dark)
        guard next != palette else { return }
        palette = next
        // Only colours differ, which the comparison of cells does not see.
        pairs.removeAll()
        shown = nil
    }

    /// Restores the terminal before the process stops.
    mutating func suspend() {
        guard !isSuspended, !isAway else { return }
        isSuspended = true
        leave()
    }

    /// Ends our modes and ncurses' control. A terminal without an alternate screen (the Linux console, GNU
    /// screen by default) keeps the last frame; its last row, where the shell continues, is cleared.
    private func leave() {
        send(modes.leave)
        if isExact {
            send("\u{1B}[\(getmaxy(window));1H\u{1B}[K")
        } else {
            wmove(window, getmaxy(window) - 1, 0)
            wclrtoeol(window)
            wrefresh(window)
        }
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
    private func write(_ part: [wchar_t], _ values: (attributes: attr_t, pair: Int16)) {
        var character = cchar_t()
        guard setcchar(&character, part + [0], values.attributes, values.pair, nil) == OK else { return }
        // For the last cell of the window this returns an error although the cell is drawn, because the
        // window does not scroll.
        wadd_wch(window, &character)
    }

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

    /// `true` if the environment or the description says that the terminal draws 24-bit colours: `Tc` is
    /// tmux's word for it, `RGB` that of ncurses, as a flag, a number or a text.
    private static func isExact(_ configuration: TerminalConfiguration) -> Bool {
        configuration.saysExactColors || tigetflag("Tc") > 0 || tigetflag("RGB") > 0 || tigetnum("RGB") > 0
            || tigetstr("RGB").map { Int(bitPattern: $0) != -1 } ?? false
    }

    private func send(_ text: String) { send(Array(text.utf8)) }

    /// Writes bytes without ncurses, after those in its buffer.
    private func send(_ bytes: [UInt8]) {
        guard !bytes.isEmpty else { return }
        fflush(output)
        try? WholeFile.write(bytes, to: fileno(output))
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
