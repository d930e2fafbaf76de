import Foundation

@testable import TerminalUI

/// A frame as text that shows every cell: its character, its style and what is behind it.
///
/// Below a row stands `^` with a letter for the style of each column, without those of the normal style at
/// its end; then `=` with the columns that have a background. A blank row is one empty line.
enum ScreenCapture {
    private static let letters: [Style: Character] = [
        .normal: " ", .title: "T", .dim: "d", .faint: "f", .playing: "P", .error: "E", .notice: "N",
        .prompt: "?", .marked: "x", .heading: "H", .head: "h", .played: "g", .cached: "c", .inFlight: "a",
        .missing: "m", .soft: "1", .middling: "2", .loud: "3", .loudest: "4",
    ]

    static func text(of frame: CellBuffer) -> String {
        frame.lines.enumerated().map { row, line in
            let cells = frame[row: row]
            var styles = String(cells.map { letters[$0.style] ?? "!" })
            while styles.hasSuffix(" ") { styles.removeLast() }
            return ([line] + (styles.isEmpty ? [] : ["^" + styles]) + grounds(of: Array(cells)))
                .joined(separator: "\n")
        }.joined(separator: "\n")
    }

    private static func grounds(of cells: [Cell]) -> [String] {
        Ground.allCases.filter { $0 != .plain }.compactMap { ground in
            let columns = cells.indices.filter { cells[$0].ground == ground }
            guard let first = columns.first, let last = columns.last else { return nil }
            let isWhole = columns.count == last - first + 1
            return "=\(ground) \(first)..<\(last + 1)" + (isWhole ? "" : ", \(columns.count) of them")
        }
    }

    /// A file of captures.
    static func file(_ name: String) -> URL { folder.appendingPathComponent("Frames/" + name) }

    /// A picture for the README.
    static func asset(_ name: String) -> URL {
        folder.appendingPathComponent("../../../assets/" + name).standardizedFileURL
    }

    private static var folder: URL {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    }
}
