@testable import TerminalUI

/// Draws a frame as an SVG picture, in the colours that a terminal would show. Pure.
///
/// Block elements are rectangles, since fonts leave seams between them. Each wide character stands alone, so
/// that the others keep their columns whatever font a viewer has.
struct ScreenPicture {
    static let cell = (width: 8.4, height: 18)
    private static let margin = 12
    private static let blocks: [Character: (left: Double, top: Double, right: Double, bottom: Double)] = [
        "█": (0, 0, 1, 1), "▌": (0, 0, 0.5, 1), "▒": (0, 0, 1, 1), "▁": (0, 7 / 8, 1, 1),
        "▂": (0, 6 / 8, 1, 1),
        "▃": (0, 5 / 8, 1, 1), "▄": (0, 0.5, 1, 1), "▅": (0, 3 / 8, 1, 1), "▆": (0, 2 / 8, 1, 1),
        "▇": (0, 1 / 8, 1, 1),
    ]

    private let palette: Palette
    /// The terminal's own colours; `paper` is that of the theme if it has one.
    private let paper: String
    private let ink: String

    init(palette: Palette) {
        self.palette = palette
        let isLight = palette.base == .light
        let blank = palette.rendition(of: Array(CellBuffer(columns: 1, rows: 1)[row: 0])[0])
        paper = Self.color(blank.paper) ?? (isLight ? "#ffffff" : "#16181d")
        ink = isLight ? "#24262b" : "#d6d9e0"
    }

    func svg(of frame: CellBuffer) -> String {
        let elements = (0..<frame.rows).flatMap { row in
            runs(of: frame[row: row]).flatMap { self.elements(of: $0, row: row) }
        }
        return opening(columns: frame.columns, rows: frame.rows) + elements.joined(separator: "\n")
            + "\n</svg>\n"
    }

    /// The beginning of a picture of this size.
    func opening(columns: Int, rows: Int) -> String {
        let width = Int((Double(columns) * Self.cell.width).rounded(.up)) + 2 * Self.margin
        let height = rows * Self.cell.height + 2 * Self.margin
        return """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(width) \(height)" width="\(width)" \
            font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="14">
            <title>Reprise in a terminal</title>
            <rect width="100%" height="100%" rx="8" fill="\(paper)"/>

            """
    }

    /// Neighbouring cells that are drawn as one element.
    struct Run {
        var column: Int
        var columns: Int
        var text: String
        var rendition: Rendition
    }

    private func runs(of cells: some Collection<Cell>) -> [Run] {
        Self.joined(
            cells.enumerated().filter { $1.width > 0 }.map { column, cell in
                Run(
                    column: column,
                    columns: cell.width,
                    text: cell.text,
                    rendition: palette.rendition(of: cell)
                )
            }
        )
    }

    static func joined(_ cells: [Run]) -> [Run] {
        var runs: [Run] = []
        for next in cells {
            if let last = runs.last, last.rendition == next.rendition, joins(last, next) {
                runs[runs.count - 1].text += next.text
                runs[runs.count - 1].columns += next.columns
            } else {
                runs.append(next)
            }
        }
        return runs
    }

    private static func joins(_ last: Run, _ next: Run) -> Bool {
        guard let end = last.text.last, let start = next.text.first else { return false }
        if blocks[end] != nil || blocks[start] != nil { return end == start }
        return next.columns == 1 && last.columns == last.text.count
    }

    /// The elements of a run, its background first.
    func elements(of run: Run, row: Int) -> [String] {
        let look = run.rendition
        var colors = (ink: Self.color(look.ink) ?? ink, paper: Self.color(look.paper))
        if look.isReversed { colors = (ink: colors.paper ?? paper, paper: colors.ink) }
        let left = Double(Self.margin) + Double(run.column) * Self.cell.width
        let length = Double(run.columns) * Self.cell.width
        let top = Double(Self.margin + row * Self.cell.height)
        func rectangle(_ x: Double, _ y: Double, _ width: Double, _ height: Double, _ fill: String) -> String
        {
            "<rect x=\"\(tenths(x))\" y=\"\(tenths(y))\" width=\"\(tenths(width))\" height=\"\(tenths(height))\" fill=\"\(fill)\""
        }
        var elements: [String] = []
        if let paper = colors.paper {
            // Half a pixel over the next cell, where a seam would show.
            elements.append(rectangle(left, top, length + 0.5, Double(Self.cell.height), paper) + "/>")
        }
        let opacity = look.isDim ? " opacity=\"0.6\"" : ""
        if let sign = run.text.first, let block = Self.blocks[sign] {
            let shade = sign == "▒" ? " opacity=\"0.5\"" : opacity
            let height = Double(Self.cell.height)
            let part = rectangle(
                left + block.left * Self.cell.width,
                top + block.top * height,
                length - (1 - block.right + block.left) * Self.cell.width,
                (block.bottom - block.top) * height,
                colors.ink
            )
            elements.append(part + shade + "/>")
        } else if let first = run.text.firstIndex(where: { $0 != " " }) {
            let skipped = run.text.distance(from: run.text.startIndex, to: first)
            var text = String(run.text[first...])
            while text.last == " " { text.removeLast() }
            let columns = run.columns == run.text.count ? text.count : run.columns
            let x = left + Double(skipped) * Self.cell.width
            let weight = look.isBold ? " font-weight=\"bold\"" : ""
            elements.append(
                "<text x=\"\(tenths(x))\" y=\"\(tenths(top + 13))\" fill=\"\(colors.ink)\"\(weight)\(opacity)"
                    + " textLength=\"\(tenths(Double(columns) * Self.cell.width))\" xml:space=\"preserve\">"
                    + escaped(text) + "</text>"
            )
        }
        return elements
    }

    private static func color(_ choice: ColorChoice) -> String? {
        let color: ScreenColor
        switch choice {
        case .standard: return nil
        case .index(let index): color = ScreenColor(index: index)
        case .exact(let exact): color = exact
        }
        return color.hex
    }

    private func tenths(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
    }

    private func escaped(_ text: String) -> String {
        text.reduce(into: "") { escaped, letter in
            switch letter {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            default: escaped.append(letter)
            }
        }
    }
}
