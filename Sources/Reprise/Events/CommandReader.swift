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
        report: @escaping @Sendable (PlayerEvent) -> Void
    ) {
        func receive(_ line: String?) {
            do throws(UsageError) {
                guard let command = try parsed(line) else { return }
                announce(command)
                control.sendInTurn(command) { event in
                    // Only programs that may send the next command elsewhere need to know that it has ended.
                    if case .answered = event { return }
                    report(event)
                }
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
    static func parsed(_ line: String?) throws(UsageError) -> PlayerCommand? {
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
