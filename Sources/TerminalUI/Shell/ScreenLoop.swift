import System

internal import Glibc
internal import Media

/// Waits for keys, signals and snapshots, and turns each into a step of the state and a frame.
///
/// Runs on one thread from start to end. Without news it sleeps in `poll` with no timer at all.
struct ScreenLoop: ~Copyable {
    private let player: any PlayerControl
    private let surroundings: ScreenSurroundings
    private let view: ScreenView
    private let input: Int32
    private let news: WakePipe
    private let signals: WakePipe
    private let patience: Duration
    private let remember: @Sendable (String) -> Void
    private let lister: PathLister
    private let clock: any MonotonicClock
    private var state: UIState
    private var pacer = RedrawPacer()
    private var clicks = ClickCounter()
    private var hasMoreInput = false
    /// Whether work is under way that a key asked for.
    private var owesAnswer = false
    /// Set once the player was told to quit: what to report, and until when to wait for it.
    private var leaving: (exit: TerminalExit, until: Duration)?
    private var exit: TerminalExit?

    /// The descriptor and the pipes must outlive the loop.
    init(
        player: any PlayerControl,
        surroundings: ScreenSurroundings,
        view: ScreenView,
        input: Int32,
        news: WakePipe,
        signals: WakePipe,
        configuration: TerminalConfiguration,
        size: (columns: Int, rows: Int)
    ) {
        self.player = player
        self.surroundings = surroundings
        self.view = view
        self.input = input
        self.news = news
        self.signals = signals
        patience = configuration.quitPatience
        clock = configuration.clock
        remember = configuration.remember
        lister = PathLister { news.wake() }
        state = UIState(
            columns: size.columns,
            rows: size.rows,
            keyMap: configuration.keyMap,
            history: CommandHistory(configuration.history)
        )
    }

    /// Runs until the listener leaves, a signal ends the program, or the player is over.
    mutating func run(on screen: inout CursesScreen, relay: borrowing SignalRelay) -> TerminalExit {
        // The first frame comes before anything is waited for.
        apply(.snapshot(player.snapshot), on: &screen)
        if surroundings.kept == nil { apply(.kept(nil), on: &screen) }
        draw(on: &screen)
        while true {
            if let exit { return exit }
            pacer.soundMoves(state.movesSound)
            waitForNews(on: &screen, relay: relay)
            doWork(on: &screen)
            showNewest(on: &screen)
            if let leaving, clock.now >= leaving.until { exit = leaving.exit }
        }
    }

