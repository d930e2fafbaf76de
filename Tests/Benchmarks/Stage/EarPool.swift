import Media
import System
import TestSupport

/// Ears that are used again: a new null sink sleeps for its first two seconds before it listens to anybody.
final class EarPool: Sendable {
    private let pulse: PulseServer
    private let idle = Locked<[Ear]>([])

    init(_ pulse: PulseServer) { self.pulse = pulse }

    /// An ear that hears nothing yet.
    func take() async throws -> Ear {
        if let ear = idle.withLock({ $0.popLast() }) { return ear }
        return try await Ear(pulse)
    }

    /// What played there has ended.
    func giveBack(_ ear: Ear) async throws {
        ear.forget()
        try await wait(for: "silence at a null sink") {
            ear.count > 2_205 && !ear.samples(from: ear.count - 1_100).contains { $0 != 0 }
        }
        ear.forget()
        idle.withLock { $0.append(ear) }
    }
}
