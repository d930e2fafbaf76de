import Testing

@testable import TerminalUI

/// Every view of the screen in five sizes, as it is drawn in memory.
///
/// `REPRISE_WRITE_CAPTURES=1 swift test --filter CaptureTests` writes the files again after a change that is
/// meant.
@Suite struct CaptureTests {
    private static let sizes = [(20, 4), (40, 10), (80, 24), (120, 40), (200, 60)]

    private static func capture(_ view: ViewName) -> String {
        sizes.map { columns, rows in
            let state = Exhibit.state(showing: view, columns: columns, rows: rows)
            let frame = ScreenView(glyphs: .unicode, timeOfDay: minutes).draw(state)
            return "## \(columns)×\(rows)\n" + ScreenCapture.text(of: frame) + "\n"
        }.joined(separator: "\n")
    }

    @Test(arguments: ViewName.allCases)
    func `every view is drawn as in its capture, in five sizes`(view: ViewName) throws {
        try expectCapture(Self.capture(view), in: ScreenCapture.file(view.word + ".txt"))
    }

    @Test func `what a search has found stands out, as in its capture`() throws {
        var state = Exhibit.state(showing: .queue, columns: 80, rows: 24)
        state.type("/NIGHT")
        let frame = ScreenView(glyphs: .unicode, timeOfDay: minutes).draw(state)
        try expectCapture(ScreenCapture.text(of: frame) + "\n", in: ScreenCapture.file("search.txt"))
        // Themes need a contrast on that background for one style only.
        let found = (0..<frame.rows).flatMap { frame[row: $0] }.filter { $0.ground == .match }
        #expect(!found.isEmpty && found.allSatisfy { $0.style == .prompt })
    }
}
