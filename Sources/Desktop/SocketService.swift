import Glibc
package import Media
package import System

/// Lets other programs of the user control the player by a socket: they send commands, one per line, and get
/// the player's events.
///
/// One thread serves all clients. While there is none, no event is observed, and the thread sleeps.
package final class SocketService: Sendable {
    /// The language of the clients.
    package struct Language: Sendable {
        /// The command of a line, which is not blank; `nil` stands for a line that was too long. The thrown
        /// error describes itself to the user.
        var command: @Sendable (_ line: String?) throws -> PlayerCommand
        /// The line of an event and its time on the player's clock, without a line end, in pieces.
        var line: @Sendable (PlayerEvent, Duration) -> AnyIterator<String>

        package init(
            command: @escaping @Sendable (_ line: String?) throws -> PlayerCommand,
            line: @escaping @Sendable (PlayerEvent, Duration) -> AnyIterator<String>
        ) {
            self.command = command
            self.line = line
        }
    }

    /// An event for one client, or with `nil` for all.
    fileprivate struct News: Sendable {
        var receiver: Int?
        var event: PlayerEvent
        var time: Duration
    }

    fileprivate struct State {
        var news: [News] = []
        /// The time at which the player began to end.
        var endingSince: Duration?
    }

    /// How long the clients have, at the end of the player, to read their last events.
    fileprivate static let endLimit = Duration.milliseconds(300)

    fileprivate let player: any PlayerControl
    fileprivate let language: Language
    fileprivate let clock: any MonotonicClock
    fileprivate let pipe: WakePipe
    fileprivate let state = Locked(State())
    fileprivate let ended = OneShot<Void>()

    /// Makes the socket in `folder` and serves it, until `finish`. Returns at once; `nil` if the process has
    /// no free descriptor. `onFailure` is called if there can be no socket.
    package static func start(
        in folder: SocketFolder,
        _ player: any PlayerControl,
        _ language: Language,
        clock: any MonotonicClock,
        onFailure: @escaping @Sendable (SystemError) -> Void
    ) -> SocketService? {
        guard let pipe = WakePipe() else {
            onFailure(SystemError("make a pipe"))
            return nil
        }
        let service = SocketService(player, language, clock, pipe)
        NamedThread.start("socket") {
            do throws(SystemError) {
                let claim = try folder.claim()
                SocketLoop(service, listener: claim.listener).run { folder.release(claim) }
            } catch {
                onFailure(error)
            }
            service.ended.give(())
        }
        return service
    }

    private init(
        _ player: any PlayerControl,
        _ language: Language,
        _ clock: any MonotonicClock,
        _ pipe: WakePipe
    ) {
        self.player = player
        self.language = language
        self.clock = clock
        self.pipe = pipe
    }

    /// Removes the socket, and returns once the clients have read their last events, or after a moment.
    package func finish() async {
        state.withLock { $0.endingSince = clock.now }
        pipe.wake()
        let limit = Task { [clock, ended] in
            // Longer than the thread takes, unless it still waits for the lock of the sockets.
            guard (try? await clock.sleep(for: Self.endLimit * 2)) != nil else { return }
            ended.give(())
        }
        await ended.wait(ifCancelled: ())
        limit.cancel()
    }

    fileprivate func send(_ event: PlayerEvent, to receiver: Int?) {
        // The answers to keys; those to a program that asked go to it alone.
        if receiver == nil {
            switch event {
            case .status, .list, .devices: return
            default: break
            }
        }
        let news = News(receiver: receiver, event: event, time: clock.now)
        state.withLock { $0.news.append(news) }
        pipe.wake()
    }
}

/// The thread of the socket, with its clients.
private final class SocketLoop {
    private final class Client {
        let descriptor: Int32
        var state = SocketClientState()
        /// The command for which the player has no room yet.
        var waiting: PlayerCommand?

        init(descriptor: Int32) { self.descriptor = descriptor }
    }

    /// More than any desktop has. Each takes a descriptor of the process, which needs most of them for music.
    private let mostClients: Int
    private static let refusalCode = "bad-command"
    private static let droppedCode = "client-dropped"

