import Foundation
import TestSupport
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
        let file = ScreenCapture.file(view.word)
        let drawn = Self.capture(view)
        if ProcessInfo.processInfo.environment["REPRISE_WRITE_CAPTURES"] == "1" {
            try drawn.write(to: file, atomically: true, encoding: .utf8)
        }
        let kept = try String(contentsOf: file, encoding: .utf8)
        let pairs = zip(lines(drawn), lines(kept)).enumerated()
        if let (number, pair) = pairs.first(where: { $0.element.0 != $0.element.1 }) {
            Issue.record("line \(number + 1): \(pair.0)\nin the capture: \(pair.1)")
        }
        #expect(lines(drawn).count == lines(kept).count)
    }
}