    private mutating func waitForNews(on screen: inout CursesScreen, relay: borrowing SignalRelay) {
        var descriptors = [input, signals.readEnd, news.readEnd].map {
            pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
        }
        // Interrupted by a signal, it reports nothing; the signal's byte is there the next time.
        // What is typed meanwhile is for the program in front.
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
            _ = news.drain()
            pacer.snapshotArrived()
            let listed = lister.take()
            for (word, paths) in listed { apply(.listed(word: word, paths: paths), on: &screen) }
            if !listed.isEmpty { draw(on: &screen) }
        }
        if descriptors[0].revents & ~Int16(POLLIN) != 0 {
            // The terminal is gone, with or without a SIGHUP: it stays readable for ever and says
            // nothing. There is nobody to wait for.
            player.send(.quit)
            exit = .signal(SIGHUP)
        } else if descriptors[0].revents != 0 || hasMoreInput {
            readKeys(on: &screen)
        }
    }

    /// Milliseconds for `poll`; -1, which is for ever, while nothing is due.
    private func timeout(isAway: Bool) -> Int32 {
        if hasMoreInput || state.hasWork { return 0 }
        let now = clock.now
        let due = [
            pacer.delay(at: now), leaving.map { max(.zero, $0.until - now) },
            isAway ? Foreground.patience : nil,
        ].compactMap { $0 }.min()
        guard let due else { return -1 }
        // Rounded up: a wait that ends too early would only turn round once more.
        return Int32(min(Int64(Int32.max), Int64((due / .milliseconds(1)).rounded(.up))))
    }

    private mutating func readKeys(on screen: inout CursesScreen) {
        let (events, isFull) = screen.readEvents()
        hasMoreInput = isFull
        // What a key is about is what there is now, and not what there was when it was drawn last.
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

    /// A slice of what takes its time, when no key waits. What came of it is shown at the pace of snapshots, but the
    /// whole answer to a key at once, as what was found first was.
    private mutating func doWork(on screen: inout CursesScreen) {
        guard state.hasWork, !hasMoreInput, exit == nil else { return }
        apply(.idle, on: &screen)
        pacer.snapshotArrived()
        guard owesAnswer, !state.hasWork else { return }
        owesAnswer = false
        showNews(on: &screen)
    }

    /// Takes what is shown besides the player, where there is news of it.
    private mutating func lookAround(on screen: inout CursesScreen) {
        if let report = surroundings.kept?.report, report.revision != state.cache.report.revision {
            apply(.kept(report), on: &screen)
        }
        guard state.view == .network, let requests = surroundings.requests else { return }
        // In this order: what ends in between is told twice for one frame, and not left out.
        let underWay = requests.underWay
        guard requests.recordCount != state.network.recordCount || underWay != state.network.underWay else {
            return
        }
        let newest = requests.newest
        apply(.requests(newest.records, count: newest.count, underWay: underWay), on: &screen)
    }

    private mutating func showNewest(on screen: inout CursesScreen) {
        guard pacer.delay(at: clock.now) == .zero || (leaving != nil && player.snapshot.isOver) else {
            return
        }
        showNews(on: &screen)
    }

    private mutating func showNews(on screen: inout CursesScreen) {
        // A picture that moves is no reason to look at all the rest twenty times a second.
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
        // Comes behind our own stop too, and then only draws once more.
        case SIGCONT: takeOver(screen: &screen, relay: relay)
        case SIGTSTP:
            screen.suspend()
            relay.disarm()
            relay.suspend()
            takeOver(screen: &screen, relay: relay)
        default:
            // Asked twice, it does not wait any more.
            guard leaving == nil else {
                exit = .signal(signal)
                return
            }
            leaving = (.signal(signal), clock.now + patience)
            apply(.endRequested, on: &screen)
        }
        if !screen.isAway { fit(&screen) }
    }

    private mutating func fit(_ screen: inout CursesScreen) {
        let size = screen.fitWindow()
        apply(.resized(columns: size.columns, rows: size.rows), on: &screen)
        draw(on: &screen)
    }

    /// Takes the terminal again where it is ours; in the background the music goes on without a screen.
    private func takeOver(screen: inout CursesScreen, relay: borrowing SignalRelay) {
        guard Foreground.holds(input) else {
            relay.disarm()
            screen.stayAway()
            return
        }
        // In this order: a fault in the midst of it gives the terminal back.
        relay.arm()
        screen.resume()
    }

    private mutating func apply(_ event: UIEvent, on screen: inout CursesScreen) {
        for action in state.apply(event) {
            switch action {
            case .send(let command): player.send(command)
            case .remember(let line): remember(line)
            case .listPaths(let word): lister.list(word)
            case .watchCache(let isWatched): surroundings.kept?.watch(isWatched)
            case .evict(let entry): surroundings.kept?.evict(entry)
            case .pinKept(let entry, let isPinned): surroundings.kept?.setPinned(entry, isPinned)
            case .watchSound(let isWatched): player.watchSound(isWatched)
            case .redrawAll: screen.show(view.draw(state), isWhole: true)
            case .leave:
                if let leaving {
                    exit = leaving.exit
                } else if state.player.isOver {
                    exit = .over
                } else {
                    leaving = (.quit, clock.now + patience)
                }
            }
        }
    }

    private mutating func draw(on screen: inout CursesScreen) {
        guard exit == nil else { return }
        lookAround(on: &screen)
        screen.setTitle(WindowTitle.text(for: state.player, glyphs: view.glyphs))
        screen.show(view.draw(state))
    }
}
