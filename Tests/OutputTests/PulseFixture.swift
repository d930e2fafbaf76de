import Foundation
import Media
import Output
import TestSupport

/// A PulseAudio server of a test's own, with one null sink whose monitor can be recorded.
final class PulseFixture {
    private let folder: Folder
    private let server: Process
    private var recorder: Process?
    var address: String { "unix:" + folder.path("native") }
    var serverID: Int32 { server.processIdentifier }

    init() async throws {
        folder = try Folder()
        server = Process()
        server.executableURL = URL(filePath: "/usr/bin/pulseaudio")
        server.arguments = [
            "-n", "--exit-idle-time=-1", "--daemonize=no", "--use-pid-file=no", "--disallow-exit",
            "-L", "module-native-protocol-unix auth-anonymous=1 socket=\(folder.path("native"))",
            "-L", "module-null-sink sink_name=test rate=44100 channels=2",
        ]
        server.environment = environment
        server.standardError = FileHandle.nullDevice
        server.standardInput = FileHandle.nullDevice
        try server.run()
        let path = folder.path("native")
        try await wait(for: "the audio server's socket") { FileManager.default.fileExists(atPath: path) }
        try await wait(for: "the audio server's sink") { try pactl("list", "short", "sinks").contains("test") }
    }

    deinit { stop() }

    /// Ends the server at once, as a crash does.
    func stop() {
        recorder?.terminate()
        if server.isRunning { kill(server.processIdentifier, SIGKILL) }
        server.waitUntilExit()
    }

    /// Runs `pactl` against this server.
    @discardableResult
    func pactl(_ arguments: String...) throws -> String {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(filePath: "/usr/bin/pactl")
        process.arguments = ["--server", address] + arguments
        process.environment = environment
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return String(decoding: data, as: UTF8.self)
    }

    /// Records what the sink plays from now on; returns when the recording runs.
    func record() async throws {
        let path = folder.path("recorded")
        _ = FileManager.default.createFile(atPath: path, contents: nil)
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/parec")
        process.arguments = [
            "--server", address, "-d", "test.monitor", "--raw", "--format=s16le", "--rate=44100", "--channels=2",
            "--latency-msec=20",
        ]
        process.environment = environment
        process.standardOutput = try FileHandle(forWritingTo: URL(filePath: path))
        process.standardError = FileHandle.nullDevice
        try process.run()
        recorder = process
        let folder = folder
        try await wait(for: "the recording to run") { !folder.bytes("recorded").isEmpty }
    }

    /// The frames recorded until now, silence left out.
    var recorded: [UInt32] {
        let bytes = folder.bytes("recorded")
        return bytes.withUnsafeBytes { raw in
            (0..<raw.count / 4).map { raw.loadUnaligned(fromByteOffset: $0 * 4, as: UInt32.self) }
        }.filter { $0 != 0 }
    }

    private var environment: [String: String] {
        ["HOME": folder.path(""), "XDG_RUNTIME_DIR": folder.path(""), "PATH": "/usr/bin:/bin"]
    }
}

/// The frames of `bytes` as the recording has them.
func frames(_ bytes: [UInt8]) -> [UInt32] {
    bytes.withUnsafeBytes { raw in
        (0..<raw.count / 4).map { raw.loadUnaligned(fromByteOffset: $0 * 4, as: UInt32.self) }
    }
}
