@testable import Cache
@testable import Media
import System
import TestSupport

@testable import Reprise

/// One run of a command of `reprise cache` on a `FixedCache`.
struct CommandRun {
    let code: Reprise.ExitCode
    /// The lines on standard output.
    let output: [String]
    /// The messages on standard error.
    let said: [String]
    /// The lines of progress.
    let notes: [String]
    /// The questions on the terminal.
    let asked: [String]

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
        let asked = Printed()
        let location = try CacheRequest.parsed("verify", "--cache-dir=/c").location
        let command = CacheCommand(
            request: try CacheRequest(action, location, isJSON: isJSON),
            administration: cache,
            supply: supply,
            console: CacheConsole(
                write: { output.append($0) },
                say: { said.append($0.string) },
                note: { notes.append($0.string) },
                ask: {
                    asked.append($0)
                    return answer
                },
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
        self.asked = asked.all
    }
}

/// Lines in the order in which they were appended.
final class Printed: Sendable {
    private let lines = Locked<[String]>([])

    var all: [String] { lines.withLock { $0 } }

    func append(_ line: String) { lines.withLock { $0.append(line) } }
}

/// A cache with given contents, which records its calls.
struct FixedCache: CacheAdministration {
    var entries: [CachedItem] = []
    /// The entries that are left after a removal; `nil` for the same.
    var left: [CachedItem]?
    var error: MediaError?
    var report = CacheRemoval()
    var check = VerifyReport()
    var saved = Savings()
    let told = Printed()

    var calls: [String] { told.all }

    func list() async throws -> [CachedItem] {
        if let error { throw error }
        return calls.isEmpty ? entries : left ?? entries
    }

    func savings() async throws -> Savings { saved }

    func info(for url: WebURL) async throws -> CachedItem? {
        entries.first { $0.url == url.safeText }
    }

    func renditions(of url: WebURL) async throws -> [CachedItem] {
        entries.filter { $0.url == url.safeText }
    }

    func verify(
        progress: @escaping @Sendable (VerifyProgress) -> Void,
        isDamaged: @escaping @Sendable (any ByteSource) async throws -> Bool
    ) async throws -> VerifyReport {
        for checked in 0...100 as ClosedRange<Int64> {
            progress(VerifyProgress(bytes: checked, totalBytes: 100))
        }
        return check
    }

    func evict(_ ids: [CachedItem.ID], includingPinned: Bool) async throws -> CacheRemoval {
        let urls = entries.filter { ids.contains($0.id) }.map(\.url.string)
        told.append("drop \(urls.joined(separator: " ")) pinned=\(includingPinned)")
        return report
    }

    func evict(toBudget size: Int64, includingPinned: Bool) async throws -> CacheRemoval {
        told.append("shrink \(size) pinned=\(includingPinned)")
        return report
    }

    func victims(toBudget size: Int64) async throws -> [CachedItem] {
        told.append("forecast \(size)")
        return entries.sorted { $0.lastPlayed < $1.lastPlayed }
    }

    func clear(includingPinned: Bool) async throws -> CacheRemoval {
        told.append("clear pinned=\(includingPinned)")
        return report
    }

    func setPinned(_ url: WebURL, _ isPinned: Bool) async throws {
        told.append("\(isPinned ? "pin" : "unpin") \(url.requestString)")
    }

    func setPinned(_ id: CachedItem.ID, _ isPinned: Bool) async throws {
        for entry in entries where entry.id == id {
            told.append("\(isPinned ? "pin" : "unpin") \(entry.url)")
        }
    }

    func export(_ entry: CachedItem.ID, into descriptor: Int32) async throws -> CacheExport? { nil }
}

extension MusicSupply {
    /// Resolves each source to the URLs in `music`, or to itself, each time with `problems`. Opens nothing.
    init(
        music: [String: [String]],
        problems: [MediaError] = [],
        closeOpened: @escaping @Sendable () async -> Void = {}
    ) {
        self.init(
            resolver: FixedResolver(music: music, problems: problems),
            opener: NothingOpener(),
            makeDecoder: { _, _ in preconditionFailure("nothing is opened, so nothing is decoded") },
            openStream: { _, _, _ in nil },
            exportStream: { _, _ in },
            isDamaged: { _ in false },
            lastNotCached: { nil },
            closeOpened: closeOpened,
            shutdown: {}
        )
    }
}

private struct FixedResolver: TrackResolver {
    let music: [String: [String]]
    let problems: [MediaError]

    func resolve(_ source: String, deliver: @Sendable (ResolvedTracks) async -> Void) async throws {
        let urls = (music[source] ?? [source]).compactMap { WebURL($0) }
        await deliver(
            ResolvedTracks(
                tracks: urls.enumerated().map { Track(id: Track.ID(UInt64($0)), location: .web($1)) },
                problems: problems
            )
        )
    }
}

private struct NothingOpener: ResourceOpener {
    func open(_ location: ResourceLocation, of episode: Episode?) async throws -> any ResourceReader {
        throw MediaError(.offline, location.safeText, "nothing is there")
    }
}
