import TestSupport
import Testing

/// An audio server that can crash and restart.
protocol RealServer: SoundServer {
    func crash() async throws
    /// Starts it anew after a crash.
    func start() async throws
}

extension PulseServer: RealServer {}
extension PipeWireServer: RealServer {}

/// The two servers that listeners have.
enum RealServerKind: String, CaseIterable, CustomTestStringConvertible {
    case pulseAudio = "PulseAudio"
    case pipeWire = "PipeWire"

    var testDescription: String { rawValue }

    func start() async throws -> any RealServer {
        switch self {
        case .pulseAudio: try await PulseServer()
        case .pipeWire: try await PipeWireServer()
        }
    }
}
