import Foundation
import System

/// A program at the control socket of a player.
package final class SocketProgram: Sendable {
    private struct State {
        var lines: [String] = []
        /// The beginning of the next line.
        var rest: ArraySlice<UInt8> = []
        var isClosed = false
    }

    private let descriptor: Int32
    private let state = Locked(State())

    package init(_ path: String) throws { descriptor = try LocalSocket.connect(to: path) }

    deinit { close(descriptor) }

    /// Sends `text` unchanged; waits while the player does not read.
    package func send(_ text: String) throws { try WholeFile.write(text.utf8, to: descriptor) }

    /// Sends as much of `text` as the socket takes now, and returns if that was all of it.
    package func offer(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        return Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
    }

    /// Ends its own sending; it goes on reading.
    package func endInput() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// The complete lines so far, as far as there are bytes to be read.
    package var lines: [String] {
        state.withLock { state in
            read(&state)
            return state.lines
        }
    }

    /// `true` once the player has closed the connection, and all was read.
    package var isClosed: Bool {
        state.withLock { state in
            read(&state)
            return state.isClosed
        }
    }

    /// Reads what is there, and forgets it.
    package func forgetLines() {
        state.withLock { state in
            read(&state)
            state.lines = []
        }
    }

    private func read(_ state: inout State) {
        var buffer = [UInt8](repeating: 0, count: 64 * 1024)
        while !state.isClosed {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            guard count > 0 else {
                state.isClosed = count == 0 || errno != EAGAIN
                return
            }
            var pieces = buffer[..<count].split(
                separator: UInt8(ascii: "\n"),
                omittingEmptySubsequences: false
            )
            pieces[0] = state.rest + pieces[0]
            state.rest = pieces.removeLast()
            state.lines += pieces.map { String(decoding: $0, as: UTF8.self) }
        }
    }

    /// Waits for the first event of this name after the first `count` lines.
    @discardableResult
    package func event(_ name: String, after count: Int = 0) async throws -> ReportedEvent {
        var found: String?
        try await wait(for: name) {
            found = lines.dropFirst(count).first { $0.contains("\"event\":\"\(name)\"") }
            return found != nil
        } seeing: {
            lines.suffix(20).joined(separator: "\n")
        }
        return try ReportedEvent(line: found ?? "")
    }
}
