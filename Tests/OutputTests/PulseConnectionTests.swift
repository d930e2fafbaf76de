import Foundation
import Media
import System
import TestSupport
import Testing

@testable import Output

/// Connections that fail.
@Suite struct PulseConnectionTests {
    @Test func `without a server connect fails at once and says what to do`() async throws {
        let folder = try TemporaryFolder()
        let output = PulseOutput(sink: nil, server: "unix:" + folder.path("nobody"), clock: TestClock())
        let error = await #expect(throws: MediaError.self) { try await output.connect() }
        #expect(error?.code == .audioServer)
        #expect(["--sink null", "refused"].allSatisfy { error?.description.contains($0) == true })
    }

    @Test(arguments: [false, true])
    func `a server that never answers is given up in time, or when the task is cancelled`(
        isCancelled: Bool
    ) async throws {
        let folder = try TemporaryFolder()
        let silent = try SilentSocket(path: folder.path("silent"))
        let clock = TestClock()
        let output = PulseOutput(sink: nil, server: "unix:" + folder.path("silent"), clock: clock)
        let connecting = Task { try await output.connect() }
        try await wait(for: "the connection") { silent.isReached && clock.sleeperCount == 1 }
        if isCancelled { connecting.cancel() } else { clock.advance(by: .seconds(3)) }
        let error = await #expect(throws: (any Error).self) { try await connecting.value }
        #expect(isCancelled == (error is CancellationError))
        #expect(isCancelled || (error as? MediaError)?.code == .audioServer)
        #expect(isCancelled || "\(error, default: "")".contains("does not answer"))
    }

    @Test func `a connection that is closed before it began is refused and released`() async throws {
        #expect(await PulseMainloop.library.open() == nil)
        weak var left: PulseConnection?
        do {
            let connection = try PulseConnection(clock: TestClock()) { _ in }
            left = connection
            connection.close()
            await #expect(throws: MediaError.self) { try await connection.connect(to: "unix:/nowhere") }
        }
        try await wait(for: "its end") { left == nil }
    }

    @Test func `without libpulse the error says what to install`() async {
        let missing = OptionalLibrary { "no such file" }
        let output = PulseOutput(sink: nil, clock: TestClock(), library: missing)
        let cause = "libpulse can't be loaded (no such file); install libpulse0, or play with --sink null"
        for _ in 0..<2 {
            let error = await #expect(throws: MediaError.self) { try await output.connect() }
            #expect(error == MediaError(.audioServer, "PulseAudio", SafeText(cause)))
        }
    }
}

/// A Unix socket that accepts connections into its backlog and says nothing.
final class SilentSocket {
    private let descriptor: Int32

    init(path: String) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix(107)) }
        let status = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard status == 0, listen(descriptor, 5) == 0 else { throw CocoaError(.fileWriteUnknown) }
    }

    deinit { close(descriptor) }

    /// `true` if a connection waits in the backlog.
    var isReached: Bool {
        var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&polled, 1, 0) == 1
    }
}
