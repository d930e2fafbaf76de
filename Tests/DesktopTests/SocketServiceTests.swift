import Foundation
import Media
import System
import TestSupport
import Testing

@testable import Desktop

/// The socket with real clients, and a player that does what the test says.
@Suite(.timeLimit(.minutes(2))) struct SocketServiceTests {
    private let home: TemporaryFolder
    private let folder: SocketFolder
    private let player = AskedPlayer()

    init() throws {
        home = try TemporaryFolder()
        folder = SocketFolder(runtimeFolder: home.path)
    }

    private var path: String { home.path("reprise/socket") }

    /// Lines are volumes; an event is its name.
    private static let language = SocketService.Language(
        command: { line in
            guard let line else { throw SystemError("read the line", number: E2BIG) }
            if line == "list" { return .list }
            guard let volume = Int(line) else { throw SystemError("parse \(line)", number: EINVAL) }
            return .volume(volume)
        },
        line: { event, _ in
            let text =
                switch event {
                case .volume(let percent, _): #"{"event":"volume","t":0,"tracks":\#(percent)}"#
                case .answered(let isAccepted): #"{"event":"answered","t":0,"exact":\#(isAccepted)}"#
                case .notice(let code, let message):
                    #"{"event":"notice","t":0,"code":"\#(code)","message":"\#(message)"}"#
                default: #"{"event":"other","t":0}"#
                }
            return AnyIterator([text].makeIterator())
        }
    )

    private func start() async throws -> SocketService {
        let service = try #require(
            SocketService.start(in: folder, player, Self.language, clock: SystemClock()) {
                Issue.record("\($0)")
            }
        )
        try await wait(for: "the socket") { (try? LocalSocket.connect(to: path)).map { close($0) } == 0 }
        return service
    }

    private func mode(_ path: String) -> mode_t? {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_mode & 0o777 : nil
    }

    @Test func `answers go to the program that asked, and events to all`() async throws {
        let service = try await start()
        let programs = try (1...2).map { _ in try SocketProgram(path) }
        for program in programs {
            try program.send("x\n")
            #expect(try await program.event("notice").message == "can't parse x (Invalid argument)")
            #expect(try await program.event("answered").exact == false)
        }
        try programs[0].send("30\n")
        try await programs[0].event("answered", after: 2)
        #expect(player.commands == [.volume(30)])
        player.events.send(.volume(percent: 30, isMuted: false))
        for program in programs { #expect(try await program.event("volume").tracks == 30) }
        #expect(programs.map(\.lines.count) == [4, 3])
        await service.finish()
        for program in programs { #expect(program.isClosed) }
    }

    @Test func `only the user may connect, and the end of the player removes the socket`() async throws {
        let service = try await start()
        #expect(mode(path) == 0o600 && mode(home.path("reprise")) == 0o700)
        let program = try SocketProgram(path)
        try program.send("1\n")
        try await program.event("answered")
        player.events.send(.volume(percent: 5, isMuted: false))
        await service.finish()
        #expect(try await program.event("volume").tracks == 5)
        try await wait(for: "the end") { program.isClosed }
        #expect(mode(path) == nil)
    }

    @Test func `a folder of others is not used`() async throws {
        try FileManager.default.createSymbolicLink(atPath: home.path("reprise"), withDestinationPath: "/tmp")
        #expect(throws: SystemError.self) { try folder.claim() }
        #expect(throws: SystemError.self) { try SocketFolder(runtimeFolder: home.path("none")).claim() }
        let long = String(repeating: "x", count: 100)
        try home.makeFolder(long)
        #expect(throws: SystemError.self) { try SocketFolder(runtimeFolder: home.path(long)).claim() }
    }

    @Test func `the first player has the plain socket, and those of killed players are replaced`() throws {
        let first = try folder.claim()
        let second = try folder.claim()
        #expect(first.path == path && second.path == path + ".\(getpid())")
        // Killed players leave their sockets behind.
        close(first.listener)
        close(second.listener)
        #expect(folder.connect() == nil)
        let third = try folder.claim()
        #expect(third.path == path && mode(second.path) == nil)
        let descriptor = try #require(folder.connect())
        #expect(LocalSocket.peer(of: descriptor)?.user == getuid())
        close(descriptor)
        // A player does not remove what has taken the place of its socket.
        unlink(path)
        let fourth = try folder.claim()
        folder.release(third)
        #expect(fourth.path == path && mode(path) != nil)
        folder.release(fourth)
        #expect(mode(path) == nil && folder.connect() == nil)
    }

    @Test func `a busy first player is still the one that is meant, unless another one is named`() throws {
        let first = try folder.claim()
        let second = try folder.claim()
        // The attempt of the second one is not accepted yet, and is all that it takes now.
        listen(first.listener, 0)
        #expect(folder.connect() == nil)
        let descriptor = try #require(folder.connect(to: getpid()))
        close(descriptor)
        for claim in [first, second] { folder.release(claim) }
    }

    @Test(.enabled(if: getuid() == 0))
    func `root makes no folder that would keep the user of the runtime folder out`() throws {
        try #require(chown(home.path, 65_534, 65_534) == 0)
        #expect { try folder.claim() } throws: { ($0 as? SystemError)?.number == EPERM }
        #expect(mode(home.path("reprise")) == nil)
    }

    @Test func `players that start at the same time have one socket each`() async throws {
        let folder = folder
        let claims = await withTaskGroup(of: SocketFolder.Claim?.self) { group in
            for _ in 1...2 { group.addTask { try? folder.claim() } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(Set(claims.compactMap { $0?.path }) == [path, path + ".\(getpid())"])
        for claim in claims.compactMap({ $0 }) { folder.release(claim) }
    }

    @Test func `without a program, nobody listens to the player`() async throws {
        let service = try await start()
        try await wait(for: "the end of the first program") { player.observerCount == 0 }
        let program = try SocketProgram(path)
        try program.send("1\n")
        try await program.event("answered")
        #expect(player.observerCount == 1)
        try program.send("2\n3")
        program.endInput()
        // It still reads.
        try await wait(for: "the last line") { player.commands == [.volume(1), .volume(2), .volume(3)] }
        player.events.send(.volume(percent: 5, isMuted: false))
        try await program.event("volume")
        await service.finish()
    }

    @Test func `a program that has ended its input and goes away is let go, though no event comes`()
        async throws
    {
        let service = try await start()
        do {
            let program = try SocketProgram(path)
            try program.send("1\n")
            program.endInput()
            try await program.event("answered")
            #expect(player.observerCount == 1)
        }
        try await wait(for: "its end") { player.observerCount == 0 }
        await service.finish()
    }

    @Test func `what a program sent before it went away is carried out`() async throws {
        let service = try await start()
        do {
            let program = try SocketProgram(path)
            try program.send("1\n2\n3\n")
        }
        try await wait(for: "its lines") { player.commands == [.volume(1), .volume(2), .volume(3)] }
        try await wait(for: "its end") { player.observerCount == 0 }
        await service.finish()
    }

    @Test func `the last line of a program that was killed is not carried out without its end`() async throws
    {
        let service = try await start()
        do {
            let program = try SocketProgram(path)
            try program.send("1\n23")
        }
        try await wait(for: "its line") { player.commands == [.volume(1)] }
        try await wait(for: "its end") { player.observerCount == 0 }
        #expect(player.commands == [.volume(1)])
        await service.finish()
    }

    @Test func `without descriptors a player says so, and looks for one for a new program only now and then`()
        async
    {
        // In a process of its own, which has few.
        await #expect(processExitsWith: .success) {
            let home = try TemporaryFolder()
            let folder = SocketFolder(runtimeFolder: home.path)
            var limit = rlimit(rlim_cur: 64, rlim_max: 64)
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            let clock = TestClock()
            let failures = Locked<[String]>([])
            func start() -> SocketService? {
                SocketService.start(in: folder, AskedPlayer(), SocketServiceTests.language, clock: clock) {
                    error in failures.withLock { $0.append("\(error)") }
                }
            }
            let service = try #require(start())
            let path = home.path("reprise/socket")
            try await wait(for: "the socket") {
                access(path, F_OK) == 0 && folder.connect().map { close($0) } == 0
            }
            let known = try SocketProgram(path)
            /// Once it is answered, the player has tried to accept what waited before.
            func ask(_ program: SocketProgram) async throws {
                for _ in 1...3 {
                    let count = program.lines.count
                    try program.send("1\n")
                    try await program.event("answered", after: count)
                }
            }
            try await ask(known)
            var taken: [Int32] = []
            while case let descriptor = dup(0), descriptor >= 0 { taken.append(descriptor) }
            #expect(start() == nil && failures.withLock { $0 } == ["can't make a pipe (Too many open files)"])
            close(taken.removeLast())
            let late = try SocketProgram(path)
            try late.send("2\n")
            try await ask(known)
            for descriptor in taken { close(descriptor) }
            try await ask(known)
            #expect(late.lines.isEmpty)
            clock.advance(by: .seconds(1))
            try await late.event("answered")
            await service.finish()
        }
    }

    @Test func `a program that does not read is dropped with a word, and the others go on`() async throws {
        let service = try await start()
        let stuck = try SocketProgram(path)
        let reader = try SocketProgram(path)
        for program in [stuck, reader] {
            try program.send("1\n")
            try await program.event("answered")
        }
        for number in 1...20_000 {
            player.events.send(.volume(percent: number, isMuted: false))
            if number % 100 == 0 {
                try await wait(for: "event \(number)") { reader.lines.last?.contains(":\(number)}") == true }
            }
        }
        let lines = stuck.lines
        #expect(lines.count > 1_000 && lines.count < 20_000)
        #expect(try await stuck.event("notice").code == "client-dropped")
        try await wait(for: "the end") { stuck.isClosed }
        await service.finish()
    }

    @Test func `a flood of lines waits until the player has room, and its sender too`() async throws {
        let service = try await start()
        player.setRoom(false)
        let flood = try SocketProgram(path)
        let other = try SocketProgram(path)
        // The player takes none of them.
        var sent = 0
        while flood.offer(String(repeating: "7\n", count: 500)) { sent += 500 }
        try other.send("x\n")
        try await other.event("answered")
        #expect(player.commands.isEmpty && sent < 500_000)
        player.setRoom(true)
        // Its lines are carried out as it reads the answers.
        try await wait(for: "the flood") { flood.lines.count >= sent }
        #expect(player.commands.count >= sent)
        try other.send("8\n")
        try await other.event("answered", after: 2)
        await service.finish()
    }

    @Test func `bytes that are no lines harm nobody`() async throws {
        let service = try await start()
        let hostile = try SocketProgram(path)
        try hostile.send(String(repeating: "a", count: 3_000_000))
        let nul = try SocketProgram(path)
        try nul.send("\0\0\n\u{1B}[2J\n")
        for code in ["bad-command", "bad-command"] { #expect(try await nul.event("notice").code == code) }
        try hostile.send("\n5\n")
        try await wait(for: "the line behind it") { player.commands == [.volume(5)] }
        #expect(try await hostile.event("notice").message == "can't read the line (Argument list too long)")
        await service.finish()
    }

    @Test func `thousands of connections come and go, and one too many is refused with a word`() async throws
    {
        let service = try await start()
        for _ in 1...2_000 {
            try await wait(for: "a connection") {
                (try? LocalSocket.connect(to: path)).map { close($0) } == 0
            }
        }
        var programs: [SocketProgram] = []
        try await wait(for: "the last of them") { player.observerCount == 0 }
        while programs.count <= 200 {
            try await wait(for: "a connection") {
                guard let program = try? SocketProgram(path) else { return false }
                programs.append(program)
                return true
            }
        }
        let last = programs.removeLast()
        #expect(try await last.event("notice").code == "client-dropped")
        try await wait(for: "the end") { last.isClosed }
        try programs[0].send("9\n")
        try await programs[0].event("answered")
        await service.finish()
    }
}

/// A player that takes commands and answers them at once.
private final class AskedPlayer: PlayerControl {
    private struct State {
        var commands: [PlayerCommand] = []
        var hasRoom = true
        var observerCount = 0
    }

    private let state = Locked(State())
    private let changes = Observers<Void>()
    let events = Observers<PlayerEvent>()

    var commands: [PlayerCommand] { state.withLock { $0.commands } }
    var observerCount: Int { state.withLock { $0.observerCount } }

    func setRoom(_ hasRoom: Bool) {
        state.withLock { $0.hasRoom = hasRoom }
        changes.send(())
    }

    func send(_ command: PlayerCommand) {}
    func sendInTurn(_ command: PlayerCommand, answer: @escaping CommandAnswer) {}

    func offerInTurn(_ command: PlayerCommand, answer: @escaping CommandAnswer) -> Bool {
        let isTaken = state.withLock { state in
            if state.hasRoom { state.commands.append(command) }
            return state.hasRoom
        }
        if isTaken { answer(.answered(isAccepted: true)) }
        return isTaken
    }

    var snapshot: PlayerSnapshot { PlayerSnapshot() }
    func observe(_ observer: @escaping @Sendable () -> Void) -> Observation { changes.add { observer() } }

    func observeEvents(_ observer: @escaping @Sendable (PlayerEvent) -> Void) -> Observation {
        let observation = events.add(observer)
        state.withLock { $0.observerCount += 1 }
        return Observation { [self] in
            observation.end()
            state.withLock { $0.observerCount -= 1 }
        }
    }

    func watchSound(_ isWatched: Bool) {}
    var soundPicture: SoundPicture? { nil }
}
