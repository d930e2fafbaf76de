import System

internal import Glibc
internal import Media

/// Waits for keys, signals and snapshots, applies each to the state and draws the result.
///
/// Runs on one thread. While nothing happens it sleeps in `poll` without a timer.
struct ScreenLoop: ~Copyable {
    /// The shortest pause between a word that is typed and the next key.
    static let typingPause = Duration.seconds(1)

    private let player: any PlayerControl
    private let surroundings: ScreenSurroundings
    private let configuration: TerminalConfiguration
    private let updates: WakePipe
    private let signals: WakePipe
    private let view: ScreenView
    private let lister: Lister
    private var screen: CursesScreen
    private var keys: TerminalInput
    private var state: UIState
    /// The terminal's, if it has reported one.
    private var background: ScreenColor?
    private var pacer = RedrawPacer()
    private var notices = NoticeTimer()
    private var clicks = ClickCounter()
    /// The time of the last events.
    private var typedAt = Duration.zero
    /// `true` while a filter or search that a key started is unfinished.
    private var owesAnswer = false
    /// Set once the player must quit: the exit to report, and the time until which to wait for the player.
    private var leaving: (exit: TerminalExit, until: Duration)?
    private var exit: TerminalExit?
    /// The tracks without tags that the player was told of last.
    private var untagged: [Track.ID] = []

    /// `input`, the descriptor to read keys from, and the pipes must outlive the loop.
    init(
        player: any PlayerControl,
        surroundings: ScreenSurroundings,
        configuration: TerminalConfiguration,
        screen: consuming CursesScreen,
        input: Int32,
        updates: WakePipe,
        signals: WakePipe
    ) {
        let size = screen.fitWindow()
        let glyphs = screen.isUnicode ? Glyphs.unicode : .ascii
        view = ScreenView(glyphs: glyphs, timeOfDay: surroundings.timeOfDay)
        lister = Lister(themes: configuration.listThemes, devices: surroundings.devices) { updates.wake() }
        keys = TerminalInput(descriptor: input)
        state = UIState(
            columns: size.columns,
            rows: size.rows,
            keyMap: configuration.keyMap,
            history: configuration.history,
            theme: configuration.theme
        )
        self.player = player
        self.surroundings = surroundings
        self.configuration = configuration
        self.updates = updates
        self.signals = signals
        self.screen = screen
    }

    private var now: Duration { configuration.clock.now }

    /// Runs until the user quits, a signal ends the program, or the player has ended.
    mutating func run(relay: borrowing SignalRelay) -> TerminalExit {
        // The first frame is drawn before any wait.
        apply(.snapshot(player.snapshot))
        draw()
        while true {
            if let exit {
                keys.dropReply()
                return exit
            }
            pacer.soundMoves(state.movesSound)
            wait(relay: relay)
            doWork()
            showIfDue()
            if notices.delay(at: now) == .zero {
                apply(.noticeExpired)
                draw()
            }
            if let leaving, now >= leaving.until { exit = leaving.exit }
        }
    }

    private mutating func wait(relay: borrowing SignalRelay) {
        // While this process is in the background, input is for the program in the foreground. A signal
        // interrupts the wait without a result; the next wait finds the signal's byte.
        let input = screen.isAway ? -1 : keys.descriptor
        let found = Poll.wait(reading: [input, signals.readEnd, updates.readEnd], atMost: longestWait)
        if screen.isAway, Foreground.holds(keys.descriptor) {
            takeOver(relay: relay)
            fit()
        }
        guard let found else { return }
        if found[1] != 0 {
            for signal in signals.drain() { handle(signal: Int32(signal), relay: relay) }
        }
        if found[2] != 0 {
            _ = updates.drain()
            pacer.snapshotArrived()
            let listed = lister.take()
            for event in listed { apply(event) }
            if !listed.isEmpty { draw() }
        }
        guard found[0] != 0 else { return }
        if found[0] == Int16(POLLIN), let events = keys.readEvents() { return receive(events) }
        // The terminal is lost, with or without a SIGHUP: it would stay readable for ever without input.
        // So quit without waiting for the player.
        player.send(.quit)
        exit = .signal(SIGHUP)
    }

    /// The time until something is due; `nil` if nothing is.
    private var longestWait: Duration? {
        if state.hasWork { return .zero }
        let now = now
        return [
            pacer.delay(at: now), notices.delay(at: now), leaving.map { max(.zero, $0.until - now) },
            screen.isAway ? Foreground.checkInterval : nil,
        ].compactMap { $0 }.min()
    }

    /// Applies what was typed, pasted and clicked.
    private mutating func receive(_ events: [UIEvent]) {
        // A part of a paste or of a sequence changes nothing yet.
        guard !events.isEmpty else { return }
        // Keys act on the latest state, not on the last frame drawn.
        apply(.snapshot(player.snapshot))
        if now - typedAt >= Self.typingPause { apply(.typingPaused) }
        typedAt = now
        for event in events where exit == nil {
            switch event {
            case .mouse(let mouse):
                for event in clicks.events(for: mouse, at: now) { apply(.mouse(event)) }
            case .background(let color): background = color
            default: apply(event)
            }
        }
        owesAnswer = state.hasWork
        draw()
    }

    /// Examines one slice of tracks for the filter or search. Partial results are drawn at the rate of
    /// snapshots; the complete result of a key is drawn at once.
    private mutating func doWork() {
        guard state.hasWork, exit == nil else { return }
        apply(.idle)
        pacer.snapshotArrived()
        guard owesAnswer, !state.hasWork else { return }
        owesAnswer = false
        showUpdates()
    }

