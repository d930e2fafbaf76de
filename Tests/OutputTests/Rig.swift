import Foundation
import Media
import Output
import TestSupport

/// An output under test with its surroundings.
struct Rig {
    enum Kind: String, CaseIterable {
        case null, nullFast, raw, wav, pulse

        /// Those whose result can be read back.
        static let files: [Self] = [.raw, .wav]

        /// A long piece, as far as the time it takes allows: PulseAudio's time is real.
        var frames: Int { self == .pulse ? 40_000 : 200_000 }
    }

    let kind: Kind
    let output: any AudioOutput
    let clock = TestClock()
    let events = EventLog()
    let folder: Folder
    private let server: Server

    init(_ kind: Kind) async throws {
        self.kind = kind
        folder = try Folder()
        let pulse = kind == .pulse ? try await PulseFixture() : nil
        server = Server(fixture: pulse)
        output =
            switch kind {
            case .null: NullOutput(clock: clock)
            case .nullFast: ConsumingOutput.fastNull()
            case .raw: ConsumingOutput.raw(path: folder.path("out"))
            case .wav: ConsumingOutput.wav(path: folder.path("out"))
            // On the test's clock no request can exceed its time limit.
            case .pulse: PulseOutput(sink: "test", server: pulse?.address, clock: clock)
            }
        events.listen(to: output)
    }

    private struct Server: @unchecked Sendable {
        // Unchecked: it is only kept alive.
        let fixture: PulseFixture?
    }

    /// The samples in the file; `nil` for an output without one.
    var samples: [UInt8]? {
        switch kind {
        case .null, .nullFast, .pulse: nil
        case .raw: folder.bytes("out")
        case .wav: Array(folder.bytes("out").dropFirst(44))
        }
    }

    /// Does `body` while the clock of a null device moves on.
    func running<Value: Sendable>(_ body: @Sendable () async throws -> Value) async throws -> Value {
        guard kind == .null else { return try await body() }
        let clock = clock
        let mover = Task {
            while !Task.isCancelled {
                if clock.sleeperCount > 0 { clock.advance(by: NullOutput.period) }
                await Task.yield()
            }
        }
        defer { mover.cancel() }
        return try await body()
    }
}

/// A folder of a test's own, removed with it.
final class Folder: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "output-tests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    func path(_ name: String) -> String { url.appending(path: name).path }

    func bytes(_ name: String) -> [UInt8] {
        (try? Data(contentsOf: url.appending(path: name))).map(Array.init) ?? []
    }

    var names: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []).sorted()
    }
}
