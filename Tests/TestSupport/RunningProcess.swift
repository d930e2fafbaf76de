import Foundation
import Glibc
import Media
import System

/// A child process with its standard streams. It is killed with the object, and nothing else is.
///
/// Dedicated threads read the output as fast as it comes and store all of it, so that a full pipe never
/// blocks the child.
package final class RunningProcess: Sendable {
    /// A child failed; the description includes its standard error.
    package struct Failure: Error, CustomStringConvertible {
        package var description: String

        package init(description: String) { self.description = description }
    }

    private struct State {
        var output: [UInt8] = []
        var errorOutput: [UInt8] = []
        var lines: [String] = []
        var lineStart = 0
        var openStreams = 2
        var exitStatus: Int32?
    }

    private let input: Locked<Int32>
    private let state: Shared

    /// Shared with the threads that read and wait, which must not keep the process alive.
    private final class Shared: Sendable {
        let state = Locked(State())
    }

    /// The program's name, for messages.
    package let name: String
    package let processIdentifier: Int32

    /// Starts `executable`, a path or a name to be found in `PATH` or `/usr/sbin`.
    ///
    /// `environment` is added to that of the tests; `nil` values remove a variable.
    package init(
        _ executable: String,
        _ arguments: [String] = [],
        environment: [String: String?] = [:],
        folder: String? = nil
    ) throws {
        name = executable
        var variables = ProcessInfo.processInfo.environment
        for (name, value) in environment { variables[name] = value }
        let path = try Self.find(executable)
        // `env` changes the folder and becomes the program, under the same number.
        let words = folder.map { ["env", "-C", $0, path] } ?? [executable]
        let child = try SpawnedChild(
            path: folder == nil ? path : "/usr/bin/env",
            arguments: words + arguments,
            environment: variables.map { "\($0.key)=\($0.value)" }
        )
        let shared = Shared()
        state = shared
        input = Locked(child.input)
        processIdentifier = child.identifier
        Self.collect(child.output, into: shared) { $0.output += $1 }
        Self.collect(child.errors, into: shared) { $0.errorOutput += $1 }
        Self.awaitEnd(of: child.identifier, into: shared)
    }

    deinit {
        signal(SIGKILL)
        try? closeInput()
    }

    /// `true` if it has not ended yet.
    package var isRunning: Bool { state.state.withLock { $0.exitStatus == nil } }

    /// All of standard output so far.
    package var output: [UInt8] { state.state.withLock { $0.output } }

    /// The number of bytes of standard output so far.
    package var outputCount: Int { state.state.withLock { $0.output.count } }

    /// All of standard error so far.
    package var errorText: String { String(decoding: state.state.withLock { $0.errorOutput }, as: UTF8.self) }

    /// The complete lines of standard output so far, without line ends.
    package var lines: [String] {
        state.state.withLock { state in
            while let end = state.output[state.lineStart...].firstIndex(of: 0x0A) {
                state.lines.append(String(decoding: state.output[state.lineStart..<end], as: UTF8.self))
                state.lineStart = end + 1
            }
            return state.lines
        }
    }

    /// Waits for the first line of standard output, from line `start` (from 0) on, for which
    /// `condition` holds. Throws if the process ends without one.
    @discardableResult
    package func waitForLine(
        from start: Int = 0,
        where condition: (String) -> Bool
    ) async throws -> String {
        var found: String?
        try await wait(for: "a line of \(name)") {
            let isOver = state.state.withLock { $0.openStreams == 0 && $0.exitStatus != nil }
            found = lines.dropFirst(start).first(where: condition)
            if found == nil && isOver {
                throw Failure(description: "\(name) ended without the line; it said: \(errorText)")
            }
            return found != nil
        } seeing: {
            (lines.suffix(20) + ["standard error: " + errorText]).joined(separator: "\n")
        }
        return found ?? ""
    }

    /// Writes `line` and a line end to standard input. Throws if the child no longer reads.
    package func send(_ line: String) throws { try type(line + "\n") }

    /// Writes `text` unchanged to standard input, for example keys. Throws if the child no longer
    /// reads.
    package func type(_ text: String) throws {
        let bytes = Array(text.utf8)
        let count = input.withLock { Glibc.send($0, bytes, bytes.count, Int32(MSG_NOSIGNAL)) }
        guard count == bytes.count else { throw Failure(description: "\(name) no longer reads its input") }
    }

    /// Closes standard input; later calls do nothing.
    package func closeInput() throws {
        input.withLock { descriptor in
            if descriptor >= 0 { close(descriptor) }
            descriptor = -1
        }
    }

    /// Sends a signal to this process; does nothing if it has ended.
    package func signal(_ number: Int32) {
        // Under the lock it cannot be reaped, so the number cannot belong to another process.
        state.state.withLock { state in
            if state.exitStatus == nil { kill(processIdentifier, number) }
        }
    }

    /// Waits until it has ended and all its output was read. Returns its exit code, or minus the number
    /// of the signal that ended it.
    @discardableResult
    package func waitForExit(deadline: Duration = .seconds(120)) async throws -> Int32 {
        try await wait(for: "the end of \(name)", deadline: deadline) {
            state.state.withLock { $0.exitStatus != nil && $0.openStreams == 0 }
        }
        return state.state.withLock { $0.exitStatus ?? 0 }
    }

    /// Runs a program to its end and returns its standard output. Throws if its exit code is not 0.
    package static func run(
        _ executable: String,
        _ arguments: [String],
        environment: [String: String?] = [:]
    ) async throws -> [UInt8] {
        let process = try RunningProcess(executable, arguments, environment: environment)
        try process.closeInput()
        let status = try await process.waitForExit()
        guard status == 0 else {
            throw Failure(description: "\(executable) ended with \(status): \(process.errorText)")
        }
        return process.output
    }

    private static func collect(
        _ descriptor: Int32,
        into shared: Shared,
        _ append: @escaping @Sendable (inout State, ArraySlice<UInt8>) -> Void
    ) {
        Thread.detachNewThread {
            var buffer = [UInt8](repeating: 0, count: 64 * 1024)
            while true {
                let count = read(descriptor, &buffer, buffer.count)
                if count < 0 && errno == EINTR { continue }
                if count <= 0 { break }
                shared.state.withLock { append(&$0, buffer[..<count]) }
            }
            close(descriptor)
            shared.state.withLock { $0.openStreams -= 1 }
        }
    }

    private static func awaitEnd(of identifier: pid_t, into shared: Shared) {
        Thread.detachNewThread {
            var information = siginfo_t()
            // Waits without reaping, which happens under the lock that `signal` takes.
            while waitid(P_PID, id_t(identifier), &information, WEXITED | WNOWAIT) < 0 && errno == EINTR {}
            shared.state.withLock { state in
                var status: Int32 = 0
                waitpid(identifier, &status, 0)
                let signal = status & 0x7F
                state.exitStatus = signal == 0 ? (status >> 8) & 0xFF : -signal
            }
        }
    }

    private static func find(_ executable: String) throws -> String {
        if executable.contains("/") { return executable }
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        // Without its type the sum would be taken for one of arrays of characters.
        let folders: [String] = path.split(separator: ":").map { String($0) } + ["/usr/sbin", "/sbin"]
        for folder in folders {
            let candidate = "\(folder)/\(executable)"
            if access(candidate, X_OK) == 0 { return candidate }
        }
        throw Failure(description: "\(executable) is not installed")
    }
}

/// A child that has just been started, with the parent's ends of its standard streams.
///
/// Foundation's `Process` is not used: with several children it misses the ends of some,
/// because each child inherits the descriptors of the others.
struct SpawnedChild {
    /// For writing; a socket, so that a write to an ended child is an error and not a SIGPIPE.
    let input: Int32
    let output: Int32
    let errors: Int32
    let identifier: pid_t

    // One start at a time: between creating a descriptor and marking it close-on-exec, another
    // child would inherit it, and its end would go unnoticed until that child ends.
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