    private mutating func showIfDue() {
        guard pacer.delay(at: now) == .zero || (leaving != nil && player.snapshot.isOver) else { return }
        showUpdates()
    }

    private mutating func showUpdates() {
        // A redraw for the spectrum alone needs no new snapshot.
        if pacer.isStale || leaving != nil { apply(.snapshot(player.snapshot)) }
        if state.movesSound { apply(.sound(player.soundPicture, at: now)) }
        draw()
        pacer.drawn(at: now)
    }

    private mutating func handle(signal: Int32, relay: borrowing SignalRelay) {
        switch signal {
        case SIGWINCH: break
        // SIGCONT also follows a stop of our own; then this only redraws.
        case SIGCONT: takeOver(relay: relay)
        case SIGTSTP:
            screen.suspend()
            relay.disarm()
            relay.suspend()
            takeOver(relay: relay)
        default:
            // After a second signal, do not wait for the player.
            guard leaving == nil else {
                exit = .signal(signal)
                return
            }
            leaving = (.signal(signal), now + configuration.quitWait)
            apply(.endRequested)
        }
        if !screen.isAway { fit() }
    }

    private mutating func fit() {
        let size = screen.fitWindow()
        apply(.resized(columns: size.columns, rows: size.rows))
        draw()
    }

    /// Takes control of the terminal again if this process is in the foreground; otherwise playback continues
    /// without a screen.
    private mutating func takeOver(relay: borrowing SignalRelay) {
        guard Foreground.holds(keys.descriptor) else {
            relay.disarm()
            screen.stayAway()
            return
        }
        // In this order, so that a fault in between restores the terminal.
        relay.arm()
        screen.resume()
    }

    private mutating func apply(_ event: UIEvent) {
        for action in state.apply(event) {
            switch action {
            case .send(let command): player.send(command)
            case .remember(let line): configuration.remember(line)
            case .listPaths(let word): lister.listPaths(word)
            case .listThemes(let word): lister.listThemes(word)
            case .listDevices(let word): lister.listDevices(word)
            case .watchCache(let isWatched): surroundings.cache?.watch(isWatched)
            case .answer(let number, let answer): give(answer, to: number)
            case .evict(let entry): surroundings.cache?.evict(entry)
            case .setPinned(let entry, let isPinned): surroundings.cache?.setPinned(entry, isPinned)
            case .watchSound(let isWatched): player.watchSound(isWatched)
            case .redrawAll: screen.show(view.draw(state), isWhole: true)
            case .leave:
                if let leaving {
                    exit = leaving.exit
                } else if state.player.isOver {
                    exit = .over
                } else {
                    leaving = (.quit, now + configuration.quitWait)
                }
            }
        }
    }

    private mutating func give(_ answer: LoginAnswer, to number: Int) {
        do throws(MediaError) {
            try surroundings.logins?.answer(number, answer)
            if case .login(_, isKept: true) = answer { apply(.loginKept(nil)) }
        } catch {
            apply(.loginKept(error))
        }
    }

    private mutating func draw() {
        guard exit == nil else { return }
        for event in state.lists.news(in: surroundings) { apply(event) }
        if state.login == nil, let question = surroundings.logins?.question { apply(.login(question)) }
        notices.show(state.notice, at: now)
        screen.setTitle(WindowTitle.text(for: state.player, glyphs: view.glyphs))
        screen.use(state.theme, background: background)
        screen.show(view.draw(state))
        // Asked after the first frame, which is not delayed for it.
        if screen.askForBackground() { keys.asked() }
        guard state.view == .queue else { return }
        let shown = state.queue.untaggedTracks(in: state.player)
        let ids = shown.map(\.id)
        guard ids != untagged else { return }
        untagged = ids
        player.showTracks(shown)
    }
}

/// Limits how often snapshots and the spectrum redraw the screen; keys are handled at once.
///
/// Pure: the caller passes the time. Without a change no redraw is due, so the loop waits without a timer.
package struct RedrawPacer {
    /// Ten redraws a second look smooth for a clock that counts seconds, and take hardly any time.
    package static let interval = Duration.milliseconds(100)
    /// The interval while the spectrum moves.
    package static let movingInterval = Duration.milliseconds(50)

    private var drawnAt: Duration?
    /// `true` if there is a snapshot newer than the one drawn.
    package private(set) var isStale = false
    private var isMoving = false

    package mutating func snapshotArrived() { isStale = true }

    /// While the spectrum moves, every interval has something to draw.
    package mutating func soundMoves(_ isMoving: Bool) { self.isMoving = isMoving }

    /// The newest snapshot was drawn.
    package mutating func drawn(at now: Duration) {
        drawnAt = now
        isStale = false
    }

    /// The wait before the next redraw: zero if it is due, `nil` if nothing has to be drawn.
    package func delay(at now: Duration) -> Duration? {
        guard isStale || isMoving else { return nil }
        guard let drawnAt else { return .zero }
        return max(.zero, drawnAt + (isMoving ? Self.movingInterval : Self.interval) - now)
    }
}

/// Times the answer or message at the bottom of the screen. Pure: the caller passes the time.
package struct NoticeTimer {
    /// Long enough to read a line of 80 columns twice.
    package static let longest = Duration.seconds(10)

    private var notice: [Int]?
    private var end = Duration.zero

    /// `notice` identifies the line that is shown now; `nil` if there is none.
    package mutating func show(_ notice: [Int]?, at now: Duration) {
        guard notice != self.notice else { return }
        self.notice = notice
        end = now + Self.longest
    }

    /// The wait until the line goes: zero if it is due, `nil` if there is none.
    package func delay(at now: Duration) -> Duration? { notice == nil ? nil : max(.zero, end - now) }
}
