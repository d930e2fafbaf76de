import Foundation
import Glibc
import Media
import System

/// A child process with its standard streams. It is killed with the object, and nothing else is.
///
/// With a terminal, its standard input and output are one; its standard error is a pipe in any case.
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
        /// The end of each piece of the output, and when it was read.
        var pieces: [(end: Int, instant: ContinuousClock.Instant)] = []
        var lines: [String] = []
        var lineStart = 0
        var openStreams = 2
        var exitStatus: Int32?
        var times = (wall: Duration.zero, cpu: Duration.zero)
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

    /// The columns and rows of a terminal.
    package typealias TerminalSize = (columns: Int, rows: Int)

    /// Starts `executable`, a path or a name to be found in `PATH` or `/usr/sbin`.
    ///
    /// `environment` is added to that of the tests; `nil` values remove a variable.
    package init(
        _ executable: String,
        _ arguments: [String] = [],
        environment: [String: String?] = [:],
        folder: String? = nil,
        terminal: TerminalSize? = nil
    ) throws {
        name = executable
        var variables = ProcessInfo.processInfo.environment
        for (name, value) in environment { variables[name] = value }
        guard let path = Self.path(of: executable) else {
            throw Failure(description: "\(executable) is not installed")
        }
        // `env` changes the folder and becomes the program, under the same number.
        let words = folder.map { ["env", "-C", $0, path] } ?? [executable]
        let child = try SpawnedChild(
            path: folder == nil ? path : "/usr/bin/env",
            arguments: words + arguments,
            environment: variables.map { "\($0.key)=\($0.value)" },
            terminal: terminal
        )
        let shared = Shared()
        state = shared
        input = Locked(child.input)
        processIdentifier = child.identifier
        Self.collect(child.output, into: shared) { state, bytes, instant in
            state.output += bytes
            state.pieces.append((state.output.count, instant))
        }
        Self.collect(child.errors, into: shared) { state, bytes, _ in state.errorOutput += bytes }
        Self.awaitEnd(of: child, into: shared)
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

    /// The number of reads that standard output has taken so far.
    package var pieceCount: Int { state.state.withLock { $0.pieces.count } }

    /// The bytes of each read of standard output from the one numbered `start` on, with its time.
    ///
    /// The reading thread takes the time, so the work of other tasks does not count as time of the child.
    package func pieces(
        from start: Int
    ) -> [(bytes: ArraySlice<UInt8>, instant: ContinuousClock.Instant)] {
        state.state.withLock { state in
            state.pieces.indices[start...].map { index in
                let begun = index == 0 ? 0 : state.pieces[index - 1].end
                return (state.output[begun..<state.pieces[index].end], state.pieces[index].instant)
            }
        }
    }

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
                let said = (lines.suffix(5) + ["standard error: " + errorText]).joined(separator: "\n")
                throw Failure(description: "\(name) ended without the line; its last lines:\n\(said)")
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
        let count = input.withLock { input in
            let count = Glibc.send(input, bytes, bytes.count, Int32(MSG_NOSIGNAL))
            return count < 0 && errno == ENOTSOCK ? write(input, bytes, bytes.count) : count
        }
        guard count == bytes.count else { throw Failure(description: "\(name) no longer reads its input") }
    }

    /// Closes standard input; later calls do nothing.
    package func closeInput() throws {
        input.withLock { descriptor in
            if descriptor >= 0 { close(descriptor) }
            descriptor = -1
        }
    }

    /// Gives its terminal another size, of which the kernel notifies it.
    package func resize(_ terminal: TerminalSize) { input.withLock { _ = SpawnedChild.resize($0, terminal) } }

    /// Sends a signal to this process; does nothing if it has ended.
    package func signal(_ number: Int32) {
        // Under the lock it cannot be reaped, so the number cannot belong to another process.
        state.state.withLock { state in
            if state.exitStatus == nil { kill(processIdentifier, number) }
        }
    }

    /// The greatest resident memory so far, in bytes; 0 once it has ended.
    package var peakMemory: Int {
        let status = (try? String(contentsOfFile: "/proc/\(processIdentifier)/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return (line?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 1024
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
        environment: [String: String?] = [:],
        folder: String? = nil
    ) async throws -> [UInt8] {
        let process = try RunningProcess(executable, arguments, environment: environment, folder: folder)
        try process.closeInput()
        let status = try await process.waitForExit()
        guard status == 0 else {
            throw Failure(description: "\(executable) ended with \(status): \(process.errorText)")
        }
        return process.output
    }

    /// Runs a program to its end without input, whatever its exit code. Returns how long it took, and its
    /// user and system time on all CPUs.
    package static func time(
        _ executable: String,
        _ arguments: [String],
        environment: [String: String?] = [:],
        folder: String? = nil
    ) async throws -> (wall: Duration, cpu: Duration) {
        let process = try RunningProcess(executable, arguments, environment: environment, folder: folder)
        try process.closeInput()
        try await process.waitForExit()
        return process.state.state.withLock { $0.times }
    }

    /// Starts a server and returns when `isReady`. Throws if it ends before.
    package static func server(
        _ executable: String,
        _ arguments: [String] = [],
        environment: [String: String?] = [:],
        until isReady: () async throws -> Bool
    ) async throws -> RunningProcess {
        let server = try RunningProcess(executable, arguments, environment: environment)
        try await wait(for: executable) {
            guard server.isRunning else {
                throw Failure(description: "\(executable) ended: \(server.errorText)")
            }
            return try await isReady()
        } seeing: {
            server.errorText
        }
        return server
    }

    private static func collect(
        _ descriptor: Int32,
        into shared: Shared,
        _ append: @escaping @Sendable (inout State, ArraySlice<UInt8>, ContinuousClock.Instant) -> Void
    ) {
        Thread.detachNewThread {
            var buffer = [UInt8](repeating: 0, count: 64 * 1024)
            while true {
                let count = read(descriptor, &buffer, buffer.count)
                let instant = ContinuousClock.now
                if count < 0 && errno == EINTR { continue }
                // Of a terminal, `read` fails once the last writer has closed it.
                if count <= 0 { break }
                shared.state.withLock { append(&$0, buffer[..<count], instant) }
            }
            close(descriptor)
            shared.state.withLock { $0.openStreams -= 1 }
        }
    }

    private static func awaitEnd(of child: SpawnedChild, into shared: Shared) {
        Thread.detachNewThread {
            var information = siginfo_t()
            // Waits without reaping, which happens under the lock that `signal` takes.
            let number = id_t(child.identifier)
            while waitid(P_PID, number, &information, WEXITED | WNOWAIT) < 0 && errno == EINTR {}
            let wall = ContinuousClock.now - child.begun
            shared.state.withLock { state in
                var status: Int32 = 0
                var usage = rusage()
                wait4(child.identifier, &status, 0, &usage)
                let cpu = [usage.ru_utime, usage.ru_stime].reduce(Duration.zero) {
                    $0 + .seconds($1.tv_sec) + .microseconds($1.tv_usec)
                }
                state.times = (wall, cpu)
                let signal = status & 0x7F
                state.exitStatus = signal == 0 ? (status >> 8) & 0xFF : -signal
            }
        }
    }

    /// The path of a program, found in `PATH` and the system folders; `nil` if it is not installed.
    package static func path(of program: String) -> String? {
        if program.contains("/") { return program }
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        return (path.split(separator: ":").map(String.init) + ["/usr/sbin", "/sbin"])
            .map { $0 + "/" + program }
            .first { access($0, X_OK) == 0 }
    }
}
