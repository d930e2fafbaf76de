import Cache
import Glibc
import Media
import System
import TerminalUI

/// The progress of the current downloads, and of all together, on the terminal.
final class FetchProgress: Sendable {
    private struct Download {
        var name: SafeText
        var reader: any ResourceReader
    }

    private struct State {
        var downloads: [Int: Download] = [:]
        var totals: FetchTotals
    }

    private let painter: ProgressPainter?
    private let state: Locked<State>

    /// `total` is the number of all tracks. Without a `painter`, nothing is shown.
    init(painter: ProgressPainter?, total: Int) {
        self.painter = painter
        state = Locked(State(totals: FetchTotals(trackCount: total)))
    }

    /// The progress of all tracks together.
    var totals: FetchTotals {
        state.withLock { state in
            var totals = state.totals
            totals.running = state.downloads.values.map(\.reader.report)
            return totals
        }
    }

    /// Shows the download of the track numbered `index` by `reader`, until `ended`.
    func began(_ index: Int, _ name: SafeText, _ reader: any ResourceReader) {
        state.withLock { $0.downloads[index] = Download(name: name, reader: reader) }
        draw()
    }

    func ended(_ index: Int) {
        state.withLock { state in
            let ended = state.downloads.removeValue(forKey: index)
            state.totals.endedBytes += ended?.reader.report.fetchedBytes ?? 0
        }
        draw()
    }

    func update(_ change: @Sendable (inout FetchTotals) -> Void) {
        state.withLock { change(&$0.totals) }
        draw()
    }

    /// Redraws until the task is cancelled.
    func drawOn(_ clock: any MonotonicClock) async {
        while (try? await clock.sleep(for: ProgressPainter.rhythm)) != nil { draw() }
    }

    /// Writes the totals from time to time until the task is cancelled: without a terminal, nothing else
    /// shows that the command still waits for a slow server.
    func noteOn(_ clock: any MonotonicClock, write: @Sendable (SafeText) -> Void) async {
        while (try? await clock.sleep(for: Self.noteRhythm)) != nil { write(SafeText(totals.noteText)) }
    }

    static let noteRhythm = Duration.seconds(30)

    private func draw() {
        guard let painter else { return }
        let downloads = state.withLock { $0.downloads.sorted { $0.key < $1.key }.map(\.value) }
        let lines = downloads.map { download in
            Self.line(download.name, download.reader.report, style: painter.style)
        }
        painter.show(lines + [totals.text])
    }

    /// The line of one track: its cached share, and the rate, or `reconnecting` during a wait.
    static func line(_ name: SafeText, _ report: LoadReport, style: TextStyle) -> String {
        let rate = report.bytesPerSecond.flatMap { Int64(exactly: $0.rounded()) }
        let note: SafeText =
            report.wait.map { _ in "reconnecting" } ?? rate.map { SafeText(SizeText.text($0) + "/s") } ?? ""
        return ProgressBar.line(
            label: name,
            done: report.stored.byteCount,
            total: report.length,
            note: note,
            style: style
        )
    }
}

/// The progress of all tracks of a fetch together. Pure.
struct FetchTotals: Sendable {
    private(set) var trackCount: Int
    private(set) var doneCount = 0
    private(set) var availableCount = 0
    /// The tracks, sources and entries of lists that are not available.
    private(set) var failedCount = 0
    /// The bytes downloaded of the tracks that are cached.
    private var cachedBytes: Int64 = 0
    /// The sizes of the tracks that are cached, and their number.
    private var sizes: (bytes: Int64, count: Int) = (0, 0)
    /// The bytes downloaded by downloads that have ended.
    var endedBytes: Int64 = 0
    /// The downloads in progress.
    var running: [LoadReport] = []

    init(trackCount: Int) { self.trackCount = trackCount }

    /// A track is a list: its `count` tracks that were not counted yet take its place.
    mutating func listFound(of count: Int) { trackCount += count - 1 }

