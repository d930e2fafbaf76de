import Foundation
import TestSupport
import Testing

/// A track that is compared with the output of the reference decoder.
enum ExactMusic: Sendable, Hashable, CustomTestStringConvertible {
    /// A file of the folder `assets`, by its name.
    case asset(String)
    /// A longer track, created for the tests.
    case made(MP3Fixtures.Options)

    /// Every piece of `assets`.
    static let assets: [ExactMusic] = {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: assetsFolder)) ?? []
        return names.filter { $0.hasSuffix(".mp3") }.sorted().map { .asset($0) }
    }()

    /// At least 8 MB: several read-aheads long.
    static let long: [ExactMusic] = [
        .made(MP3Fixtures.Options(seconds: 222, rate: .constant(320))),
        .made(MP3Fixtures.Options(seconds: 300, rate: .variable(quality: 0, hasXing: true))),
    ]

    /// 1.6 MB at a constant rate, and about as much at a variable one.
    static let short: [ExactMusic] = [
        .made(MP3Fixtures.Options(seconds: 40, rate: .constant(320))),
        .made(MP3Fixtures.Options(seconds: 60, rate: .variable(quality: 1, hasXing: true))),
    ]

    /// 4 MB of 40,000 bytes a second.
    static let steady = ExactMusic.made(MP3Fixtures.Options(seconds: 100, rate: .constant(320)))

    /// The bytes of a track of 320 kB and 8 s; another one for each seed.
    static func brief(_ seed: UInt64 = 1) async throws -> [UInt8] {
        try await MP3Fixtures.bytes(MP3Fixtures.Options(seconds: 8, rate: .constant(320), seed: seed))
    }

    private static let assetsFolder = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().appendingPathComponent("../../../assets").standardizedFileURL.path

    var path: String {
        get async throws {
            switch self {
            case .asset(let name): Self.assetsFolder + "/" + name
            case .made(let options): try await MP3Fixtures.file(options)
            }
        }
    }

    var bytes: [UInt8] {
        get async throws { [UInt8](try Data(contentsOf: URL(fileURLWithPath: try await path))) }
    }

    /// The output of the reference decoder.
    var reference: Data { get async throws { try await ReferenceSamples.shared.samples(of: self) } }

    var testDescription: String {
        switch self {
        case .asset(let name): name
        case .made(let options): "\(options.seconds) s, \(options.rate)"
        }
    }
}

/// The samples of pieces by the reference decoder, each decoded once.
private actor ReferenceSamples {
    static let shared = ReferenceSamples()

    private var decoding: [ExactMusic: Task<Data, any Error>] = [:]

    func samples(of music: ExactMusic) async throws -> Data {
        if let task = decoding[music] { return try await task.value }
        let task = Task { Data(try await MP3Fixtures.referencePCM(of: try await music.path)) }
        decoding[music] = task
        return try await task.value
    }
}
