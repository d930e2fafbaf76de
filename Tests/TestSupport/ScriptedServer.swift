import Glibc
package import Media
import System

/// A loopback server that says exactly the bytes a test gives it.
///
/// Every connection runs `script` on a thread of its own, with blocking sockets: a script reads like
/// the conversation it is.
package final class ScriptedServer: Sendable {
    fileprivate struct Log {
        var requests: [String] = []
        var connectionCount = 0
        var sentBytes = 0
        var openSockets: Set<Int32> = []
        var isStopped = false
    }

    package let port: Int
    private let listener: Int32
    fileprivate let log = Locked(Log())
    private let script: @Sendable (ScriptedConnection) -> Void

    /// Listens on a free port of 127.0.0.1.
    package init(_ script: @escaping @Sendable (ScriptedConnection) -> Void) throws {
        self.script = script
        let (listener, port) = try LoopbackPort.taken()
        guard listen(listener, 16) == 0 else { throw Failure.noSocket }
        self.listener = listener
        self.port = Int(port)
        NamedThread.start("test-server") { [self] in
            while true {
                let socket = accept(listener, nil, nil)
                guard socket >= 0 else { return }
                let isStopped = log.withLock { log in
                    log.connectionCount += 1
                    if !log.isStopped { log.openSockets.insert(socket) }
                    return log.isStopped
                }
                if isStopped {
                    close(socket)
                    return
                }
                NamedThread.start("test-peer") { self.serve(socket) }
            }
        }
    }

    /// A server that gives every request the next of `answers`, and the last one for ever.
    package convenience init(answers: [String]) throws {
        let next = Locked(0)
        try self.init { connection in
            while connection.readRequest() != nil {
                let index = next.withLock { next in
                    defer { next += 1 }
                    return min(next, answers.count - 1)
                }
                connection.send(answers[index])
            }
        }
    }

    /// Closes all sockets, which ends the threads.
    package func stop() {
        let open = log.withLock { log in
            log.isStopped = true
            return log.openSockets
        }
        for socket in open { shutdown(socket, Int32(SHUT_RDWR)) }
        shutdown(listener, Int32(SHUT_RDWR))
    }

    /// The heads of all requests so far, lines ended by `\r\n`.
    package var requests: [String] { log.withLock { $0.requests } }
    package var connectionCount: Int { log.withLock { $0.connectionCount } }
    /// Bytes that the system took from the scripts.
    package var sentBytes: Int { log.withLock { $0.sentBytes } }

    package func url(_ path: String = "/music.mp3", userInfo: String = "") -> WebURL {
        guard let url = WebURL("http://\(userInfo)127.0.0.1:\(port)\(path)") else { fatalError(path) }
        return url
    }

    package enum Failure: Error { case noSocket }

    private func serve(_ socket: Int32) {
        script(ScriptedConnection(socket: socket, server: self))
        // Out of the set before it is closed: afterwards the number can belong to another file.
        _ = log.withLock { $0.openSockets.remove(socket) }
        close(socket)
    }
}

/// One connection of a `ScriptedServer`, used on its own thread only.
package final class ScriptedConnection {
    private let socket: Int32
    private let server: ScriptedServer

    fileprivate init(socket: Int32, server: ScriptedServer) {
        self.socket = socket
        self.server = server
    }

    /// The next request's head without its empty line; nil when the peer has closed.
    package func readRequest() -> String? {
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while recv(socket, &byte, 1, 0) == 1 {
            bytes.append(byte)
            guard bytes.suffix(4) == [13, 10, 13, 10] else { continue }
            let head = String(decoding: bytes.dropLast(2), as: UTF8.self)
            server.log.withLock { $0.requests.append(head) }
            return head
        }
        return nil
    }

    /// Sends all of `text`; returns `true` if the peer still listens.
    @discardableResult
    package func send(_ text: String) -> Bool { send(Array(text.utf8)) }

    @discardableResult
    package func send(_ bytes: [UInt8]) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes { rest in
                Glibc.send(socket, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            sent += count
            server.log.withLock { $0.sentBytes += count }
        }
        return true
    }

    /// Returns when the peer has closed.
    package func waitForClose() {
        var byte: UInt8 = 0
        while recv(socket, &byte, 1, 0) > 0 {}
    }
}
