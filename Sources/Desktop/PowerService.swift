import Glibc
package import Media
package import System

/// Lets the player and the machine know of each other, by the system's bus: logind is told while music plays,
/// the music is paused before the machine sleeps, and the player learns from NetworkManager whether the
/// network is metered. Without the bus, or one of the two, it does nothing, and says nothing.
///
/// It begins only when the start of the music, which it must not delay, is over. Its thread then waits for
/// signals and for changes of the music, and for nothing else.
package final class PowerService: Sendable {
    package struct Settings: Sendable {
        /// The sleep that is forbidden while music plays.
        package enum Inhibition: String, Sendable, CaseIterable {
            case off
            case sleep
            /// That nobody uses the machine does not dim or lock the screen, and sends nothing to sleep.
            case idle
        }

        package var inhibition = Inhibition.off
        package var resumesAfterSleep = false

        package init() {}
    }

    fileprivate struct State {
        var music: PowerState.Music
        var events: [PowerEvent] = []
        var hasBegun = false
        var isOver = false
    }

    fileprivate let player: any PlayerControl
    fileprivate let settings: Settings
    private let clock: any MonotonicClock
    fileprivate let savePlace: @Sendable () async -> Void
    fileprivate let report: (@Sendable (NetworkCost) -> Void)?
    fileprivate let pipe: WakePipe
    fileprivate let state: Locked<State>

    /// Follows `player` until it is over. Returns at once.
    ///
    /// `savePlace` returns when the place of the paused music is on the disk. `report` is called with the
    /// cost of the network, first `unknown` and then at each change, from any thread; without it,
    /// NetworkManager is not asked.
    package static func start(
        _ player: any PlayerControl,
        _ settings: Settings,
        clock: any MonotonicClock,
        savePlace: @escaping @Sendable () async -> Void,
        report: (@Sendable (NetworkCost) -> Void)?
    ) {
        guard let pipe = WakePipe() else { return }
        report?(.unknown)
        let service = PowerService(player, settings, clock, savePlace, report, pipe)
        player.observe { service.playerChanged() }
    }

    private init(
        _ player: any PlayerControl,
        _ settings: Settings,
        _ clock: any MonotonicClock,
        _ savePlace: @escaping @Sendable () async -> Void,
        _ report: (@Sendable (NetworkCost) -> Void)?,
        _ pipe: WakePipe
    ) {
        self.player = player
        self.settings = settings
        self.clock = clock
        self.savePlace = savePlace
        self.report = report
        self.pipe = pipe
        state = Locked(State(music: PowerState.Music(player.snapshot)))
    }

    /// Called on the player's task at each new snapshot.
    private func playerChanged() {
        let snapshot = player.snapshot
        let music = PowerState.Music(snapshot)
        // Downloads wait for the cost of the network.
        let isAwaited = snapshot.downloads.contains { $0.isAwaited }
        let (begins, wakes) = state.withLock { state in
            let begins = !state.hasBegun && !snapshot.isOver && (!snapshot.awaitsMusic || isAwaited)
            if begins { state.hasBegun = true }
            let isChanged = exchange(&state.music, with: music) != music
            if isChanged { state.events.append(.musicChanged(music)) }
            state.isOver = snapshot.isOver
            return (begins, isChanged || snapshot.isOver)
        }
        if wakes { pipe.wake() }
        guard begins else { return }
        BusThread(name: "power", clock: clock, pipe: pipe) { self.isOver }.start {
            guard let bus = BusConnection(to: .system) else { return false }
            return PowerLoop(self, bus).run()
        } onAbsence: {
            self.report?(.unmetered)
        }
    }

    fileprivate var isOver: Bool { state.withLock { $0.isOver } }

    fileprivate func placeSaved() {
        state.withLock { $0.events.append(.placeSaved) }
        pipe.wake()
    }
}

private enum PowerEvent: Sendable {
    case musicChanged(PowerState.Music)
    case placeSaved
    case sleepNears
    case woke
    case logindAppeared
    case networkChanged
}

/// The thread of the service while it has the bus.
private final class PowerLoop {
    private static let logind = BusConnection.Service(
        name: "org.freedesktop.login1",
        path: "/org/freedesktop/login1",
        interface: "org.freedesktop.login1.Manager"
    )
    private static let networkManager = BusConnection.Service(
        name: "org.freedesktop.NetworkManager",
        path: "/org/freedesktop/NetworkManager",
        interface: "org.freedesktop.NetworkManager"
    )

