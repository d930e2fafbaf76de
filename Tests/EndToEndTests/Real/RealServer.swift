import TestSupport
import Testing

/// The two servers that listeners have.
enum RealServerKind: String, CaseIterable, CustomTestStringConvertible {
    case pulseAudio = "PulseAudio"
    case pipeWire = "PipeWire"

    var testDescription: String { rawValue }

    func start() async throws -> any SoundServer {
        switch self {
        case .pulseAudio: try await PulseServer()
        case .pipeWire: try await PipeWireServer()
        }
    }
}

extension SoundServer {
    /// Starts to record the monitor of the sink `test`; returns when frames come.
    func runningRecord() async throws -> PulseRecording {
        let recording = try record()
        try await wait(for: "the recording to run") { recording.frameCount > 0 }
        return recording
    }
}

extension PulseRecording {
    /// Ends it half a second later, so that all of the player's sound is in it, and returns the samples.
    func stopAfterSilence() async throws -> [Int16] {
        let count = frameCount
        try await wait(for: "silence behind the music") { frameCount > count + 22_050 }
        return try await stop()
    }
}

/// A stage with an audio server of its own.
struct RealStage: Sendable {
    let stage: Stage
    let audio: any SoundServer

    init(_ kind: RealServerKind = .pulseAudio) async throws {
        stage = try await Stage()
        audio = try await kind.start()
    }

    /// Starts the player on the sink `test`.
    func play(_ sources: [String]) throws -> RunningProcess {
        try stage.startPlaying(sources, sink: "pulse:test", environment: audio.environment)
    }
}
