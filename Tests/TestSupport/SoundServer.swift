import Foundation

/// An audio server of a test's own that speaks PulseAudio's protocol and has one null sink, `test`, whose monitor
/// can be recorded.
package protocol SoundServer: Sendable {
    /// What a client needs in its environment to find this server, and no other.
    var environment: [String: String] { get }
}

extension SoundServer {
    /// Starts to record what is heard of `sink`: 44.1 kHz stereo, signed 16 bit.
    package func record(of sink: String) throws -> PulseRecording {
        PulseRecording(
            process: try RunningProcess(
                "parec",
                [
                    "-d", sink + ".monitor", "--format=s16le", "--rate=44100", "--channels=2",
                    "--latency-msec=20",
                ],
                environment: environment
            )
        )
    }

    /// The same of the sink `test`.
    package func record() throws -> PulseRecording { try record(of: "test") }

    /// What `pactl` says to these arguments.
    @discardableResult
    package func pactl(_ arguments: String...) async throws -> String {
        String(
            decoding: try await RunningProcess.run("pactl", arguments, environment: environment),
            as: UTF8.self
        )
    }
}

/// A recording under way.
package final class PulseRecording: Sendable {
    private let process: RunningProcess

    init(process: RunningProcess) { self.process = process }

    /// How many frames were recorded so far: wait for this to grow instead of for a time to pass.
    package var frameCount: Int { process.outputCount / 4 }

    /// How many of them are no silence.
    package var soundingFrameCount: Int {
        process.output.withUnsafeBytes { bytes in
            (0..<bytes.count / 4).count { bytes.loadUnaligned(fromByteOffset: $0 * 4, as: UInt32.self) != 0 }
        }
    }

    /// Ends it and returns the samples, left and right in turn.
    package func stop() async throws -> [Int16] {
        process.signal(SIGTERM)
        try await process.waitForExit()
        return PCM.samples(process.output)
    }
}
