import Foundation
import Media
import Output
import TestSupport

/// An output under test with what stands around it.
struct Rig {
    enum Kind: String, CaseIterable {
        case null, nullFast, raw, wav

        /// Those whose result can be read back.
        static let files: [Self] = [.raw, .wav]
    }

    let kind: Kind
    let output: any AudioOutput
    let clock = TestClock()
    let events = EventLog()
    let folder: Folder

    init(_ kind: Kind) throws {
        self.kind = kind
        folder = try Folder()
        output =
            switch kind {
            case .null: NullOutput(clock: clock)
            case .nullFast: FastNullOutput()
            case .raw: RawFileOutput(path: folder.path("out"))
            case .wav: WAVFileOutput(path: folder.path("out"))
            }
        events.listen(to: output)
    }

    /// The samples in the file, nil for an output without one.
    var samples: [UInt8]? {
        switch kind {
        case .null, .nullFast: nil
        case .raw: folder.bytes("out")
        case .wav: Array(folder.bytes("out").dropFirst(44))
        }
    }

    /// Does `body`, moving the clock of a device in the meantime.
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
