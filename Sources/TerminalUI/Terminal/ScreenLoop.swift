import System

internal import Glibc
internal import Media

/// Waits for keys, signals and snapshots, applies each to the state and draws the result.
///
/// Runs on one thread. While nothing happens it sleeps in `poll` without a timer.
struct ScreenLoop: ~Copyable {
    private let player: any PlayerControl
    private let surroundings: ScreenSurroundings
    private let view: ScreenView
    private let input: Int32
    private let updates: WakePipe
    private let signals: WakePipe
    private let quitWait: Duration
    private let remember: @Sendable (String) -> Void
    private let lister: PathLister
    private let clock: any MonotonicClock
    private var state: UIState
    private var pacer = RedrawPacer()
    private var clicks = ClickCounter()
    private var hasMoreInput = false
    /// `true` while a filter or search that a key started is unfinished.
    private var owesAnswer = false
    /// Set once the player must quit: the exit to report, and the time until which to wait for the player.
    private var leaving: (exit: TerminalExit, until: Duration)?
    private var exit: TerminalExit?

    /// The descriptor and the pipes must outlive the loop.
    init(
        player: any PlayerControl,
        surroundings: ScreenSurroundings,
        view: ScreenView,
        input: Int32,
        updates: WakePipe,
        signals: WakePipe,
        configuration: TerminalConfiguration,
        size: (columns: Int, rows: Int)
    ) {
        self.player = player
        self.surroundings = surroundings
        self.view = view
        self.input = input
        self.updates = updates
        self.signals = signals
        quitWait = configuration.quitWait
        clock = configuration.clock
        remember = configuration.remember
        lister = PathLister { updates.wake() }
        state = UIState(
            columns: size.columns,
            rows: size.rows,
            keyMap: configuration.keyMap,
            history: CommandHistory(configuration.history)
        )
    }

    /// Runs until the user quits, a signal ends the program, or the player has ended.
    mutating func run(on screen: inout CursesScreen, relay: borrowing SignalRelay) -> TerminalExit {
        // The first frame is drawn before any wait.
        apply(.snapshot(player.snapshot), on: &screen)
        if surroundings.cache == nil { apply(.cache(nil), on: &screen) }
        draw(on: &screen)
        while true {
            if let exit { return exit }
            pacer.soundMoves(state.movesSound)
            wait(on: &screen, relay: relay)
            doWork(on: &screen)
            showIfDue(on: &screen)
            if let leaving, clock.now >= leaving.until { exit = leaving.exit }
        }
    }

    private mutating func wait(on screen: inout CursesScreen, relay: borrowing SignalRelay) {
        var descriptors = [input, signals.readEnd, updates.readEnd].map {
            pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
        }
        // A signal interrupts `poll` without a result; the next call finds the signal's byte. While this
        // process is in the background, input is for the program in the foreground.
        if screen.isAway { descriptors[0].fd = -1 }
        let isReady = poll(&descriptors, nfds_t(descriptors.count), timeout(isAway: screen.isAway)) >= 0
        if screen.isAway, Foreground.holds(input) {
            takeOver(screen: &screen, relay: relay)
            fit(&screen)
        }
        guard isReady else { return }
        if descriptors[1].revents != 0 {
            for signal in signals.drain() { handle(signal: Int32(signal), on: &screen, relay: relay) }
        }
        if descriptors[2].revents != 0 {
            _ = updates.drain()
            pacer.snapshotArrived()
            let listed = lister.take()
            for (word, paths) in listed { apply(.listed(word: word, paths: paths), on: &screen) }
            if !listed.isEmpty { draw(on: &screen) }
        }
        if descriptors[0].revents & ~Int16(POLLIN) != 0 {
            // The terminal is lost, with or without a SIGHUP: it would stay readable for ever without input.
            // So quit without waiting for the player.
            player.send(.quit)
            exit = .signal(SIGHUP)
        } else if descriptors[0].revents != 0 || hasMoreInput {
            readKeys(on: &screen)
        }
    }

    /// The milliseconds for `poll`; -1, without end, if nothing is due.
    private func timeout(isAway: Bool) -> Int32 {
        if hasMoreInput || state.hasWork { return 0 }
        let now = clock.now
        let due = [
            pacer.delay(at: now), leaving.map { max(.zero, $0.until - now) },
            isAway ? Foreground.checkInterval : nil,
        ].compactMap { $0 }.min()
        guard let due else { return -1 }
        // Rounded up: a wait that ends too early would only have to be repeated.
        return Int32(min(Int64(Int32.max), Int64((due / .milliseconds(1)).rounded(.up))))
    }

