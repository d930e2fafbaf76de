import Glibc
import System

/// A pipe of the system; its ends are closed at the end of the test.
final class PipeEnds: Sendable {
    let reading: Int32
    let writing: Int32
    private let isWritingClosed = Locked(false)

    init() {
        var ends: [Int32] = [-1, -1]
        // A program under test that writes to a closed pipe has to see an error, as in the real process.
        signal(SIGPIPE, SIG_IGN)
        precondition(pipe(&ends) == 0, "the system has no pipe left")
        reading = ends[0]
        writing = ends[1]
    }

    deinit {
        close(reading)
        closeWriting()
    }

    /// Ends the input of the reader.
    func closeWriting() {
        isWritingClosed.withLock { isClosed in
            if !isClosed { close(writing) }
            isClosed = true
        }
    }

    /// Writes all of `text`, which has to fit into the pipe.
    func send(_ text: String) {
        let bytes = Array(text.utf8)
        let count = bytes.withUnsafeBytes { Glibc.write(writing, $0.baseAddress, $0.count) }
        precondition(count == bytes.count, "the pipe is too small for the test")
    }

    /// The bytes in the pipe; blocks while there are none.
    func receive() -> String {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = buffer.withUnsafeMutableBytes { Glibc.read(reading, $0.baseAddress, $0.count) }
        return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    }

    /// Reads until `count` lines have come; blocks.
    func readLines(count: Int) -> [Substring] {
        var text = ""
        var lineCount = 0
        while lineCount < count {
            let part = receive()
            guard !part.isEmpty else { break }
            lineCount += part.utf8.count { $0 == UInt8(ascii: "\n") }
            text += part
        }
        return text.split(separator: "\n")
    }
}