    private let service: PowerService
    private let bus: BusConnection
    private var state: PowerState
    /// The events of the signals that have arrived, oldest first.
    private var events: [PowerEvent] = []
    /// Closing one of these lets go of the inhibitor.
    private var held: [PowerState.Inhibitor: Int32] = [:]
    private var cost = NetworkCost.unknown

    init(_ service: PowerService, _ bus: BusConnection) {
        self.service = service
        self.bus = bus
        let music = service.state.withLock { state in
            // Those of an earlier bus.
            state.events = []
            return state.music
        }
        state = PowerState(
            blocks: service.settings.inhibition != .off,
            resumes: service.settings.resumesAfterSleep,
            music: music
        )
    }

    /// Returns when the bus is lost or the player is over; `false` at once if the bus refuses.
    func run() -> Bool {
        defer {
            for descriptor in held.values { close(descriptor) }
            // A bus that is lost says nothing new of the network.
            if cost == .unknown { report(.unmetered) }
        }
        guard listen() else { return false }
        handle(.logindAppeared)
        handle(.networkChanged)
        while !service.isOver {
            let news = service.state.withLock { exchange(&$0.events, with: []) }
            for event in news + exchange(&events, with: []) { handle(event) }
            guard bus.process() else { break }
            guard events.isEmpty else { continue }
            guard bus.wait(orReading: service.pipe.readEnd) else { break }
            _ = service.pipe.drain()
        }
        return true
    }

    private func listen() -> Bool {
        let logind = Self.logind
        let manager = Self.networkManager
        let sleep = "type='signal',sender='\(logind.name)',path='\(logind.path)',member='PrepareForSleep'"
        guard listen(for: sleep, { $0.first == .bool(true) ? .sleepNears : .woke }),
            listen(forOwnerOf: logind, .logindAppeared)
        else { return false }
        guard service.report != nil else { return true }
        let change =
            "type='signal',sender='\(manager.name)',path='\(manager.path)',"
            + "member='PropertiesChanged',arg0='\(manager.interface)'"
        return listen(for: change) { _ in .networkChanged }
            && listen(forOwnerOf: manager, .networkChanged)
    }

    private func listen(for rule: String, _ event: @escaping ([BusValue]) -> PowerEvent?) -> Bool {
        bus.listen(for: rule) { [unowned self] in if let event = event($0.arguments) { events.append(event) }
        }
    }

    /// The service has started, or ended.
    private func listen(forOwnerOf service: BusConnection.Service, _ event: PowerEvent) -> Bool {
        let name = "org.freedesktop.DBus"
        let rule = "type='signal',sender='\(name)',member='NameOwnerChanged',arg0='\(service.name)'"
        return listen(for: rule) { _ in event }
    }

    private func handle(_ event: PowerEvent) {
        switch event {
        case .musicChanged(let music): perform(state.musicChanged(to: music))
        case .placeSaved: perform(state.placeSaved())
        case .sleepNears: perform(state.sleepNears())
        case .woke: perform(state.woke())
        case .logindAppeared: perform(state.logindAppeared())
        case .networkChanged: askForCost()
        }
    }

    private func perform(_ actions: [PowerState.Action]) {
        for action in actions {
            switch action {
            case .hold(let inhibitor): hold(inhibitor)
            case .release(let inhibitor): release(inhibitor)
            case .pause: service.player.send(.pause)
            case .play: service.player.send(.play)
            case .savePlace:
                Task { [service] in
                    await service.savePlace()
                    service.placeSaved()
                }
            }
        }
    }

    private func hold(_ inhibitor: PowerState.Inhibitor) {
        let (what, why, mode) =
            switch inhibitor {
            case .delay: ("sleep", "Pauses the music", "delay")
            case .block: (service.settings.inhibition.rawValue, "Music plays", "block")
            }
        release(inhibitor)
        held[inhibitor] = bus.descriptor(from: Self.logind, "Inhibit", [what, "Reprise", why, mode])
    }

    private func release(_ inhibitor: PowerState.Inhibitor) {
        if let descriptor = held.removeValue(forKey: inhibitor) { close(descriptor) }
    }

    private func askForCost() {
        guard service.report != nil else { return }
        // 1 is yes, 3 a guess that says yes.
        switch bus.property("Metered", of: Self.networkManager) {
        case .uint32(1), .uint32(3): report(.metered)
        default: report(.unmetered)
        }
    }

    private func report(_ new: NetworkCost) {
        if exchange(&cost, with: new) != new { service.report?(new) }
    }
}
