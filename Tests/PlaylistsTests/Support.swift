import Foundation
import Media
import System

@testable import Playlists

/// The entries of `text`, in a list whose name suggests `format`.
func entries(_ text: String, as format: PlaylistFormat? = nil) throws -> [PlaylistEntry] {
    try entries(Array(text.utf8), as: format)
}

func entries(_ bytes: [UInt8], as format: PlaylistFormat? = nil) throws -> [PlaylistEntry] {
    try Playlist.entries(of: bytes, name: format.map { "list.\($0)" } ?? "list", subject: "list")
}

/// A folder of its own for one test, removed with this value.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent(
            "playlists-\(UUID().uuidString)"
        )
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        // Without symbolic links, so that paths compare.
        path = url.resolvingSymlinksInPath().path
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Writes a file, with the folders that lead to it, and returns its path.
    @discardableResult
    func write(_ name: String, _ text: String = "") throws -> String {
        try write(name, bytes: Array(text.utf8))
    }

    @discardableResult
    func write(_ name: String, bytes: [UInt8]) throws -> String {
        let file = URL(fileURLWithPath: path).appendingPathComponent(name)
        let folder = file.deletingLastPathComponent()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(bytes).write(to: file)
        return file.path
    }

    func link(_ name: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(atPath: path + "/" + name, withDestinationPath: target)
    }
}

/// A web of lists: opens what it was given and counts everything.
final class FakeWeb: ResourceOpener {
    struct State {
        var opened: [String] = []
        var rejected: [String] = []
        var closed: [String] = []
    }

    private let resources: [String: [UInt8]]
    private let failures: [String: MediaError]
    private let state = Locked(State())

    init(_ resources: [String: String] = [:], failures: [String: MediaError] = [:]) {
        self.resources = resources.mapValues { Array($0.utf8) }
        self.failures = failures
    }

    init(bytes resources: [String: [UInt8]]) {
        self.resources = resources
        failures = [:]
    }

    var opened: [String] { state.withLock { $0.opened } }
    var rejected: [String] { state.withLock { $0.rejected } }
    var closed: [String] { state.withLock { $0.closed } }

    func open(_ location: ResourceLocation) async throws -> any ResourceReader {
        guard case .web(let url) = location else {
            throw MediaError(.internalError, location.safeText, "local lists are not read through the opener")
        }
        let name = url.requestString
        state.withLock { $0.opened.append(name) }
        if let failure = failures[name] { throw failure }
        guard let bytes = resources[name] else {
            throw MediaError(.httpStatus, location.safeText, "the server answered 404")
        }
        return FakeReader(bytes: bytes) { [self] event in
            state.withLock { state in
                switch event {
                case .rejected: state.rejected.append(name)
                case .closed: state.closed.append(name)
                }
            }
        }
    }
}

/// Hands its bytes out in odd pieces, as a line would.
private struct FakeReader: ResourceReader {
    enum Event {
        case rejected
        case closed
    }

    let bytes: [UInt8]
    let tell: @Sendable (Event) -> Void

    var length: Int64? { nil }
    var report: LoadReport { LoadReport() }
    var storedSeekTable: [UInt8] { [] }

    func read(at offset: Int64, count: Int) async throws -> [UInt8] {
        let start = min(Int(offset), bytes.count)
        return Array(bytes[start..<min(bytes.count, start + min(count, 4_093))])
    }

    func isStored(_ range: ByteRange) -> Bool { false }
    func allowReadAhead(bytesPerSecond: Double) {}
    func prefetch(_ range: ByteRange) {}
    func fill() {}
    func reject() async { tell(.rejected) }
    func storeSeekTable(_ table: [UInt8]) {}
    func storeTags(title: SafeText?, artist: SafeText?, duration: Duration?) {}
    func close() async { tell(.closed) }
}

extension ResolvedTracks {
    /// The places of the tracks, as text.
    var places: [String] {
        tracks.map { track in
            switch track.location {
            case .file(let path): path
            case .web(let url): url.requestString
            }
        }
    }
}
