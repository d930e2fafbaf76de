import Media
import Glibc
import System

/// A child that has just been started, with this side's ends of its standard streams.
///
/// Foundation's `Process` is not used: with several children at once it misses ends of children,
/// because each inherits what belongs to the others.
struct SpawnedChild {
    /// For writing; a socket, so that a child that has gone is an error and no SIGPIPE.
    let input: Int32
    let output: Int32
    let errors: Int32
    let identifier: pid_t

    // One start at a time: between making a descriptor and marking it to be closed on exec, another
    // child would inherit it, and its end would not be seen before that child's.
    private static let starting = Locked(())

    /// Starts the program at `path`; `arguments` begins with its name.
    init(path: String, arguments: [String], environment: [String]) throws {
        self = try Self.starting.withLock { _ in
            try Self(spawning: path, arguments: arguments, environment: environment)
        }
    }

    private init(spawning path: String, arguments: [String], environment: [String]) throws {
        let input = try Self.socketPair()
        let output = try Self.pipe()
        let errors = try Self.pipe()
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input.child, 0)
        posix_spawn_file_actions_adddup2(&actions, output.child, 1)
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
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        var identifier: pid_t = 0
        let words = arguments.map { strdup($0) } + [nil]
        let variables = environment.map { strdup($0) } + [nil]
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