    private mutating func readKeys(on screen: inout CursesScreen) {
        let (events, isFull) = screen.readEvents()
        hasMoreInput = isFull
        // Keys act on the latest state, not on the last frame drawn.
        if !events.isEmpty { apply(.snapshot(player.snapshot), on: &screen) }
        for event in events where exit == nil {
            if case .mouse(let mouse) = event {
                for event in clicks.events(for: mouse, at: clock.now) { apply(.mouse(event), on: &screen) }
            } else {
                apply(event, on: &screen)
            }
        }
        if !events.isEmpty { owesAnswer = state.hasWork }
        draw(on: &screen)
    }

    /// Does one slice of a filter or search while no key waits. Partial results are drawn at the rate of snapshots,
    /// but the complete result of a key at once.
    private mutating func doWork(on screen: inout CursesScreen) {
        guard state.hasWork, !hasMoreInput, exit == nil else { return }
        apply(.idle, on: &screen)
        pacer.snapshotArrived()
        guard owesAnswer, !state.hasWork else { return }
        owesAnswer = false
        showUpdates(on: &screen)
    }

    /// Reads the cache and the requests if they changed.
    private mutating func readSurroundings(on screen: inout CursesScreen) {
        if let report = surroundings.cache?.report, report.revision != state.cache.report.revision {
            apply(.cache(report), on: &screen)
        }
        guard state.view == .network, let requests = surroundings.requests else { return }
        // In this order: a request that ends in between appears twice in one frame, rather than not at all.
        let underWay = requests.underWay
        guard requests.recordCount != state.network.recordCount || underWay != state.network.underWay else {
            return
        }
        let newest = requests.newest
        apply(.requests(newest.records, count: newest.count, underWay: underWay), on: &screen)
    }

    private mutating func showIfDue(on screen: inout CursesScreen) {
        guard pacer.delay(at: clock.now) == .zero || (leaving != nil && player.snapshot.isOver) else {
            return
        }
        showUpdates(on: &screen)
    }

    private mutating func showUpdates(on screen: inout CursesScreen) {
        // While the spectrum moves, the snapshot need not be read twenty times a second.
        if pacer.isStale || leaving != nil { apply(.snapshot(player.snapshot), on: &screen) }
        if state.movesSound { apply(.sound(player.soundPicture, at: clock.now), on: &screen) }
        draw(on: &screen)
        pacer.drawn(at: clock.now)
    }

    private mutating func handle(
        signal: Int32,
        on screen: inout CursesScreen,
        relay: borrowing SignalRelay
    ) {
        switch signal {
        case SIGWINCH: break
        // SIGCONT also follows a stop of our own; then this only redraws.
        case SIGCONT: takeOver(screen: &screen, relay: relay)
        case SIGTSTP:
            screen.suspend()
            relay.disarm()
            relay.suspend()
            takeOver(screen: &screen, relay: relay)
        default:
            // After a second signal, do not wait for the player.
            guard leaving == nil else {
                exit = .signal(signal)
                return
            }
            leaving = (.signal(signal), clock.now + quitWait)
            apply(.endRequested, on: &screen)
        }
        if !screen.isAway { fit(&screen) }
    }

    private mutating func fit(_ screen: inout CursesScreen) {
        let size = screen.fitWindow()
        apply(.resized(columns: size.columns, rows: size.rows), on: &screen)
        draw(on: &screen)
    }

    /// Takes control of the terminal again if this process is in the foreground; otherwise playback continues
    /// without a screen.
    private func takeOver(screen: inout CursesScreen, relay: borrowing SignalRelay) {
        guard Foreground.holds(input) else {
            relay.disarm()
            screen.stayAway()
            return
        }
        // In this order, so that a fault in between restores the terminal.
        relay.arm()
        screen.resume()
    }

    private mutating func apply(_ event: UIEvent, on screen: inout CursesScreen) {
        for action in state.apply(event) {
            switch action {
            case .send(let command): player.send(command)
            case .remember(let line): remember(line)
            case .listPaths(let word): lister.list(word)
            case .watchCache(let isWatched): surroundings.cache?.watch(isWatched)
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
                    leaving = (.quit, clock.now + quitWait)
                }
            }
        }
    }

    private mutating func draw(on screen: inout CursesScreen) {
        guard exit == nil else { return }
        readSurroundings(on: &screen)
        screen.setTitle(WindowTitle.text(for: state.player, glyphs: view.glyphs))
        screen.show(view.draw(state))
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

    package init() {}

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
