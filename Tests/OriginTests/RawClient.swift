import Foundation
import RepriseOrigin
import TestSupport

/// A client that sends and reads exactly the given bytes.
///
/// Its calls block a Dispatch queue, never the threads that serve the origin.
final class RawClient: Sendable {
    struct Failure: Error { var what: String }

    private let descriptor: Int32
    private let queue = DispatchQueue(label: "raw client")

    init(_ origin: Origin) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        // A read of bytes that never come fails instead of hanging.
        var limit = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        guard LoopbackPort.connect(descriptor, to: origin.port) else {
            close(descriptor)
            throw Failure(what: "connect: \(String(cString: strerror(errno)))")
        }
    }

    deinit { close(descriptor) }

    func send(_ text: String) throws {
        let bytes = Array(text.utf8)
        guard Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else {
            throw Failure(what: "send")
        }
    }

    /// Sends a GET with further fields, each without its line end.
    func get(_ target: String, _ fields: String...) throws {
        try send("GET \(target) HTTP/1.1\r\nHost: test\r\n" + fields.map { $0 + "\r\n" }.joined() + "\r\n")
    }

    /// Exactly `count` bytes, or fewer if the connection ends first.
    func read(_ count: Int) async -> [UInt8] {
        await withCheckedContinuation { continuation in
            queue.async { [descriptor] in
                var bytes = [UInt8](repeating: 0, count: count)
                var filled = 0
                while filled < count {
                    let result = bytes.withUnsafeMutableBytes {
                        recv(descriptor, $0.baseAddress.map { $0 + filled }, count - filled, 0)
                    }
                    if result <= 0 { break }
                    filled += result
                }
                continuation.resume(returning: Array(bytes.prefix(filled)))
            }
        }
    }

    /// The head of the next answer, with its empty line.
    func readHead() async -> String {
        var head: [UInt8] = []
        while !head.suffix(4).elementsEqual([13, 10, 13, 10]) {
            let byte = await read(1)
            if byte.isEmpty { break }
            head += byte
        }
        return String(decoding: head, as: UTF8.self)
    }

    /// The next answer with the body of its `Content-Length`.
    func readAnswer() async -> (head: String, body: [UInt8]) {
        let head = await readHead()
        let length = head.split(separator: "\r\n").first { $0.hasPrefix("Content-Length: ") }
        let count = length.flatMap { Int($0.dropFirst("Content-Length: ".count)) } ?? 0
        return (head, await read(count))
    }

    /// All bytes until the connection ends.
    func readToEnd() async -> [UInt8] {
        var all: [UInt8] = []
        while true {
            let bytes = await read(64 * 1024)
            all += bytes
            if bytes.count < 64 * 1024 { return all }
        }
    }
}

/// The whole output of a connection for one request of bytes 100–199, or with other `fields`, of 1,000 bytes
/// of music.
func exchange(
    _ faults: [Fault] = [],
    _ fields: [String] = ["Range: bytes=100-199"],
    target: String = "/a.mp3"
) async throws -> (head: String, rest: [UInt8]) {
    let server = try TestOrigin(["/a.mp3": ByteFixtures.bytes(count: 1_000, seed: 1)], faults: faults)
    let client = try RawClient(server.origin)
    let lines = (["Host: test", "Connection: close"] + fields).map { $0 + "\r\n" }.joined()
    try client.send("GET \(target) HTTP/1.1\r\n\(lines)\r\n")
    let answer = (await client.readHead(), await client.readToEnd())
    await server.stop()
    return answer
}
