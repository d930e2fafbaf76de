import Foundation
import Media
import TestSupport

/// The actions of a session under attack. Each begins with the cache of earlier sessions.
enum FireScene: CaseIterable, Sendable {
    /// The first piece is played for the first time.
    case download
    /// The first track is played from its middle on, and its beginning was cached.
    case seek
    /// The first track needs the room of the second, which was cached.
    case eviction
    /// The cached first track, in which bits have flipped, is verified; there is also a file without an
    /// entry.
    case verification
    /// As `download`; the attack comes at the end.
    case close

    /// 40 s at 320 kbit/s, and a second piece of the same size.
    static let music: [ExactMusic] = [
        .made(MP3Fixtures.Options(seconds: 40, rate: .constant(320))),
        .made(MP3Fixtures.Options(seconds: 40, rate: .constant(320), seed: 2)),
    ]

    var options: [String] {
        switch self {
        case .download, .close, .verification: []
        case .seek: ["--seek", "25"]
        case .eviction: ["--cache-size", "2500000"]
        }
    }

    /// A server with both tracks, and the initial cache of the scene.
    func stage() async throws -> ExactStage {
        let stage = try ExactStage(try await Self.music[0].bytes, try await Self.music[1].bytes)
        switch self {
        case .download, .close: break
        case .seek:
            let bytes = try await Self.music[0].bytes
            try await stage.prepareCache(ByteRangeSet(0..<500_000), of: bytes, hasValidators: true)
        case .eviction: try await ExactRun([stage.url(1)], on: stage, sink: .nothing).finish()
        case .verification:
            let bytes = try await Self.music[0].bytes
            try await stage.prepareCache(ByteRangeSet(0..<Int64(bytes.count)), of: bytes, hasValidators: true)
            let objects = stage.cachePath + "/objects"
            let name = try FileManager.default.contentsOfDirectory(atPath: objects).first ?? ""
            for offset in [70_000, 400_000, 1_200_000] as [Int64] {
                try flipBit(at: offset, in: objects + "/" + name)
            }
            try Data(bytes[..<5_000]).write(to: URL(fileURLWithPath: objects + "/12345"))
        }
        return stage
    }

    /// Starts the session of the scene, without sound.
    func start(on stage: ExactStage, _ faults: CallFaults) throws -> RunningProcess {
        guard self == .verification else {
            return try ExactRun(
                [stage.url()],
                on: stage,
                sink: .nothing,
                options: options,
                environment: faults.environment
            ).process
        }
        return try RunningProcess(
            BuiltProducts.reprise,
            ["cache", "verify", "--cache-dir", stage.cachePath],
            environment: faults.environment
        )
    }

    /// How many calls change the cache when nothing goes wrong.
    func callCount() async throws -> Int { try await FireSceneCounts.shared.count(of: self) }
}

private actor FireSceneCounts {
    static let shared = FireSceneCounts()

    private var counts: [FireScene: Int] = [:]

    func count(of scene: FireScene) async throws -> Int {
        if let count = counts[scene] { return count }
        let stage = try await scene.stage()
        let faults = try CallFaults(below: stage.cachePath, in: stage.folder)
        try await scene.start(on: stage, faults).waitForExit()
        counts[scene] = faults.count
        return faults.count
    }
}

extension ExactStage {
    /// Returns the wrong claims on the two tracks of `FireScene`.
    func falseClaims() async throws -> [String] {
        var wrong: [String] = []
        for index in 0..<2 {
            let bytes = try await FireScene.music[index].bytes
            if let place = try claims(index).firstFalseByte(comparedWith: bytes) {
                wrong.append("piece \(index), byte \(place)")
            }
        }
        return wrong
    }
}

/// Changes one bit of a file.
func flipBit(at offset: Int64, in path: String) throws {
    let descriptor = open(path, O_RDWR | O_CLOEXEC)
    guard descriptor >= 0 else { throw ExactFailure("cannot open \(path)") }
    defer { close(descriptor) }
    var byte: UInt8 = 0
    guard pread(descriptor, &byte, 1, off_t(offset)) == 1 else { throw ExactFailure("cannot read") }
    byte ^= 1 << UInt8(offset % 8)
    guard pwrite(descriptor, &byte, 1, off_t(offset)) == 1 else { throw ExactFailure("cannot write") }
}
