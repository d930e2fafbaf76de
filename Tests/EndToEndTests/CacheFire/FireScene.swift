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
    func stage() async throws -> Stage {
        let bytes = try await Self.music[0].bytes
        let stage = try await Stage(bytes, try await Self.music[1].bytes)
        switch self {
        case .download, .close: break
        case .seek:
            try await stage.prepareCache(ByteRangeSet(0..<500_000), of: bytes)
        case .eviction: try await stage.session([stage.url(1)], sink: "null:fast").finish()
        case .verification:
            try await stage.prepareCache(ByteRangeSet(0..<Int64(bytes.count)), of: bytes)
            for offset in [70_000, 400_000, 1_200_000] as [Int64] {
                try flipBit(at: offset, in: stage.objectFiles[0])
            }
            try stage.folder.write(Array(bytes[..<5_000]), to: "cache/objects/12345")
        }
        return stage
    }

    /// Starts the session of the scene, without sound.
    func start(on stage: Stage, _ faults: CallFaults) throws -> RunningProcess {
        if self == .verification {
            let words = ["cache", "verify", "--cache-dir", stage.cachePath]
            return try stage.start(words, environment: faults.environment)
        }
        return try stage.startPlaying(
            options + [stage.url()],
            sink: "null:fast",
            environment: faults.environment
        )
    }

    /// The number of calls that change the cache if nothing goes wrong.
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

extension Stage {
    /// The wrong claims of the index on `music`, the first tracks of the server.
    func falseClaims(_ music: [ExactMusic] = FireScene.music) async throws -> [String] {
        var wrong: [String] = []
        for (index, track) in music.enumerated() {
            if let place = try await claims(index).firstFalseByte(comparedWith: track.bytes) {
                wrong.append("track \(index), byte \(place)")
            }
        }
        return wrong
    }
}

/// What happens to the calls by which a player changes files below one folder (`Tests/CallFaults`).
struct CallFaults: Sendable {
    enum Kind: String, Sendable, CaseIterable {
        /// The process ends in the middle of the call.
        case kill
        /// From the call on nothing more can be written.
        case full
        /// The call alone is refused.
        case fullOnce = "full-once"
        /// The file system has no locks.
        case noLocks = "no-locks"
    }

    private let folder: String
    private let counterPath: String
    private let fault: (kind: Kind, at: Int)?

    /// Counts the calls below `folder`, which need not be there yet, and with a fault changes one of them.
    init(below folder: String, in temporary: TemporaryFolder, fault: (kind: Kind, at: Int)? = nil) throws {
        self.folder = folder
        self.fault = fault
        let name = "calls-\(UInt64.random(in: 0...UInt64.max))"
        counterPath = try temporary.write([UInt8](repeating: 0, count: 8), to: name)
    }

    /// How many calls there were so far.
    var count: Int {
        let bytes = FileManager.default.contents(atPath: counterPath) ?? Data()
        return bytes.reversed().reduce(0) { $0 << 8 | Int($1) }
    }

    /// For the environment of the player.
    var environment: [String: String?] {
        [
            "LD_PRELOAD": BuiltProducts.callFaults, "CALL_FAULTS_FOLDER": folder,
            "CALL_FAULTS_COUNTER": counterPath, "CALL_FAULTS_AT": fault.map { "\($0.at)" },
            "CALL_FAULTS_KIND": fault?.kind.rawValue,
        ]
    }
}
