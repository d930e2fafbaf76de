import Foundation
import Media
import System
import TestSupport

@testable import Playlists

/// The entries of `text`, in a list whose name suggests `format`.
func entries(_ text: String, as format: PlaylistFormat? = nil) throws -> [PlaylistEntry] {
    try entries(Array(text.utf8), as: format)
}

func entries(_ bytes: [UInt8], as format: PlaylistFormat? = nil) throws -> [PlaylistEntry] {
    try Playlist.entries(of: bytes, name: format.map { "list.\($0)" } ?? "list", subject: "list")
}

extension TemporaryFolder {
    /// Writes a file, with the folders that lead to it, and returns its path.
    @discardableResult
    func write(_ name: String, _ text: String = "") throws -> String { try write(text, to: name) }

    func link(_ name: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(atPath: path(name), withDestinationPath: target)
    }

    /// The names of the files and folders directly inside.
    func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: path) }
}

/// A web of lists: opens what it was given and records every call.
final class FakeWeb: ResourceOpener {
    struct State {
        var opened: [String] = []
        var rejected: [String] = []
        var closed: [String] = []
    }

    private let resources: [String: String]
    private let state = Locked(State())

    init(_ resources: [String: String] = [:]) { self.resources = resources }

    var opened: [String] { state.withLock { $0.opened } }
    var rejected: [String] { state.withLock { $0.rejected } }
    var closed: [String] { state.withLock { $0.closed } }

    func open(_ location: ResourceLocation) async throws -> any ResourceReader {
        guard case .web(let url) = location else {
            throw MediaError(.internalError, location.safeText, "local lists are not read through the opener")
        }
        let name = url.requestString
        state.withLock { $0.opened.append(name) }
        guard let text = resources[name] else {
            throw MediaError(.httpStatus, location.safeText, "the server answered 404")
        }
        return FakeReader(
            bytes: Array(text.utf8),
            didReject: { [self] in state.withLock { $0.rejected.append(name) } },
            didClose: { [self] in state.withLock { $0.closed.append(name) } }
        )
    }
}

/// Returns its bytes in pieces of odd lengths, as a connection does.
private struct FakeReader: ResourceReader {
    let bytes: [UInt8]
    let didReject, didClose: @Sendable () -> Void

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
    func reject() async { didReject() }
    func storeSeekTable(_ table: [UInt8]) {}
    func storeTags(title: SafeText?, artist: SafeText?, duration: Duration?) {}
    func close() async { didClose() }
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
