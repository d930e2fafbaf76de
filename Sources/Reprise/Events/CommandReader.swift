import Glibc
import Media
import System
import TerminalUI

/// Reads commands from standard input, one per line, and sends them to the player in their order.
///
/// The reader waits while the player has many commands to carry out, or many answers to write: then the pipe
/// fills, and the program at its other end waits too.
enum CommandReader {
    static let noticeCode = "bad-command"

    /// Reads `descriptor` on a separate thread until the input ends or a read fails. The end of the input
    /// does not quit the player, since a service runs with input from `/dev/null`. The thread lives as long
    /// as the process, since a blocked read cannot be cancelled. `announce` is called with each command
    /// before it is sent, or with `nil` before a line is refused, and may block.
    static func start(
        descriptor: Int32,
        control: any PlayerControl,
        announce: @escaping @Sendable (PlayerCommand?) -> Void,
        report: @escaping @Sendable (PlayerEvent) -> Void
    ) {
        NamedThread.start("commands") {
            read(descriptor: descriptor, control: control, announce: announce, report: report)
        }
    }

    /// Reads to the end of the input; blocks.
    static func read(
        descriptor: Int32,
        control: any PlayerControl,
        announce: (PlayerCommand?) -> Void = { _ in },
        report: (PlayerEvent) -> Void
    ) {
        func receive(_ line: String?) {
            do throws(UsageError) {
                guard let command = try parsed(line) else { return }
                announce(command)
                control.sendInTurn(command)
            } catch {
                announce(nil)
                report(.notice(code: noticeCode, message: error.message))
            }
        }
        var splitter = LineSplitter()
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = buffer.withUnsafeMutableBytes { bytes in
                retryingInterrupted { Glibc.read(descriptor, bytes.baseAddress, bytes.count) }
            }
            if count < 0 && errno == EAGAIN {
                Poll.wait(reading: [descriptor])
                continue
            }
            guard count > 0 else { break }
            for line in splitter.append(buffer[..<count]) { receive(line) }
        }
        for line in splitter.finish() { receive(line) }
    }

    /// Parses a line; `nil` stands for a line that was too long. A blank line gives no command.
    private static func parsed(_ line: String?) throws(UsageError) -> PlayerCommand? {
        guard let line else { throw UsageError("Line not read: a command may have at most 64 KiB") }
        guard !line.allSatisfy(\.isWhitespace) else { return nil }
        let entry: ParsedCommand
        do { entry = try ParsedCommand(parsing: line) } catch { throw UsageError(error.message.string) }
        guard case .player(let command) = entry.command else {
            throw UsageError(entry.row.needsScreenMessage.string)
        }
        return command
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
    mutating func finish() -> [String?] { partial.isEmpty ? [] : [takeLine()] }

    private mutating func takeLine() -> String? {
        defer {
            partial.removeAll(keepingCapacity: true)
            isTooLong = false
        }
        guard !isTooLong else { return nil }
        if partial.last == UInt8(ascii: "\r") { partial.removeLast() }
        return FileName.text(partial)
    }
}
