import Glibc
import System

/// A child that has just been started, with the parent's ends of its standard streams.
///
/// Foundation's `Process` is not used: with several children it misses the ends of some,
/// because each child inherits the descriptors of the others.
struct SpawnedChild {
    /// For writing; a terminal, or a socket, so that a write to an ended child is an error and not a SIGPIPE.
    let input: Int32
    let output: Int32
    let errors: Int32
    let identifier: pid_t
    let begun: ContinuousClock.Instant

    // One start at a time: between creating a descriptor and marking it close-on-exec, another
    // child would inherit it, and its end would go unnoticed until that child ends.
    private static let starting = Locked(())

    /// Starts the program at `path`; `arguments` begins with its name.
    init(
        path: String,
        arguments: [String],
        environment: [String],
        terminal: RunningProcess.TerminalSize? = nil
    ) throws {
        self = try Self.starting.withLock { _ in
            try Self(spawning: path, arguments, environment, terminal)
        }
    }

    private init(
        spawning path: String,
        _ arguments: [String],
        _ environment: [String],
        _ terminal: RunningProcess.TerminalSize?
    ) throws {
        let pair = try terminal.map(Self.openTerminal)
        let input = try pair.map { (ours: $0.master, child: -1) } ?? Self.socketPair()
        let output = try pair.map { (ours: fcntl($0.master, F_DUPFD_CLOEXEC, 0), child: -1) } ?? Self.pipe()
        let errors = try Self.pipe()
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        if let pair {
            // The first terminal that a session leader opens becomes its controlling terminal.
            posix_spawn_file_actions_addopen(&actions, 0, pair.path, O_RDWR, 0)
            posix_spawn_file_actions_adddup2(&actions, 0, 1)
        } else {
            posix_spawn_file_actions_adddup2(&actions, input.child, 0)
            posix_spawn_file_actions_adddup2(&actions, output.child, 1)
        }
        posix_spawn_file_actions_adddup2(&actions, errors.child, 2)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // A child starts with no signal blocked and none ignored, whatever the tests' threads do.
        var none = sigset_t()
        sigemptyset(&none)
        var all = sigset_t()
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        // POSIX_SPAWN_SETSID of spawn.h, which Swift's Glibc module hides.
        let newSession = pair == nil ? 0 : Int32(0x80)
        let flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | newSession
        posix_spawnattr_setflags(&attributes, Int16(flags))
        var identifier: pid_t = 0
        let words = arguments.map { strdup($0) } + [nil]
        let variables = environment.map { strdup($0) } + [nil]
        begun = .now
        let status = posix_spawn(&identifier, path, &actions, &attributes, words, variables)
        for word in words + variables { free(word) }
        for descriptor in [input.child, output.child, errors.child] { close(descriptor) }
        guard status == 0 else {
            for descriptor in [input.ours, output.ours, errors.ours] { close(descriptor) }
            throw RunningProcess.Failure(
                description: "cannot start \(path): \(String(cString: strerror(status)))"
            )
        }
        self.input = input.ours
        self.output = output.ours
        self.errors = errors.ours
        self.identifier = identifier
    }

    static func resize(_ terminal: Int32, _ size: RunningProcess.TerminalSize) -> Bool {
        var size = winsize(
            ws_row: UInt16(size.rows),
            ws_col: UInt16(size.columns),
            ws_xpixel: 0,
            ws_ypixel: 0
        )
        return ioctl(terminal, UInt(TIOCSWINSZ), &size) == 0
    }

    /// Our end of a new terminal, and the path of the child's.
    private static func openTerminal(
        _ size: RunningProcess.TerminalSize
    ) throws -> (master: Int32, path: String) {
        let master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        var lock: Int32 = 0
        var number: Int32 = 0
        // By ioctl: Swift's Glibc module hides posix_openpt and its companions (ioctl_tty(2)).
        guard master >= 0, ioctl(master, UInt(0x4004_5431), &lock) == 0,
            ioctl(master, UInt(0x8004_5430), &number) == 0, resize(master, size)
        else { throw RunningProcess.Failure(description: "no terminal: errno \(errno)") }
        return (master, "/dev/pts/\(number)")
    }

    private static func socketPair() throws -> (ours: Int32, child: Int32) {
        var ends: [Int32] = [-1, -1]
        let status = socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends)
        guard status == 0 else { throw RunningProcess.Failure(description: "socketpair: errno \(errno)") }
        return (ends[0], ends[1])
    }

    private static func pipe() throws -> (ours: Int32, child: Int32) {
        var ends: [Int32] = [-1, -1]
        guard Glibc.pipe(&ends) == 0 else {
            throw RunningProcess.Failure(description: "pipe: errno \(errno)")
        }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }
}
