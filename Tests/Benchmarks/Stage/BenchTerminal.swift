import Foundation
import Media
import System
import TestSupport

/// A program in a pseudo-terminal, without another program in between.
///
/// A thread blocks in `read` and records the time of each piece, so that neither the caller's work nor that of
/// other tasks counts as time of the program.
final class BenchTerminal: Sendable {
    /// Output that arrived with one `read`.
    struct Piece {
        var bytes: [UInt8]
        var instant: ContinuousClock.Instant
    }

    /// Shared with the reading thread, which must not keep the program alive.
    private final class Shared: Sendable {
        let master: Int32
        let pieces = Locked<[Piece]>([])
        let isOver = Locked(false)

        init(_ master: Int32) { self.master = master }
        deinit { close(master) }

        func read() {
            var chunk = [UInt8](repeating: 0, count: 65_536)
            while true {
                let count = Glibc.read(master, &chunk, chunk.count)
                let instant = ContinuousClock.now
                if count < 0 && errno == EINTR { continue }
                // `read` fails once the last writer has closed the terminal.
                guard count > 0 else { break }
                pieces.withLock { $0.append(Piece(bytes: Array(chunk[..<count]), instant: instant)) }
            }
            isOver.withLock { $0 = true }
        }
    }

    let processIdentifier: pid_t
    private let shared: Shared
    private let isReaped = Locked(false)

    /// Starts the program at `path` with this terminal as its streams and controlling terminal; `environment` is added
    /// to this program's.
    init(
        _ path: String,
        _ arguments: [String],
        environment: [String: String?],
        columns: Int = 80,
        rows: Int = 24
    ) throws {
        // By ioctl: Swift's Glibc module hides posix_openpt and its companions (ioctl_tty(2)).
        let shared = Shared(open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC))
        var lock: Int32 = 0
        var number: Int32 = 0
        let (unlockRequest, numberRequest) = (UInt(0x4004_5431), UInt(0x8004_5430))
        var size = winsize(ws_row: UInt16(rows), ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
        guard shared.master >= 0, ioctl(shared.master, unlockRequest, &lock) == 0,
            ioctl(shared.master, numberRequest, &number) == 0,
            ioctl(shared.master, UInt(TIOCSWINSZ), &size) == 0
        else { throw BenchmarkFailure("no terminal: \(String(cString: strerror(errno)))") }
        self.shared = shared
        processIdentifier = try Self.spawn(path, arguments, environment, terminal: "/dev/pts/\(number)")
        Thread.detachNewThread { shared.read() }
    }

    deinit {
        kill(SIGKILL)
        isReaped.withLock { isReaped in
            if !isReaped { waitpid(processIdentifier, nil, 0) }
        }
    }

    /// `true` if no more output can come.
    var isOver: Bool { shared.isOver.withLock { $0 } }
    var pieceCount: Int { shared.pieces.withLock { $0.count } }

    /// The output from piece `start` on.
    func pieces(from start: Int) -> ArraySlice<Piece> { shared.pieces.withLock { $0[start...] } }

    func type(_ text: String) throws {
        let bytes = Array(text.utf8)
        guard write(shared.master, bytes, bytes.count) == bytes.count else {
            throw BenchmarkFailure("the terminal takes no keys")
        }
    }

    func waitForExit() async throws {
        try await wait(for: "the end of the program in the terminal") {
            isReaped.withLock { isReaped in
                if !isReaped { isReaped = waitpid(processIdentifier, nil, WNOHANG) == processIdentifier }
                return isReaped
            }
        }
    }

    private func kill(_ signal: Int32) {
        isReaped.withLock { isReaped in
            if !isReaped { _ = Glibc.kill(processIdentifier, signal) }
        }
    }

    private static func spawn(
        _ path: String,
        _ arguments: [String],
        _ environment: [String: String?],
        terminal: String
    ) throws -> pid_t {
        var variables = ProcessInfo.processInfo.environment
        for (name, value) in environment { variables[name] = value }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        // The first terminal that a session leader opens becomes its controlling terminal.
        posix_spawn_file_actions_addopen(&actions, 0, terminal, O_RDWR, 0)
        posix_spawn_file_actions_adddup2(&actions, 0, 1)
        posix_spawn_file_actions_adddup2(&actions, 0, 2)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // POSIX_SPAWN_SETSID of spawn.h, which Swift's Glibc module hides too.
        posix_spawnattr_setflags(&attributes, 0x80)
        let words = ([path] + arguments).map { strdup($0) } + [nil]
        let pairs = variables.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for word in words + pairs { free(word) } }
        var identifier: pid_t = 0
        guard posix_spawn(&identifier, path, &actions, &attributes, words, pairs) == 0 else {
            throw BenchmarkFailure("cannot start \(path)")
        }
        return identifier
    }
}
