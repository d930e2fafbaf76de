import Glibc
import TestSupport

/// A port of 127.0.0.1 at which a connection is neither taken nor refused: the queue of its listener is full.
final class SilentListener: Sendable {
    let port: Int
    private let listener: Int32
    private let queued: [Int32]

    init() throws {
        let (listener, number) = try LoopbackPort.taken()
        guard listen(listener, 0) == 0 else { throw ScriptedServer.Failure.noSocket }
        // A queue of zero has room for one; a few more make sure, and wait for ever.
        queued = (0..<4).map { _ in
            let peer = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
            LoopbackPort.beginConnecting(peer, to: number)
            return peer
        }
        self.listener = listener
        port = Int(number)
    }

    func close() {
        for socket in queued + [listener] { Glibc.close(socket) }
    }
}
