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
    try entries(bytes, name: format.map { "list.\($0)" } ?? "list")
}

/// The entries of a list called `name`.
func entries(_ bytes: [UInt8], name: String, limits: PlaylistLimits = PlaylistLimits()) throws
    -> [PlaylistEntry]
{
    let list = ListFile(subject: "list", name: name, base: .folder("/"))
    let kind = ResourceKind.of(firstBytes: bytes, name: name)
    var entries: [PlaylistEntry] = []
    try Playlist.parse(bytes, kind: kind, in: list, limits: limits) { entries.append($0) }
    return entries
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
final class FakeWeb: Sendable {
    struct Resource {
        var text: String
        var type: String?
        var redirectedTo: WebURL?
    }

    struct State {
        var resources: [String: Resource]
        var opened: [String] = []
        var revalidated: [String] = []
        var rejected: [String] = []
        var closed: [String] = []
        var lowPriority: [String] = []
        /// The URLs whose readers wait, with those that wait.
        var held: [String: [CheckedContinuation<Void, Never>]] = [:]
        var mostOpen = 0
    }

    private let state: Locked<State>

    init(
        _ resources: [String: String] = [:],
        types: [String: String] = [:],
        redirects: [String: String] = [:]
    ) {
        let all = resources.map { name, text in
            (
                name,
                Resource(text: text, type: types[name], redirectedTo: redirects[name].flatMap { WebURL($0) })
            )
        }
        state = Locked(State(resources: Dictionary(uniqueKeysWithValues: all)))
    }

    var opened: [String] { state.withLock { $0.opened } }
    var revalidated: [String] { state.withLock { $0.revalidated } }
    var rejected: [String] { state.withLock { $0.rejected } }
    var closed: [String] { state.withLock { $0.closed } }
    var lowPriority: [String] { state.withLock { $0.lowPriority } }
    /// The most resources that were open at one time.
    var mostOpen: Int { state.withLock { $0.mostOpen } }

    /// Makes the reads of `name` wait until `release`.
    func hold(_ name: String) { state.withLock { $0.held[name] = [] } }

    func release(_ name: String) {
        for reader in state.withLock({ $0.held.removeValue(forKey: name) ?? [] }) { reader.resume() }
    }

    func open(_ location: ResourceLocation, revalidates: Bool) async throws -> any ResourceReader {
        guard case .web(let url) = location else {
            throw MediaError(.internalError, location.safeText, "local lists are not read through the opener")
        }
        let name = url.requestString
        let resource = state.withLock { state in
            state.opened.append(name)
            if revalidates { state.revalidated.append(name) }
            state.mostOpen = max(state.mostOpen, state.opened.count - state.closed.count)
            return state.resources[name]
        }
        guard let resource else {
            throw MediaError(.httpStatus, location.safeText, "the server answered 404")
        }
        return FakeReader(web: self, name: name, resource: resource)
    }

    fileprivate func pass(_ name: String) async {
        await withCheckedContinuation { reader in
            let isHeld = state.withLock { state in
                state.held[name]?.append(reader)
                return state.held[name] != nil
            }
            if !isHeld { reader.resume() }
        }
    }

    fileprivate func note(_ change: (inout State) -> Void) { state.withLock { change(&$0) } }
}

/// Returns its bytes in pieces of odd lengths, as a connection does.
private struct FakeReader: ResourceReader {
    let web: FakeWeb
    let name: String
    let resource: FakeWeb.Resource

    var length: Int64? { nil }
    func stored(_ fact: DerivedFact) -> [UInt8] { [] }

    var report: LoadReport {
        var report = LoadReport()
        report.contentType = resource.type
        report.requestCount = 1
        report.redirectedTo = resource.redirectedTo
        return report
    }

    func read(at offset: Int64, count: Int) async throws -> [UInt8] {
        await web.pass(name)
        let bytes = Array(resource.text.utf8)
        let start = min(Int(offset), bytes.count)
        return Array(bytes[start..<min(bytes.count, start + min(count, 4_093))])
    }

    func isStored(_ range: ByteRange) -> Bool { false }
    func readStored(at offset: Int64, count: Int) async throws -> [UInt8] { [] }
    func allowReadAhead(bytesPerSecond: Double) {}
    func setPriority(isLow: Bool) { if isLow { web.note { $0.lowPriority.append(name) } } }
    func prefetch(_ range: ByteRange) {}
    func fill() {}
    func reject() async { web.note { $0.rejected.append(name) } }
    func store(_ value: [UInt8], as fact: DerivedFact) {}
    func store(_ facts: TrackFacts) {}
    func close() async { web.note { $0.closed.append(name) } }
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
