import Foundation
import Media
import TestSupport

/// The greatest resident memory of the player while it is flooded for a minute.
enum Floods {
    private static let time = Duration.seconds(60)

    private enum Flood: String, CaseIterable {
        case commands = "commands on standard input"
        case unreadAnswers = "commands whose answers nobody reads"
        case keys
        case paste = "a paste without end"
        case interimAnswers = "interim answers without end"
        case trailers = "trailers without end"
        case list = "a playlist without end"
        case packedList = "a playlist that unpacks without end"

        /// In megabytes. Up to 256 MiB of a playlist's text are kept until it is too large.
        var limit: Double {
            switch self {
            case .list, .packedList: 400
            default: 40
            }
        }
    }

    /// Measures all floods at the same time.
    static func measure(_ stage: BenchStage, into table: inout FigureTable) async throws {
        table.begin("Resident memory in a minute of")
        let song = try stage.folder.write(try await stage.song(), to: "flooded.mp3")
        let peaks = try await withThrowingTaskGroup(of: (Flood, Int).self) { group in
            for flood in Flood.allCases { group.addTask { (flood, try await peak(of: flood, song)) } }
            return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        for flood in Flood.allCases {
            let peak = peaks[flood].map { Double($0) / 1e6 }
            table.add(flood.rawValue, .megabytes, peak, atMost: flood.limit)
        }
    }

    private static func peak(of flood: Flood, _ song: String) async throws -> Int {
        let folder = try TemporaryFolder()
        var words = [
            "--headless", "--json", "--sink", "null", "--cache-dir", folder.path("cache"), "--repeat", "all",
        ]
        switch flood {
        case .commands:
            return try await peak(words + [song], script: #"exec "$@" < <(exec yes status) >/dev/null"#)
        case .unreadAnswers:
            let pipe = folder.path("pipe")
            return try await peak(
                words + [song],
                script: "mkfifo \(pipe); exec 9<>\(pipe); " + #"exec "$@" < <(exec yes status) >&9"#
            )
        case .keys, .paste:
            words.removeFirst(2)
            let isPaste = flood == .paste
            return try await peak(
                words + [song],
                first: isPaste ? ":\u{1B}[200~" : "",
                isPaste ? "text " : "jkv/x\u{1B}S"
            )
        case .interimAnswers, .trailers, .list, .packedList:
            let (head, body) = try await answer(of: flood)
            let server = try ScriptedServer { connection in
                guard connection.readRequest() != nil, connection.send(head) else { return }
                while connection.send(body) {}
            }
            defer { server.stop() }
            let isMusic = flood == .interimAnswers || flood == .trailers
            return try await peak(words + [server.url(isMusic ? "/a.mp3" : "/a.m3u").requestString])
        }
    }

    /// What a server sends once, and what it sends after that without end.
    private static func answer(of flood: Flood) async throws -> (head: String, body: [UInt8]) {
        let ok = "HTTP/1.1 200 OK\r\n"
        func many(_ text: String) -> [UInt8] { Array(String(repeating: text, count: 2_000).utf8) }
        switch flood {
        case .interimAnswers: return ("", many("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"))
        case .trailers: return (ok + "Transfer-Encoding: chunked\r\n\r\n1\r\nc\r\n0\r\n", many("a: b\r\n"))
        case .packedList:
            let folder = try TemporaryFolder()
            let list = try folder.write(
                Array(String(repeating: "music/a.mp3\n", count: 20_000_000).utf8),
                to: "a.m3u"
            )
            return (
                ok + "Content-Encoding: gzip\r\n\r\n",
                try await RunningProcess.run("gzip", ["--stdout", list])
            )
        default: return (ok + "\r\n", many("music/a.mp3\n"))
        }
    }

    /// The peak of a player that runs for a minute, and is started again when it ends before. `script`, in
    /// bash, gives it its standard streams; or it has a screen, in which `first` is typed once, and `keys`
    /// without end.
    private static func peak(
        _ words: [String],
        script: String = #"exec "$@""#,
        first: String = "",
        _ keys: String = ""
    ) async throws -> Int {
        let end = ContinuousClock.now + time
        var peak = 0
        while ContinuousClock.now < end {
            let process = try RunningProcess(
                "bash",
                ["-c", script, "bash", RepriseRun.binary] + words,
                environment: BenchScreen.environment,
                terminal: keys.isEmpty ? nil : BenchScreen.size
            )
            let many = String(repeating: keys, count: 100)
            try process.type(first)
            while process.isRunning, ContinuousClock.now < end {
                // Fails if the player has ended meanwhile.
                if !keys.isEmpty { try? process.type(many) }
                peak = max(peak, process.peakMemory)
                try await Task.sleep(for: .milliseconds(5))
            }
            process.signal(SIGTERM)
            try await process.waitForExit()
        }
        return peak
    }
}
