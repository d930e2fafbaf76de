import Foundation
import Media
import Testing

@testable import TerminalUI

/// The colours of every style on every background, for each kind of terminal: with the captures of the views,
/// which name styles, they say how each cell of each view looks.
@Suite struct ColorCaptureTests {
    private static let terminals: [(name: String, palette: Palette)] = [
        ("dark, 256 colours or more", Palette(colors: 256)),
        ("light, 256 colours or more", Palette(colors: 256, theme: .light)),
        ("dark, 16 colours", Palette(colors: 16)), ("light, 16 colours", Palette(colors: 16, theme: .light)),
        ("dark, 8 colours", Palette(colors: 8)), ("light, 8 colours", Palette(colors: 8, theme: .light)),
        ("no colours", Palette(colors: 0)),
    ]

    private static func text(_ rendition: Rendition) -> String {
        let attributes = [
            (rendition.isBold, "bold"), (rendition.isDim, "dim"), (rendition.isReversed, "reversed"),
        ]
        let words = attributes.filter(\.0).map(\.1) + colors(rendition)
        return words.isEmpty ? "plain" : words.joined(separator: " ")
    }

    private static func colors(_ rendition: Rendition) -> [String] {
        [("", rendition.ink), ("on ", rendition.paper)].compactMap { word, choice in
            if case .index(let index) = choice { word + "\(index)" } else { nil }
        }
    }

    private static func capture() -> String {
        terminals.map { terminal in
            let lines = Style.allCases.map { style in
                let looks = Ground.allCases.map { ground in
                    var frame = CellBuffer(columns: 1, rows: 1)
                    frame.lay(ground, row: 0)
                    frame.draw("x", column: 0, row: 0, style: style)
                    return text(terminal.palette.rendition(of: frame[column: 0, row: 0]))
                }
                return "\(style.name): " + looks.joined(separator: " | ")
            }
            return "## \(terminal.name)\n" + lines.joined(separator: "\n") + "\n"
        }.joined(separator: "\n")
    }

    @Test func `every style on every background has the colours of its capture`() throws {
        try expectCapture(Self.capture(), in: ScreenCapture.file("colors.txt"))
    }

    @Test func `the README's pictures are those of the queue and of the track that plays, dark and light`()
        throws
    {
        for view in [ViewName.queue, .playing] {
            for theme in [Theme.dark, .light] {
                let state = Exhibit.state(showing: view, columns: 100, rows: 30)
                let frame = ScreenView(glyphs: .unicode, timeOfDay: minutes).draw(state)
                let drawn = ScreenPicture(palette: Palette(colors: 256, theme: theme)).svg(of: frame)
                let name = view.word + (theme == .dark ? "" : "-light") + ".svg"
                try expectCapture(drawn, in: ScreenCapture.asset(name))
            }
        }
    }
}

/// Expects `drawn` in `file`, and names the first line that differs. With `REPRISE_WRITE_CAPTURES=1` the file
/// is written.
func expectCapture(_ drawn: String, in file: URL, sourceLocation: SourceLocation = #_sourceLocation) throws {
    if ProcessInfo.processInfo.environment["REPRISE_WRITE_CAPTURES"] == "1" {
        try drawn.write(to: file, atomically: true, encoding: .utf8)
    }
    let kept = try String(contentsOf: file, encoding: .utf8)
    let pairs = zip(lines(drawn), lines(kept)).enumerated()
    if let (number, pair) = pairs.first(where: { $0.element.0 != $0.element.1 }) {
        let text: Comment = "line \(number + 1): \(pair.0)\nin \(file.lastPathComponent): \(pair.1)"
        Issue.record(text, sourceLocation: sourceLocation)
    }
    #expect(lines(drawn).count == lines(kept).count, sourceLocation: sourceLocation)
}
