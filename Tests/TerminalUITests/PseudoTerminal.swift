import Glibc
import Media
import System
import TestSupport

/// A terminal without a window, which keeps the bytes that are written to it.
final class PseudoTerminal: Sendable {
    let slave: Int32
    private let master: Int32
    private let received: Received

    private final class Received: Sendable {
        let bytes = Locked<[UInt8]>([])
        let isClosed = Locked(false)
    }

    init?(columns: Int, rows: Int) {
        // By ioctl: Swift's Glibc module hides posix_openpt and its companions (ioctl_tty(2)).
        master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        var lock: Int32 = 0
        var number: Int32 = 0
        let unlockRequest = UInt(0x4004_5431)
        let numberRequest = UInt(0x8004_5430)
        guard master >= 0, ioctl(master, unlockRequest, &lock) == 0 else { return nil }
        guard ioctl(master, numberRequest, &number) == 0 else { return nil }
        slave = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard slave >= 0 else { return nil }
        received = Received()
        var size = winsize(ws_row: UInt16(rows), ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
        _ = ioctl(slave, UInt(TIOCSWINSZ), &size)
        let master = self.master
        let received = self.received
        NamedThread.start("pty-reader") {
            var chunk = [UInt8](repeating: 0, count: 65_536)
            while true {
                let count = read(master, &chunk, chunk.count)
                // The read ends with an error once the last writer is gone.
                guard count > 0 else { break }
                received.bytes.withLock { $0.append(contentsOf: chunk[..<count]) }
            }
            close(master)
        }
    }

    /// Ends the reader, which closes the other end.
    deinit { close(slave) }

    var bytes: [UInt8] { received.bytes.withLock { $0 } }
    var text: String { String(decoding: bytes, as: UTF8.self) }

    func clear() { received.bytes.withLock { $0.removeAll() } }

    /// Waits until everything that was written before has arrived: the kernel hands it on after the write.
    func drain() async throws {
        let mark = Array("\u{4}end".utf8)
        _ = write(slave, mark, mark.count)
        try await wait(for: "the end of what was written") {
            self.received.bytes.withLock { bytes in
                guard bytes.suffix(mark.count).elementsEqual(mark) else { return false }
                bytes.removeLast(mark.count)
                return true
            }
        }
    }

    func type(_ text: String) {
        var bytes = Array(text.utf8)
        _ = write(master, &bytes, bytes.count)
    }

    /// The terminal's modes, as bytes to compare.
    var modes: [UInt32] {
        var modes = termios()
        tcgetattr(slave, &modes)
        return [modes.c_iflag, modes.c_oflag, modes.c_cflag, modes.c_lflag]
    }
}
