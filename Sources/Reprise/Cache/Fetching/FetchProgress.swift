import Media
import System

/// The pieces that are being fetched, as the terminal shows them.
final class FetchProgress: Sendable {
    private struct Piece {
        var name: SafeText
        var reader: any ResourceReader
    }

    private struct State {
        var pieces: [Int: Piece] = [:]
        var doneCount = 0
    }

    private let painter: ProgressPainter
    private let total: Int
    private let state = Locked(State())

    /// `total` is the number of all pieces.
    init(painter: ProgressPainter, total: Int) {
        self.painter = painter
        self.total = total
    }

    /// The piece numbered `index` is read by `reader` from now on; nil for no longer.
    func reading(_ index: Int, _ name: SafeText, _ reader: (any ResourceReader)?) {
        state.withLock { $0.pieces[index] = reader.map { Piece(name: name, reader: $0) } }
        draw()
    }

    func pieceIsDone() {
        state.withLock { $0.doneCount += 1 }
        draw()
    }

    /// Draws anew until the task is cancelled.
    func drawOn(_ clock: any MonotonicClock) async {
        while (try? await clock.sleep(for: ProgressPainter.rhythm)) != nil { draw() }
    }

    private func draw() {
        let (pieces, done) = state.withLock { state in
            (state.pieces.sorted { $0.key < $1.key }.map(\.value), state.doneCount)
        }
        let lines = pieces.map { piece in
            Self.line(piece.name, piece.reader.report, style: painter.style)
        }
        painter.show(lines + ["\(done) of \(CountText.of(total, "piece", "pieces")) done"])
    }

    /// One piece's line: what is stored of it, and how fast more comes or what it waits for.
    static func line(_ name: SafeText, _ report: LoadReport, style: TextStyle) -> String {
        let rate = report.bytesPerSecond.flatMap { Int64(exactly: $0.rounded()) }
        let note: SafeText =
            report.wait.map { _ in "reconnecting" } ?? rate.map { SafeText(ByteSize.text($0) + "/s") } ?? ""
        return ProgressBar.line(
            label: name,
            done: report.stored.byteCount,
            total: report.length,
            note: note,
            style: style
        )
    }
}