    mutating func count(_ outcome: FetchOutcome) {
        doneCount += 1
        switch outcome {
        case .cached(let entry, let fetched):
            availableCount += 1
            cachedBytes += fetched
            sizes = (sizes.bytes + entry.storedBytes, sizes.count + 1)
        case .local: availableCount += 1
        case .failed: failedCount += 1
        case .list: break
        }
    }

    /// A track that was counted as cached was evicted.
    mutating func countLoss() {
        availableCount -= 1
        failedCount += 1
    }

    /// A source, or an entry of a list, could not be resolved.
    mutating func countProblem() { failedCount += 1 }

    var exitCode: ExitCode {
        if failedCount == 0 { return .success }
        return availableCount > 0 ? .someFailed : .nothingPlayed
    }

    private var fetchedBytes: Int64 { running.reduce(endedBytes) { $0 + $1.fetchedBytes } }

    /// The time that the rest will take at the present rate; `nil` if unknown. Tracks that have not begun
    /// count as long as the others on average.
    private var timeLeft: Duration? {
        let rate = running.compactMap(\.bytesPerSecond).reduce(0, +)
        let lengths = running.compactMap(\.length)
        let known = sizes.count + lengths.count
        guard rate > 0, rate.isFinite, known > 0 else { return nil }
        let average = Double(sizes.bytes + lengths.reduce(0, +)) / Double(known)
        let waiting = max(0, trackCount - doneCount - running.count)
        let missing = running.reduce(0.0) { sum, report in
            sum + max(0, (report.length.map { Double($0) } ?? average) - Double(report.stored.byteCount))
        }
        let seconds = (missing + average * Double(waiting)) / rate
        return seconds < 1e6 ? .seconds(seconds) : nil
    }

    /// `3 of 12 tracks done, 45 MB downloaded, about 2:10 left`.
    var text: String {
        "\(doneCount) of \(CountText.of(trackCount, "track")) done, "
            + "\(SizeText.text(fetchedBytes)) downloaded"
            + (timeLeft.map { ", about \($0.clockTime) left" } ?? "")
    }

    /// `text`, and the reason why a download waits.
    var noteText: String {
        let reason = running.lazy.compactMap(\.wait).first.map { " · retrying: \($0.error.reason)" }
        return text + (reason ?? "")
    }

    /// The last line: `3 of 4 tracks are available offline, 12 MB downloaded`.
    var summary: String {
        let all = availableCount + failedCount
        return "\(availableCount) of \(CountText.of(all, "track")) "
            + "\(availableCount == 1 || all == 1 ? "is" : "are") available offline, "
            + "\(SizeText.text(cachedBytes)) downloaded"
    }

    /// The last line of a fetch that the user stopped.
    var stoppedText: String {
        "Stopped at \(availableCount) of \(CountText.of(trackCount, "track")), "
            + "\(SizeText.text(fetchedBytes)) downloaded – run it again to go on"
    }
}

/// The line of one progress bar. Pure.
enum ProgressBar {
    static let mostCells = 30
    /// The fewest cells of a bar; with less room there is no bar.
    static let leastCells = 5

    /// `label ██·····  42 %  note` in at most `style.columns` columns of the terminal.
    ///
    /// The label has a fixed width, so that the bars of several lines are aligned; without room for a bar it
    /// takes the remaining width. The bar shows `done` of `total` bytes; without a total there is no bar.
    static func line(label: SafeText, done: Int64, total: Int64?, note: SafeText, style: TextStyle) -> String
    {
        let columns = style.columns ?? 80
        let share = total.map { $0 > 0 ? max(0, min(1, Double(done) / Double($0))) : 1 }
        let percent = share.map { "\(Int($0 * 100)) %" } ?? SizeText.text(done)
        let tail =
            String(repeating: " ", count: max(0, 5 - percent.count)) + percent
            + (note.isEmpty ? "" : "  " + note.string)
        let room = max(0, columns - tail.count - 1)
        var labelColumns = min(mostLabel, max(columns / 3, columns - usualRest))
        var cells = share == nil ? 0 : min(mostCells, room - labelColumns - 1)
        if cells < leastCells {
            cells = 0
            labelColumns = share == nil ? min(room, labelColumns) : room
        }
        let shown = style.shown(label).cut(toColumns: labelColumns, ellipsis: style.glyphs.ellipsis)
        var line = shown.string + String(repeating: " ", count: labelColumns - shown.columns)
        if cells > 0, let share { line += " " + bar(share, cells: cells, style: style) }
        return SafeText(line + " " + tail).cut(toColumns: columns, ellipsis: style.glyphs.ellipsis).string
    }

