import Glibc
import Media
import System
import TerminalUI

/// Reads commands from standard input, a line each, and hands them to the player.
enum CommandReader {
    /// The code of the notice for a line that is no command.
    static let noticeCode = "bad-command"

    /// Reads `descriptor` on a thread of its own until it ends or fails. Its end never quits: input
    /// from `/dev/null` is the normal case of a service. The thread lives as long as the process,
    /// for a blocked read cannot be called back.
    static func start(
        descriptor: Int32,
        control: any PlayerControl,
        report: @escaping @Sendable (PlayerEvent) -> Void
    ) {
        NamedThread.start("commands") {
            read(descriptor: descriptor, control: control, report: report)
        }
    }

    /// Reads to the end; blocks.
    static func read(
        descriptor: Int32,
        control: any PlayerControl,
        report: (PlayerEvent) -> Void
    ) {
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
            for line in splitter.append(buffer[..<count]) { take(line, control: control, report: report) }
        }
        for line in splitter.finish() { take(line, control: control, report: report) }
    }

    /// An empty line does nothing; nil is a line that was too long.
    private static func take(
        _ line: String?,
        control: any PlayerControl,
        report: (PlayerEvent) -> Void
    ) {
        guard let line else {
            return report(.notice(code: noticeCode, message: "A command line is at most 64 KiB long"))
        }
        guard !line.allSatisfy(\.isWhitespace) else { return }
        do {
            let command = try UICommand(parsing: line)
            guard let command = command.withoutScreen else {
                return report(.notice(code: noticeCode, message: command.needsScreenMessage))
            }
            control.send(command)
        } catch {
            report(.notice(code: noticeCode, message: error.message))
        }
    }
}
