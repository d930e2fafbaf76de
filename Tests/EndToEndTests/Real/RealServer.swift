import TestSupport
import Testing

/// An audio server of a test's own, with one null sink whose monitor can be recorded.
protocol RealServer: Sendable {
    /// What a client needs to find it.
    var environment: [String: String] { get }

    func record() throws -> PulseRecording
    func record(of sink: String) throws -> PulseRecording
    @discardableResult
    func pactl(_ arguments: String...) async throws -> String
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
