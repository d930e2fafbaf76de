import Media
import Foundation
import System

/// A child process with its standard streams. It is killed with the object, and nothing else is.
///
/// Output is read by threads of its own as fast as it comes and kept whole, so that a child is never
/// held up by a full pipe.
package final class RunningProcess: Sendable {
    /// What went wrong with a child, with what it said on standard error.
    package struct Failure: Error, CustomStringConvertible {
        package var description: String
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
    /// `environment` is added to that of the tests; nil values take a variable away.
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

    /// Whether it has not ended yet.
    package var isRunning: Bool { state.state.withLock { $0.exitStatus == nil } }

    /// All of standard output so far.
    package var output: [UInt8] { state.state.withLock { $0.output } }

    /// How many bytes of standard output there are so far, without copying them.
    package var outputCount: Int { state.state.withLock { $0.output.count } }

    /// All of standard error so far.
    package var errorText: String { String(decoding: state.state.withLock { $0.errorOutput }, as: UTF8.self) }

    /// The whole lines of standard output so far, without their ends.
    package var lines: [String] {
        state.state.withLock { state in
            while let end = state.output[state.lineStart...].firstIndex(of: 0x0A) {
                state.lines.append(String(decoding: state.output[state.lineStart..<end], as: UTF8.self))
                state.lineStart = end + 1
            }
            return state.lines
        }
    }

    /// The first line of standard output, from the line numbered `start` (from 0) on, for which
    /// `condition` holds; waits for it. Throws when the process ends without one.
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

    /// Writes `line` and a line end to standard input. Throws when the child no longer reads.
    package func send(_ line: String) throws { try type(line + "\n") }

    /// Writes `text` as it is to standard input, which may be a terminal's keys. Throws when the child no longer
    /// reads.
    package func type(_ text: String) throws {
        let bytes = Array(text.utf8)
        let count = input.withLock { Glibc.send($0, bytes, bytes.count, Int32(MSG_NOSIGNAL)) }
        guard count == bytes.count else { throw Failure(description: "\(name) no longer reads its input") }
    }

    /// Ends standard input; later calls do nothing.
    package func closeInput() throws {
        input.withLock { descriptor in
            if descriptor >= 0 { close(descriptor) }
            descriptor = -1
        }
    }

    /// Sends a signal to this process alone; one that has ended gets none.
    package func signal(_ number: Int32) {
        // Under the lock it cannot be reaped meanwhile, so that the number cannot be another's.
        state.state.withLock { state in
            if state.exitStatus == nil { kill(processIdentifier, number) }
        }
    }

    /// Waits until it has ended and all its output is here. Returns its exit code, or minus the number
    /// of the signal that ended it.
    @discardableResult
    package func waitForExit(deadline: Duration = .seconds(120)) async throws -> Int32 {
        try await wait(for: "the end of \(name)", deadline: deadline) {
            state.state.withLock { $0.exitStatus != nil && $0.openStreams == 0 }
        }
        return state.state.withLock { $0.exitStatus ?? 0 }
    }

    /// Runs a program to its end and returns its standard output. Throws when its exit code is not 0.
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
            // Waits without reaping: that is done under the lock that `signal` takes.
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
