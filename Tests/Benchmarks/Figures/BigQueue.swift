import Foundation
import System
import TestSupport

/// The latency of keys in a queue of 100,000 local tracks, in 8,000 groups, while paused, so that only keys
/// change the screen.
enum BigQueue {
    private static let trackCount = 100_000
    private static let groupCount = 8_000
    /// Occurs only in the last title, so that a search must look at all of them.
    private static let lastTitle = "Xqxq"
    private static let words = [
        "Amber", "Birch", "Cedar", "Dune", "Ember", "Fjord", "Grove", "Harbor", "Island",
    ]

    static func measure(_ stage: BenchStage, rounds: Int, into table: inout FigureTable) async throws {
        table.begin("Screen with 100,000 tracks")
        let folder = try TemporaryFolder()
        let list = try makeList(in: folder, song: try await stage.song())
        let screen = try BenchScreen([list], stage, options: ["--fresh", "--sink", "null"])
        try await wait(for: "the last of the tracks") {
            try screen.type("G")
            try await Task.sleep(for: .milliseconds(200))
            return screen.text().contains(lastTitle)
        }
        try screen.type("g ")
        try await screen.rest()
        for _ in 0..<rounds {
            let before = screen.shown
            add("G: last row", try await screen.press("G"), &table)
            guard screen.text(from: before).contains(lastTitle) else {
                throw BenchmarkFailure("G shows not the last of the tracks")
            }
            add("g: first row", try await screen.press("g"), &table)
            add("Page Down: scroll", try await screen.press("\u{1B}[6~"), &table)
            add("z: fold a group", try await screen.press("z"), &table)
            add("z: unfold it", try await screen.press("z"), &table)
            try await type("amber", behind: "f", "filter", on: screen, &table)
            let searched = screen.shown
            try await type(lastTitle.lowercased(), behind: "/", "search", on: screen, &table)
            // The search was typed in lower case, so only the row itself shows this spelling.
            guard screen.text(from: searched).contains(lastTitle) else {
                throw BenchmarkFailure("the search finds not the last of the tracks")
            }
            add("Z: shuffle the list", try await screen.press("Z"), isWork: true, limit: 100, &table)
            add("u: undo it", try await screen.press("u"), isWork: true, limit: 100, &table)
        }
        try await screen.end()
    }

    /// Each letter starts a search; `Esc` shows all tracks again.
    private static func type(
        _ word: String,
        behind key: String,
        _ name: String,
        on screen: BenchScreen,
        _ table: inout FigureTable
    ) async throws {
        _ = try await screen.press(key)
        for letter in word {
            add("\(name): a letter", try await screen.press(String(letter)), isWork: true, &table)
        }
        _ = try await screen.press("\u{1B}")
    }

    /// `isWork` means that the result is drawn after the first change, at the latest with the next of the
    /// ten redraws per second, which is most of that time.
    private static func add(
        _ name: String,
        _ change: BenchScreen.Change,
        isWork: Bool = false,
        limit: Double = 16,
        _ table: inout FigureTable
    ) {
        table.add("\(name), key to screen", [change.first], atMost: limit)
        if isWork { table.add("\(name), until all is there", [change.last]) }
    }

    /// The tracks are links to one song, so that any of them can be opened.
    private static func makeList(in folder: TemporaryFolder, song: [UInt8]) throws -> String {
        let file = try folder.write(song, to: "song.mp3")
        var text = "#EXTM3U\n"
        for number in 0..<trackCount {
            let album = number * groupCount / trackCount
            if album != (number - 1) * groupCount / trackCount || number == 0 {
                try folder.makeFolder("album-\(album)")
            }
            let path = folder.path("album-\(album)/track-\(number).mp3")
            guard symlink(file, path) == 0 else { throw BenchmarkFailure("cannot link \(path)") }
            let first = words[number % words.count]
            let second = words[number / words.count % words.count]
            let title = number == trackCount - 1 ? lastTitle : "\(first) \(second) \(number)"
            text += "#EXTINF:300,Band \(album) - \(title)\n\(path)\n"
        }
        return try folder.write(text, to: "list.m3u8")
    }
}