    private let service: SocketService
    private let listener: Int32
    private var clients: [Int: Client] = [:]
    private var lastNumber = 0
    /// While there are clients.
    private var events: Observation?
    /// While the player has no room for a command.
    private var room: Observation?
    /// When the process had no free descriptor for a client.
    private var pausedSince: Duration?

    init(_ service: SocketService, listener: Int32) {
        self.service = service
        self.listener = listener
        var descriptors = rlimit()
        let isKnown = getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &descriptors) == 0
        mostClients = isKnown ? Int(min(200, descriptors.rlim_cur / 4)) : 200
    }

    /// Serves the clients until the player ends; `release` then removes the socket.
    func run(release: () -> Void) {
        var isReleased = false
        while true {
            let (news, endingSince) = service.state.withLock { state in
                (exchange(&state.news, with: []), state.endingSince)
            }
            deliver(news)
            for number in clients.keys.sorted() {
                carryOut(number)
                write(number)
            }
            closeEnded()
            if let endingSince {
                if !isReleased { release() }
                isReleased = true
                let left = endingSince + SocketService.endLimit - service.clock.now
                guard left > .zero, clients.values.contains(where: { !$0.state.unsent.isEmpty }) else {
                    break
                }
                wait(atMost: left, isEnding: true)
            } else {
                wait(atMost: pausedSince.map { $0 + .seconds(1) - service.clock.now }, isEnding: false)
            }
        }
        for client in clients.values { close(client.descriptor) }
        events?.end()
        room?.end()
    }

    // MARK: Waiting

    /// Waits for something to do, and reads what clients and new clients send.
    private func wait(atMost limit: Duration?, isEnding: Bool) {
        let readers = isEnding ? [] : clients.filter { $0.value.state.wantsInput }.map(\.key)
        let writers = clients.filter { !$0.value.state.unsent.isEmpty }.map(\.key)
        // A client that only listens, or has lines left, may go without a word.
        let watched = clients.filter { $0.value.state.isIdle }.map(\.key)
        let isAccepting = !isEnding && limit.map { $0 <= .zero } ?? true
        if isAccepting { pausedSince = nil }
        let hasLines = !isEnding && clients.values.contains { $0.waiting == nil && $0.state.hasLine }
        let found = Poll.wait(
            reading: [service.pipe.readEnd, isAccepting ? listener : -1] + readers.map { descriptor(of: $0) },
            writing: writers.map { descriptor(of: $0) },
            watching: watched.map { descriptor(of: $0) },
            atMost: hasLines ? .zero : isAccepting ? nil : limit
        )
        _ = service.pipe.drain()
        guard let found else { return }
        for (number, ready) in zip(readers, found.dropFirst(2)) where ready != 0 { read(number, ready) }
        for (number, ready) in zip(watched, found.suffix(watched.count)) where ready != 0 {
            clients[number]?.state.outputFailed()
        }
        if found[1] != 0 { accept() }
    }

    private func descriptor(of number: Int) -> Int32 { clients[number]?.descriptor ?? -1 }

    private func accept() {
        // Some at a time, so that a flood of connections delays no client.
        for _ in 0..<64 {
            let descriptor: Int32
            do throws(SystemError) {
                descriptor = try LocalSocket.accept(listener)
            } catch {
                // Without a free descriptor, `poll` would return at once, again and again.
                if error.number != EAGAIN, error.number != ECONNABORTED, error.number != EINTR {
                    pausedSince = service.clock.now
                }
                return
            }
            guard LocalSocket.peer(of: descriptor)?.user == getuid() else {
                close(descriptor)
                continue
            }
            if clients.count >= mostClients { closeDropped() }
            guard clients.count < mostClients else {
                let word = notice(Self.droppedCode, "Refused: \(mostClients) programs are connected")
                // There is room for this in the new socket.
                _ = word.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Self.flags) }
                close(descriptor)
                continue
            }
            lastNumber += 1
            clients[lastNumber] = Client(descriptor: descriptor)
            if events == nil {
                events = service.player.observeEvents { [service] in service.send($0, to: nil) }
            }
        }
    }

    private static let flags = Int32(MSG_NOSIGNAL)

    // MARK: Lines

    private func read(_ number: Int, _ ready: Int16) {
        guard let client = clients[number] else { return }
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = retryingInterrupted { Glibc.read(client.descriptor, &buffer, buffer.count) }
        if count > 0 {
            client.state.received(buffer[..<count])
        } else if count == 0 || errno != EAGAIN {
            // A client that only ended its input may still read events.
            let isGone = count < 0 || Int32(ready) & POLLHUP != 0
            client.state.inputEnded(isCutOff: isGone)
            if isGone { client.state.outputFailed() }
        }
    }

    /// Gives the player the next line of a client, if it is time.
    private func carryOut(_ number: Int) {
        guard let client = clients[number] else { return }
        if let command = client.waiting { return offer(command, of: client, number) }
        guard let line = client.state.popLine() else { return }
        do {
            offer(try service.language.command(line.text), of: client, number)
        } catch {
            answer(.notice(code: Self.refusalCode, message: SafeText("\(error)")), to: number)
            answer(.answered(isAccepted: false), to: number)
        }
    }

    private func offer(_ command: PlayerCommand, of client: Client, _ number: Int) {
        let send = { [service] in
            service.player.offerInTurn(command) { service.send($0, to: number) }
        }
        var isTaken = send()
        if !isTaken, room == nil {
            room = service.player.observe { [service] in service.pipe.wake() }
            // There may have been room before the player was observed.
            isTaken = send()
        }
        client.waiting = isTaken ? nil : command
        forgetRoom()
    }

    /// Observes the player no longer if no command waits for room.
    private func forgetRoom() {
        guard let room, clients.values.allSatisfy({ $0.waiting == nil }) else { return }
        room.end()
        self.room = nil
    }

    // MARK: Events

    private func deliver(_ news: [SocketService.News]) {
        for item in news {
            if let receiver = item.receiver {
                answer(item.event, to: receiver, at: item.time)
            } else {
                let line = bytes(of: item.event, at: item.time)
                for client in clients.values {
                    client.state.add(
                        line,
                        lastWord: notice(Self.droppedCode, "Dropped: the events were not read")
                    )
                }
            }
        }
    }

    private func answer(_ event: PlayerEvent, to number: Int, at time: Duration? = nil) {
        clients[number]?.state.add(answer: service.language.line(event, time ?? service.clock.now))
        if case .answered = event { clients[number]?.state.answered() }
    }

    private func notice(_ code: String, _ message: String) -> [UInt8] {
        bytes(of: .notice(code: code, message: SafeText(message)), at: service.clock.now)
    }

    private func bytes(of event: PlayerEvent, at time: Duration) -> [UInt8] {
        var bytes: [UInt8] = []
        for piece in service.language.line(event, time) { bytes += piece.utf8 }
        return bytes + [UInt8(ascii: "\n")]
    }

    /// Writes what the socket takes now.
    private func write(_ number: Int) {
        guard let client = clients[number] else { return }
        while !client.state.unsent.isEmpty {
            let count = client.state.unsent.withUnsafeBytes { bytes in
                retryingInterrupted {
                    Glibc.send(client.descriptor, bytes.baseAddress, bytes.count, Self.flags)
                }
            }
            guard count > 0 else {
                if errno != EAGAIN { client.state.outputFailed() }
                return
            }
            client.state.sent(count)
        }
    }

    // MARK: Ends

    private func closeEnded() {
        for (number, client) in clients where client.state.isOver { remove(number) }
    }

    /// Makes room for new clients.
    private func closeDropped() {
        for (number, client) in clients where client.state.isDropped { remove(number) }
    }

    private func remove(_ number: Int) {
        guard let client = clients.removeValue(forKey: number) else { return }
        close(client.descriptor)
        forgetRoom()
        guard clients.isEmpty else { return }
        events?.end()
        events = nil
    }
}
