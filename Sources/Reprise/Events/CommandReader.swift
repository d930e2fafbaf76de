import Glibc
import Media
import System
import TerminalUI

/// Reads commands from standard input, one per line, and sends them to the player in their order.
///
/// The reader waits while the player has many commands to carry out, or many answers to write: then the pipe
/// fills, and the program at its other end waits too.
enum CommandReader {
    /// The code of the notice for a line that is not a command.
    static let noticeCode = "bad-command"

    /// Reads `descriptor` on a separate thread until the input ends or a read fails. The end of the input
    /// does not quit the player, since a service runs with input from `/dev/null`. The thread lives as long
    /// as the process, since a blocked read cannot be cancelled. `takeCommand` is called before each line, and
    /// may block.
    static func start(
        descriptor: Int32,
        control: any PlayerControl,
        takeCommand: @escaping @Sendable () -> Void,
        report: @escaping @Sendable (PlayerEvent) -> Void
    ) {
        NamedThread.start("commands") {
            read(descriptor: descriptor, control: control, takeCommand: takeCommand, report: report)
        }
    }

    /// Reads to the end of the input; blocks.
    static func read(
        descriptor: Int32,
        control: any PlayerControl,
        takeCommand: () -> Void = {},
        report: (PlayerEvent) -> Void
    ) {
        func take(_ line: String?) {
            takeCommand()
            Self.take(line, control: control, report: report)
        }
        var splitter = LineSplitter()
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = buffer.withUnsafeMutableBytes { bytes in
                retryingInterrupted { Glibc.read(descriptor, bytes.baseAddress, bytes.count) }
            }
            if count < 0 && errno == EAGAIN {
                var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                poll(&ready, 1, -1)
                continue
            }
            guard count > 0 else { break }
            for line in splitter.append(buffer[..<count]) { take(line) }
        }
        for line in splitter.finish() { take(line) }
    }

    /// Executes one line, which is `nil` if it was too long; a blank line does nothing.
    private static func take(_ line: String?, control: any PlayerControl, report: (PlayerEvent) -> Void) {
        guard let line else {
            return report(
                .notice(code: noticeCode, message: "Line not read: a command may have at most 64 KiB")
            )
        }
        guard !line.allSatisfy(\.isWhitespace) else { return }
        do {
            let entry = try ParsedCommand(parsing: line)
            guard case .player(let command) = entry.command else {
                return report(.notice(code: noticeCode, message: entry.row.needsScreenMessage))
            }
            control.sendInTurn(command)
        } catch {
            report(.notice(code: noticeCode, message: error.message))
        }
    }
}

/// Splits a stream of bytes into lines.
struct LineSplitter: Sendable {
    /// The limit of a line, longer than any path or URL. A longer line is reported as too long, so that
    /// memory is bounded.
    static let longestByteCount = 64 * 1024

    private var partial: [UInt8] = []
    private var isTooLong = false

    init() {}

    /// Adds the next bytes and returns the lines that they complete, without their ends (LF or CRLF); `nil`
    /// for a line that is too long.
    mutating func append(_ bytes: some Sequence<UInt8>) -> [String?] {
        var lines: [String?] = []
        for byte in bytes {
            if byte == UInt8(ascii: "\n") {
                lines.append(takeLine())
            } else if partial.count < Self.longestByteCount {
                partial.append(byte)
            } else {
                isTooLong = true
            }
        }
        return lines
    }

    /// The last line, if the input ended without a line break.
    mutating func finish() -> [String?] {
        partial.isEmpty ? [] : [takeLine()]
    }

    private mutating func takeLine() -> String? {
        defer {
            partial.removeAll(keepingCapacity: true)
            isTooLong = false
        }
        guard !isTooLong else { return nil }
        if partial.last == UInt8(ascii: "\r") { partial.removeLast() }
        return String(decoding: partial, as: UTF8.self)
    }
}
