import Glibc

/// A process that a test starts.
///
/// Not Foundation's `Process`: started from several tests at once, its manager can wait for the wrong
/// child for ever (a child inherits the socket that tells of another's end).
final class Child {
    let id: pid_t
    private var isWaitedFor = false

    /// Starts the program at `path`, its standard output in `output` (a file that it empties first).
    init(_ path: String, _ arguments: [String], environment: [String], output: String = "/dev/null") throws {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        var argv = ([path] + arguments).map { strdup($0) } + [nil]
        var envp = environment.map { strdup($0) } + [nil]
        defer { for string in argv + envp { free(string) } }
        var id = pid_t()
        let status = posix_spawn(&id, path, &actions, nil, &argv, &envp)
        guard status == 0 else { throw CannotStart(path: path, reason: String(cString: strerror(status))) }
        self.id = id
    }

    struct CannotStart: Error {
        var path: String
        var reason: String
    }

    deinit { kill() }

    /// Ends the process at once, as a crash does.
    func kill() {
        guard !isWaitedFor else { return }
        Glibc.kill(id, SIGKILL)
        wait()
    }

    /// Waits for the process to end by itself.
    func wait() {
        guard !isWaitedFor else { return }
        var status: CInt = 0
        while waitpid(id, &status, 0) < 0 && errno == EINTR {}
        isWaitedFor = true
    }
}
