@testable import Cache
import Media
import System
import TestSupport

@testable import Reprise

/// One run of a command of `reprise cache` on a cache that is made up.
struct CommandRun {
    let code: Reprise.ExitCode
    let output: [String]
    let said: [String]
    let notes: [String]

    init(
        _ action: CacheRequest.Action,
        cache: FixedCache,
        supply: MusicSupply = MusicSupply(music: [:]),
        isJSON: Bool = false,
        answer: String? = nil
    ) async throws {
        let output = Printed()
        let said = Printed()
        let notes = Printed()
        let location = try CacheRequest.parsed("verify", "--cache-dir=/c").location
        let command = CacheCommand(
            request: try CacheRequest(action, location, isJSON: isJSON),
            administration: cache,
            supply: supply,
            console: CacheConsole(
                write: { output.append($0) },
                say: { said.append($0.string) },
                note: { notes.append($0.string) },
                ask: { _ in answer },
                time: { "day \($0)" },
                now: { 1_000_000 },
                style: TextStyle(),
                painter: nil,
                clock: TestClock()
            )
        )
        code = await command.run()
        self.output = output.all
        self.said = said.all
        self.notes = notes.all
    }
}

/// Lines in the order they came.
final class Printed: Sendable {
    private let lines = Locked<[String]>([])

    var all: [String] { lines.withLock { $0 } }

    func append(_ line: String) { lines.withLock { $0.append(line) } }
}

/// A cache with given contents, which records its calls.
final class FixedCache: CacheAdministration {
    private let entries: [CachedEntry]
    private let error: MediaError?
    private let report: CacheRemoval
    private let check: VerifyReport
    private let told = Printed()

    init(
        entries: [CachedEntry] = [],
        error: MediaError? = nil,
        report: CacheRemoval = CacheRemoval(),
        check: VerifyReport = VerifyReport()
    ) {
        self.entries = entries
        self.error = error
        self.report = report
        self.check = check
    }

    var calls: [String] { told.all }

    func list() async throws -> [CachedEntry] {
        if let error { throw error }
        return entries
    }

    func info(for url: WebURL) async throws -> CachedEntry? {
        entries.first { $0.url == url.safeText }
    }

    func verify(
        progress: @escaping @Sendable (VerifyProgress) -> Void
    ) async throws -> VerifyReport {
        for checked in 0...100 as ClosedRange<Int64> {
            progress(VerifyProgress(bytes: checked, totalBytes: 100))
        }
        return check
    }

    func evict(_ urls: [WebURL], includingPinned: Bool) async throws -> CacheRemoval {
        told.append("drop \(urls.map(\.requestString).joined(separator: " ")) pinned=\(includingPinned)")
        return report
    }

    func evict(toBudget size: Int64, includingPinned: Bool) async throws -> CacheRemoval {
        told.append("shrink \(size) pinned=\(includingPinned)")
        return report
    }

    func victims(toBudget size: Int64) async throws -> CacheRemoval {
        told.append("forecast \(size)")
        return report
    }

    func clear(includingPinned: Bool) async throws -> CacheRemoval {
        told.append("clear pinned=\(includingPinned)")
        return report
    }

    func setPinned(_ url: WebURL, _ isPinned: Bool) async throws {
        told.append("\(isPinned ? "pin" : "unpin") \(url.requestString)")
    }

    func export(_ url: WebURL, into descriptor: Int32) async throws -> CacheExport? { nil }
}

extension MusicSupply {
    /// Music that is made up: its tracks by what is typed, else one track for each URL. Nothing can be opened.
    init(music: [String: [String]]) {
        self.init(
            resolver: FixedResolver(music: music),
            listsRead: { [] },
            opener: NothingOpener(),
            makeDecoder: { _, _ in preconditionFailure("nothing is opened, so nothing is decoded") },
            lastNotCached: { nil },
            shutdown: {}
        )
    }
}

private struct FixedResolver: TrackResolver {
    let music: [String: [String]]

    func tracks(for source: String) async throws -> ResolvedTracks {
        let urls = music[source] ?? [source]
        return ResolvedTracks(
            tracks: urls.enumerated().compactMap { index, url in
                WebURL(url).map { Track(id: Track.ID(UInt64(index)), location: .web($0)) }
            }
        )
    }
}

private struct NothingOpener: ResourceOpener {
    func open(_ location: ResourceLocation) async throws -> any ResourceReader {
        throw MediaError(.offline, location.safeText, "nothing is there")
    }
}
