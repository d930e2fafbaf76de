import Media
import Testing

@testable import Reprise

@Suite
struct CacheCommandTests {
    private struct FixedCache: CacheAdministration {
        var entries: [CacheListing] = []
        var error: MediaError?

        func list() async throws -> [CacheListing] {
            if let error { throw error }
            return entries
        }

        func info(_ source: String) async throws -> CacheListing? {
            entries.first { $0.source.string == source }
        }

        func clear() async throws -> CacheClearing {
            CacheClearing(removedEntries: 2, removedBytes: 3_000_000, keptEntries: 1)
        }
    }

    private final class Printed: Sendable {
        private let lines = Locked<[String]>([])

        var all: [String] { lines.withLock { $0 } }

        func append(_ line: String) { lines.withLock { $0.append(line) } }
    }

    private static let entries = [
        CacheListing(
            source: "http://h/a.mp3",
            title: "Étude",
            duration: .seconds(125),
            length: 4_000_000,
            storedBytes: 3_999_999,
            ranges: [0..<65_536, 131_072..<4_000_000],
            contentType: "audio/mpeg",
            lastPlayed: 5
        ),
        CacheListing(source: "http://h/b", storedBytes: 12, lastPlayed: 6),
    ]

    private func run(
        _ action: CacheRequest.Action,
        cache: FixedCache = FixedCache(entries: entries),
        isJSON: Bool = false,
        answer: String? = nil
    ) async -> (code: Reprise.ExitCode, output: [String], said: [String]) {
        let output = Printed()
        let said = Printed()
        let command = CacheCommand(
            administration: cache,
            write: { output.append($0) },
            say: { said.append($0.string) },
            ask: { _ in answer },
            time: { "day \($0)" }
        )
        let code = await command.run(CacheRequest(action: action, folder: "/c", isJSON: isJSON))
        return (code, output.all, said.all)
    }

    @Test func `the list stands in columns with a sum`() async {
        let result = await run(.list)
        #expect(result.code == .success)
        #expect(
            result.output == [
                "STORED    SIZE   %  LAST PLAYED  SOURCE",
                "3.9 MB  4.0 MB  99  day 5        http://h/a.mp3",
                "  12 B       ?   ?  day 6        http://h/b",
                "2 entries, 4.0 MB",
            ]
        )
    }

    @Test func `an empty cache says so, and in JSON is no line`() async {
        #expect(await run(.list, cache: FixedCache()).output == ["nothing is kept"])
        #expect(await run(.list, cache: FixedCache(), isJSON: true).output.isEmpty)
    }

    @Test func `the list is one JSON object an entry`() async {
        #expect(
            await run(.list, isJSON: true).output == [
                #"{"source":"http://h/a.mp3","title":"Étude","artist":null,"duration":125,"type":"audio/mpeg","#
                    + #""size":4000000,"stored":3999999,"lastPlayed":5}"#,
                #"{"source":"http://h/b","title":null,"artist":null,"duration":null,"type":null,"size":null,"#
                    + #""stored":12,"lastPlayed":6}"#,
            ]
        )
    }

    @Test func `info tells what is known of one entry`() async {
        #expect(
            await run(.info(source: "http://h/a.mp3")).output == [
                "source       http://h/a.mp3",
                "title        Étude",
                "duration     2:05",
                "type         audio/mpeg",
                "size         4.0 MB (4000000 bytes)",
                "stored       3.9 MB (3999999 bytes)",
                "share        99 %",
                "ranges       0-65536 131072-4000000",
                "last played  day 5",
            ]
        )
    }

    @Test func `info of what is not kept repeats no source and tells by its code`() async {
        let result = await run(.info(source: "http://u:secret@h/"))
        #expect(result.code == .nothingPlayed)
        #expect(result.output.isEmpty)
        #expect(result.said.count == 1)
        #expect(result.said.allSatisfy { !$0.contains("secret") })
    }

    @Test(
        arguments: [
            (isConfirmed: true, answer: nil, code: .success, isCleared: true),
            (isConfirmed: false, answer: "y", code: .success, isCleared: true),
            (isConfirmed: false, answer: "YES", code: .success, isCleared: true),
            (isConfirmed: false, answer: "", code: .success, isCleared: false),
            (isConfirmed: false, answer: "no", code: .success, isCleared: false),
            (isConfirmed: false, answer: nil, code: .usage, isCleared: false),
        ] as [(isConfirmed: Bool, answer: String?, code: Reprise.ExitCode, isCleared: Bool)]
    )
    func `clear needs a yes`(
        isConfirmed: Bool,
        answer: String?,
        code: Reprise.ExitCode,
        isCleared: Bool
    ) async {
        let result = await run(.clear(isConfirmed: isConfirmed), answer: answer)
        #expect(result.code == code)
        #expect(result.output == (isCleared ? ["dropped 2 entries, 3.0 MB; 1 in use were left"] : []))
        #expect(result.said.isEmpty == isCleared)
    }

    @Test func `a cache that cannot be read is named`() async {
        let error = MediaError(.unreadable, "/c", "permission denied")
        let result = await run(.list, cache: FixedCache(error: error))
        #expect(result.code == .couldNotStart)
        #expect(result.said == ["/c: permission denied"])
    }
}