    /// The most columns of a label. Longer labels are rare, and would move the bar far to the right.
    private static let mostLabel = 60
    /// The columns of bar, share and a usual note together.
    private static let usualRest = 56

    private static func bar(_ share: Double, cells: Int, style: TextStyle) -> String {
        let full = Int(share * Double(cells))
        let signs = style.glyphs.isUnicode ? ("█", "·") : ("#", ".")
        return String(repeating: signs.0, count: full) + String(repeating: signs.1, count: cells - full)
    }
}

/// Draws progress at the bottom of a terminal, below other lines that are written in the meantime.
final class ProgressPainter: Sendable {
    /// The shortest time between two drawings; people do not read faster.
    static let rhythm = Duration.milliseconds(100)

    private struct State {
        /// The latest lines, and those on the terminal.
        var lines: [String] = []
        var shownLines: [String] = []
        var lastDrawn: Duration?
    }

    let style: TextStyle
    private let clock: any MonotonicClock
    private let put: @Sendable (String) -> Void
    // Held while the terminal is written to, so that lines and frames keep their order.
    private let state = Locked(State())

    /// `put` writes text to the terminal as it is.
    init(style: TextStyle, clock: any MonotonicClock, put: @escaping @Sendable (String) -> Void) {
        // A line as wide as the terminal would wrap.
        self.style = TextStyle(columns: style.columns.map { max(1, $0 - 1) }, glyphs: style.glyphs)
        self.clock = clock
        self.put = put
    }

    /// Shows `lines`. Within `rhythm` of the last drawing, drawing is left to the next call, unless `isLast`.
    func show(_ lines: [String], isLast: Bool = false) {
        let now = clock.now
        state.withLock { state in
            state.lines = lines
            if let last = state.lastDrawn, now - last < Self.rhythm, !isLast { return }
            state.lastDrawn = now
            draw(lines, over: &state)
        }
    }

    /// Runs `write`, which writes whole lines to the same terminal, above the progress.
    func above(_ write: () -> Void) {
        state.withLock { state in
            draw([], over: &state)
            write()
            draw(state.lines, over: &state)
        }
    }

    /// Draws `lines` in place of those on the terminal.
    private func draw(_ lines: [String], over state: inout State) {
        guard lines != state.shownLines else { return }
        // Moves up to the first line and clears everything from there on (ECMA-48: CUU, ED).
        let erasing = state.shownLines.isEmpty ? "" : "\u{1B}[\(state.shownLines.count)A\r\u{1B}[J"
        state.shownLines = lines
        put(erasing + lines.map { $0 + "\n" }.joined())
    }

    /// Erases the progress.
    func finish() { show([], isLast: true) }
}

extension ProgressPainter {
    /// The painter of standard error; `nil` if that is not a terminal that can move its cursor.
    static func ofStandardError(clock: any MonotonicClock) -> ProgressPainter? {
        let term = getenv("TERM").map { String(cString: $0) } ?? ""
        guard isatty(STDERR_FILENO) == 1, !term.isEmpty, term != "dumb" else { return nil }
        return ProgressPainter(style: TextStyle(descriptor: STDERR_FILENO), clock: clock) { text in
            // An error is ignored: progress is not essential.
            try? WholeFile.write(text.utf8, to: STDERR_FILENO)
        }
    }
}
