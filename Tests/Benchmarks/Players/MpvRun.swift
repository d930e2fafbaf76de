import Foundation
import TestSupport

/// mpv, driven over its socket.
final class MpvRun: PlayerRun {
    let begun: ContinuousClock.Instant
    private let process: RunningProcess
    private let socket: String

    init(_ setup: PlayerSetup) throws {
        socket = setup.folder.path("mpv")
        begun = .now
        process = try RunningProcess(
            "mpv",
            ["--no-config", "--no-video", "--no-terminal", "--ao=pulse", "--input-ipc-server=" + socket]
                + setup.sources,
            environment: setup.environment
        )
    }

    var identifier: pid_t { process.processIdentifier }
    func seek(to second: Int) throws { try send(#"{"command":["seek",\#(second),"absolute","exact"]}"#) }
    func next() throws { try send(#"{"command":["playlist-next"]}"#) }
    func pause() throws { try send(#"{"command":["set_property","pause",true]}"#) }

    func end() async throws {
        process.signal(SIGTERM)
        try await process.waitForExit()
    }

    private func send(_ command: String) throws {
        let descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(socket.utf8)) }
        let status = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        let bytes = Array((command + "\n").utf8)
        guard status == 0, write(descriptor, bytes, bytes.count) == bytes.count else {
            throw BenchmarkFailure("mpv takes no command: errno \(errno)")
        }
    }
}
