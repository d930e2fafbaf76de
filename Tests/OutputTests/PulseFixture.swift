import Foundation
import Glibc
import Media
import Output
import TestSupport

/// A PulseAudio server of a test's own, with one null sink whose monitor can be recorded.
final class PulseFixture {
    /// The frames that a recording can lack where a stream sets in: the sink takes back silence that it
    /// has rendered ahead, which the monitor has given away by then. At most its 20 ms and some for a busy
    /// machine.
    static let longestGapAtStart = 3_000

    private let folder: Folder
    private let server: Child
    private var recorder: Child?
    private var callCount = 0
    private let environment: [String]

    var address: String { "unix:" + folder.path("native") }

    init() async throws {
        folder = try Folder()
        environment = ["HOME=\(folder.path(""))", "XDG_RUNTIME_DIR=\(folder.path(""))", "PATH=/usr/bin:/bin"]
        let socket = folder.path("native")
        server = try Child(
            "/usr/bin/pulseaudio",
            [
                "-n", "--exit-idle-time=-1", "--daemonize=no", "--use-pid-file=no", "--disallow-exit",
                "--disable-shm=yes",
                "-L", "module-native-protocol-unix auth-anonymous=1 socket=\(socket)",
                "-L", "module-null-sink sink_name=test rate=44100 channels=2",
            ],
            environment: environment
        )
        try await wait(for: "the audio server's socket") { FileManager.default.fileExists(atPath: socket) }
        try await wait(for: "the audio server's sink") {
            try pactl("list", "short", "sinks").contains("test")
        }
    }

    /// Ends the server at once, as a crash does.
    func stop() { server.kill() }

    /// Lets the server hang: its sockets stay open and nothing is answered.
    func freeze() { kill(server.id, SIGSTOP) }

    /// Runs `pactl` against this server and returns what it printed.
    @discardableResult
    func pactl(_ arguments: String...) throws -> String {
        callCount += 1
        let name = "pactl-\(callCount)"
        let arguments = ["--server", address] + arguments
        let output = folder.path(name)
        try Child("/usr/bin/pactl", arguments, environment: environment, output: output).wait()
        return String(decoding: folder.bytes(name), as: UTF8.self)
    }

    /// Begins a call: a stream whose role lets policies silence music.
    func call() throws -> Child {
        try Child(
            "/usr/bin/pacat",
            ["--server", address, "--property=media.role=phone", "/dev/zero"],
            environment: environment
        )
    }

    /// Records what the sink plays from now on; returns when the recording runs.
    func record() async throws {
        recorder = try Child(
            "/usr/bin/parec",
            [
                "--server", address, "-d", "test.monitor", "--raw", "--format=s16le", "--rate=44100",
                "--channels=2", "--latency-msec=20",
            ],
            environment: environment,
            output: folder.path("recorded")
        )
        let folder = folder
        try await wait(for: "the recording to run") { !folder.bytes("recorded").isEmpty }
    }

    /// The frames recorded until now, silence left out.
    var recorded: [UInt32] { frames(folder.bytes("recorded")) }
}

/// The frames of `bytes` as numbers, silence left out: equal frames are equal numbers.
func frames(_ bytes: [UInt8]) -> [UInt32] {
    var frames: [UInt32] = []
    bytes.withUnsafeBytes { raw in
        var offset = 0
        while offset + 4 <= raw.count {
            let frame = raw.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
            if frame != 0 { frames.append(frame) }
            offset += 4
        }
    }
    return frames
}

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
