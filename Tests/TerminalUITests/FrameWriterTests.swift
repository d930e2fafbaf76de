import Glibc
import Media
import System
import TestSupport
import Testing

@testable import TerminalUI

/// A terminal with 24-bit colours: what it shows after the bytes that it was sent.
///
/// It knows the sequences of `FrameWriter` only, wraps and scrolls as xterm does, and clears in the colour
/// that is set.
private struct EmulatedTerminal {
    struct Place: Equatable {
        var text = " "
        var rendition = Rendition()
    }

    private(set) var places: [[Place]]
    private var column = 0
    private var row = 0
    private var rendition = Rendition()
    private var wraps = true
    private var wrapsNext = false

    init(columns: Int, rows: Int) {
        places = Array(repeating: Array(repeating: Place(text: "#"), count: columns), count: rows)
    }

    /// A terminal that shows `frame`.
    init(showing frame: CellBuffer, palette: Palette) {
        places = (0..<frame.rows).map { row in
            var last = Rendition()
            return frame[row: row].map { cell in
                if cell.width > 0 { last = palette.rendition(of: cell) }
                return Self.place(cell.text, last)
            }
        }
    }

    /// A blank has no colour but that behind it; the columns after a wide character show what it does.
    private static func place(_ text: String, _ rendition: Rendition) -> Place {
        let shows = text != " " && !text.isEmpty || rendition.isReversed
        return Place(text: text, rendition: shows ? rendition : Rendition(paper: rendition.paper))
    }

    /// The first place that differs, or the state that does; `nil` if none does.
    func firstDifference(from other: EmulatedTerminal) -> String? {
        for row in places.indices {
            for column in places[row].indices where places[row][column] != other.places[row][column] {
                return "\(row), \(column): \(places[row][column]) and not \(other.places[row][column])"
            }
        }
        return rendition == other.rendition && wraps == other.wraps ? nil : "\(rendition), wraps: \(wraps)"
    }

    mutating func receive(_ bytes: [UInt8]) {
        var rest = String(decoding: bytes, as: UTF8.self)[...]
        while !rest.isEmpty {
            if let match = rest.prefixMatch(of: /\u{1B}\[(\??[0-9;]*)([A-Za-z])/) {
                obey(match.2, match.1)
                rest = rest[match.range.upperBound...]
            } else {
                let end = rest.dropFirst().firstIndex(of: "\u{1B}") ?? rest.endIndex
                TextCluster.forEach(in: SafeText(String(rest[..<end]))) { cluster in
                    put(cluster.text, width: cluster.width)
                    return true
                }
                rest = rest[end...]
            }
        }
    }

    private mutating func put(_ text: String, width: Int) {
        if wraps, wrapsNext || column + width > places[0].count {
            column = 0
            row += 1
            if row == places.count {
                row -= 1
                places.append(places[0].map { _ in Place() })
                places.removeFirst()
            }
        }
        wrapsNext = false
        guard column + width <= places[row].count else { return }
        for place in column..<column + width { eraseCharacter(over: place) }
        places[row][column] = Self.place(text, rendition)
        for place in column + 1..<column + max(1, width) { places[row][place] = Self.place("", rendition) }
        column += width
        guard column == places[row].count else { return }
        column -= 1
        wrapsNext = true
    }

    /// A wide character of which one half is overwritten goes.
    private mutating func eraseCharacter(over place: Int) {
        var first = place
        while first > 0, places[row][first].text.isEmpty { first -= 1 }
        var end = first + 1
        while end < places[row].count, places[row][end].text.isEmpty { end += 1 }
        for place in first..<end { places[row][place] = Self.place(" ", places[row][place].rendition) }
    }

    private mutating func obey(_ letter: Substring, _ text: Substring) {
        let values = text.split(separator: ";").compactMap { Int($0) }
        wrapsNext = wrapsNext && letter == "m"
        let blank = Self.place(" ", rendition)
        switch letter {
        case "H":
            row = values[0] - 1
            column = values[1] - 1
        case "J": places = places.map { $0.map { _ in blank } }
        case "K": for place in column..<places[row].count { places[row][place] = blank }
        case "m": set(values)
        case "h" where text == "?7": wraps = true
        case "l" where text == "?7": wraps = false
        default: Issue.record("the sequence \(text)\(letter)")
        }
    }

    private mutating func set(_ values: [Int]) {
        var rest = values[...]
        if rest.isEmpty { rendition = Rendition() }
        while let value = rest.popFirst() {
            switch value {
            case 0: rendition = Rendition()
            case 1: rendition.isBold = true
            case 2: rendition.isDim = true
            case 7: rendition.isReversed = true
            case 30...39, 90...97: rendition.ink = Self.color(value - 30, &rest)
            case 40...49, 100...107: rendition.paper = Self.color(value - 40, &rest)
            default: Issue.record("the attribute \(value)")
            }
        }
    }

    private static func color(_ value: Int, _ rest: inout ArraySlice<Int>) -> ColorChoice {
        switch value {
        case 8 where rest.popFirst() == 5: return .index(rest.removeFirst())
        case 8:
            let parts = (0..<3).map { _ in UInt32(rest.removeFirst()) }
            return .exact(ScreenColor(parts[0] << 16 | parts[1] << 8 | parts[2]))
        case 9: return .standard
        default: return .index(value >= 60 ? value - 60 + 8 : value)
        }
    }
}

struct FrameWriterTests {
    /// The C library counts columns by the locale.
    init() { setlocale(LC_CTYPE, "C.UTF-8") }

    private static let exact = Palette(colors: Palette.exactColors)

    private static func bytes(
        from before: CellBuffer? = nil,
        to frame: CellBuffer,
        palette: Palette = exact,
        isUnicode: Bool = true,
        images: ImageSequences? = nil
    ) -> String {
        let bytes = FrameWriter.bytes(
            from: before,
            to: frame,
            palette: palette,
            isUnicode: isUnicode,
            images: images
        )
        return String(decoding: bytes, as: UTF8.self).replacing("\u{1B}[", with: "^")
    }

    private static func frame(_ rows: String...) -> CellBuffer {
        var frame = CellBuffer(columns: SafeText(rows[0]).columns, rows: rows.count)
        for (row, text) in rows.enumerated() { frame.draw(SafeText(text), column: 0, row: row) }
        return frame
    }

    @Test(arguments: 1...60 as ClosedRange<UInt64>)
    func `after each frame the terminal shows the cells of that frame`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var own = ColorTable()
        _ = own.set(.exact(ScreenColor(0x101820)), for: "background")
        _ = own.set(.index(11), for: "cached")
        _ = own.set(.standard, for: "marked-row")
        let palettes = [Self.exact, Palette(colors: Palette.exactColors, own: own, theme: .light)]
        let palette = palettes[Int(seed) % 2]
        var terminal = EmulatedTerminal(columns: 24, rows: 4)
        var before: CellBuffer?
        for step in 0..<12 {
            let frame = Self.randomFrame(after: before, &random)
            let start = step == 6 ? nil : before
            terminal.receive(
                FrameWriter.bytes(from: start, to: frame, palette: palette, isUnicode: true)
            )
            let expected = EmulatedTerminal(showing: frame, palette: palette)
            #expect(terminal.firstDifference(from: expected) == nil, "frame \(step)")
            #expect(Self.bytes(from: frame, to: frame, palette: palette).isEmpty)
            before = frame
        }
    }

    /// A frame with a few changes to `before`, or a new one.
    private static func randomFrame(after before: CellBuffer?, _ random: inout SplitMix64) -> CellBuffer {
        var frame = CellBuffer(columns: 24, rows: 4)
        if let before, Bool.random(using: &random) { frame = before }
        for _ in 0..<Int.random(in: 0...6, using: &random) {
            let texts = ["Reprise", "桜の夜", "a", "      ", "é–…", "e\u{301}x", "👩‍🚀 x", "zzzzzzzzzzzzzzz"]
            let text = texts.randomElement(using: &random) ?? ""
            let style = Style.allCases.randomElement(using: &random) ?? .normal
            let column = Int.random(in: 0..<24, using: &random)
            let row = Int.random(in: 0..<4, using: &random)
            let ground = Ground.allCases.randomElement(using: &random) ?? .plain
            if Bool.random(using: &random) { frame.lay(ground, row: row) }
            if Int.random(in: 0..<8, using: &random) == 0 { frame.clear(row: row) }
            frame.draw(SafeText(text), column: column, row: row, style: style)
            let ink = Bool.random(using: &random) ? ScreenColor(0x33AA99) : nil
            let paper = Int.random(in: 0..<4, using: &random) == 0 ? ScreenColor(0x202020) : nil
            frame.paint(column: column, row: row, ink: ink, paper: paper)
        }
        return frame
    }

    @Test func `a first frame clears the screen, and only what shows is written`() {
        var frame = Self.frame("a  b      ", "          ")
        frame.draw(" ", column: 5, row: 1, style: .playing)
        #expect(Self.bytes(to: frame) == "^m^2J^1;1Ha  b")
        var smaller = CellBuffer(columns: 9, rows: 2)
        smaller.draw("a", column: 0, row: 0)
        #expect(Self.bytes(from: frame, to: smaller) == "^m^2J^1;1Ha")
    }

    @Test func `colours and attributes change by what differs, and end with the frame`() {
        var frame = Self.frame("abcdef")
        frame.draw("a", column: 0, row: 0, style: .playing)
        frame.paint(column: 1, row: 0, ink: ScreenColor(0x123456), paper: ScreenColor(0xABCDEF))
        frame.paint(column: 2, row: 0, paper: ScreenColor(0xABCDEF))
        frame.lay(.selected, row: 0, columns: 3..<4)
        frame.draw("e", column: 4, row: 0, style: .dim)
        let shown =
            "^m^2J^1;1H^1;38;5;114ma^0;38;2;18;52;86;48;2;171;205;239mb^39mc^48;5;237md^38;5;248;49me^m^?7lf^?7h"
        #expect(Self.bytes(to: frame) == shown)
    }

    @Test func `named colours are those of the terminal`() {
        var own = ColorTable()
        _ = own.set(.index(2), for: "normal")
        _ = own.set(.index(12), for: "background")
        let palette = Palette(colors: Palette.exactColors, own: own)
        #expect(Self.bytes(to: Self.frame("a"), palette: palette) == "^m^2J^1;1H^32;104m^?7la^m^?7h")
    }

    @Test func `without colours only attributes are written`() {
        var frame = Self.frame("a ")
        frame.lay(.selected, row: 0)
        frame.draw("b", column: 0, row: 0, style: .playing)
        frame.paint(column: 0, row: 0, ink: ScreenColor(0x123456))
        let palette = Palette(colors: Palette.exactColors, theme: .mono)
        #expect(Self.bytes(to: frame, palette: palette) == "^m^2J^1;1H^7mb^?7l ^m^?7h")
    }

    @Test func `a background of the user's own fills the whole screen`() {
        var own = ColorTable()
        _ = own.set(.exact(ScreenColor(0x101820)), for: "background")
        let palette = Palette(colors: Palette.exactColors, own: own)
        #expect(
            Self.bytes(to: Self.frame("a   ", "    "), palette: palette)
                == "^m^2J^1;1H^48;2;16;24;32ma  ^?7l ^2;1H    ^m^?7h"
        )
    }

    @Test func `a short gap between changes is written again instead of a movement over it`() {
        let before = Self.frame("a---b------------------c ")
        let frame = Self.frame("A---B------------------C ")
        #expect(Self.bytes(from: before, to: frame) == "^1;1HA---B^1;24HC")
    }

    @Test func `many blanks at the end of a row are cleared at once, a few are written`() {
        #expect(Self.bytes(from: Self.frame("abcdefgh"), to: Self.frame("abcd    ")) == "^1;5H^K")
        #expect(Self.bytes(from: Self.frame("abcdefg "), to: Self.frame("abcd    ")) == "^1;5H^K")
        #expect(Self.bytes(from: Self.frame("abcdefgh"), to: Self.frame("abcdef x")) == "^1;7H ^?7lx^?7h")
    }

    @Test func `half of a wide character is never left`() {
        #expect(Self.bytes(from: Self.frame("桜桜  "), to: Self.frame(" 桜   ")) == "^1;1H 桜 ")
    }

    @Test func `a character that some terminals draw in fewer columns has blanks below it`() {
        var frame = CellBuffer(columns: 8, rows: 1)
        let end = frame.draw("👩‍🚀", column: 0, row: 0)
        frame.draw("x", column: end, row: 0)
        let blanks = String(repeating: " ", count: end)
        #expect(Self.bytes(to: frame) == "^m^2J^1;1H\(blanks)^1;1H👩‍🚀^1;\(end + 1)Hx")
    }

    @Test func `another locale gets ASCII`() {
        let frame = Self.frame("é…桜· ")
        #expect(Self.bytes(to: frame, isUnicode: false) == "^m^2J^1;1H?~? -")
    }

    // MARK: Pictures

    private static let images = ImageSequences(
        draw: { Array("<\($0.identity)>".utf8) },
        remove: { Array("</\($0.identity)>".utf8) }
    )

    private static func pictured(_ images: ImagePlace...) -> CellBuffer {
        var frame = frame("     ", "abcd ")
        frame.images = images
        return frame
    }

    @Test func `a picture is drawn once, and what it covered is written again when it goes`() {
        let here = Self.pictured(ImagePlace(identity: 7, columns: 1..<3, rows: 0..<2))
        let moved = Self.pictured(ImagePlace(identity: 7, columns: 0..<1, rows: 0..<2))
        #expect(Self.bytes(to: here, images: Self.images) == "^m^2J^2;1Habcd^1;2H<7>")
        #expect(Self.bytes(from: here, to: here, images: Self.images).isEmpty)
        #expect(Self.bytes(from: here, to: moved, images: Self.images) == "</7>^1;2H^K^2;2Hbc^1;1H<7>")
        #expect(Self.bytes(from: moved, to: Self.pictured(), images: Self.images) == "</7>^1;1H^K^2;1Ha")
    }

    @Test func `a terminal without pictures gets none`() {
        let picture = ImagePlace(identity: 7, columns: 1..<3, rows: 0..<2)
        #expect(Self.bytes(to: Self.pictured(picture)) == "^m^2J^2;1Habcd")
    }
}

struct ScreenColorTests {
    @Test(arguments: [(0x000000, 16), (0xFFFFFF, 231), (0x5F87AF, 67), (0x080808, 232), (0x767676, 243)])
    func `the nearest of 256 colours is one that no theme of a terminal changes`(color: UInt32, index: Int) {
        #expect(ScreenColor(color).nearestIndex(of: 256) == index)
    }

    @Test func `every fixed colour of the 256 is the nearest to itself`() {
        for index in 16...255 {
            let color = ScreenColor(index: index)
            #expect(ScreenColor(index: color.nearestIndex(of: 256)) == color)
        }
    }

    @Test func `no fixed colour is much nearer than the one that is chosen`() {
        var random = SplitMix64(seed: 1)
        for _ in 0..<500 {
            let color = ScreenColor(UInt32.random(in: 0...0xFF_FFFF, using: &random))
            let best = (16...255).map { Self.distance(color, $0) }.min() ?? 0
            // The eye's weights prefer another one at times.
            #expect(Self.distance(color, color.nearestIndex(of: 256)) <= best * 3 + 100)
        }
    }

    private static func distance(_ color: ScreenColor, _ index: Int) -> Int {
        var sum = 0
        for (one, other) in zip(color.parts, ScreenColor(index: index).parts) {
            sum += (one - other) * (one - other)
        }
        return sum
    }

    @Test(
        arguments: [
            ("#123abc", 0x123ABC), ("#FFFFFF", 0xFFFFFF), ("#fff", nil), ("123456", nil), ("#+12345", nil),
            ("#12345g", nil),
        ] as [(String, UInt32?)]
    )
    func `exact colours have six hexadecimal digits`(text: String, value: UInt32?) {
        #expect(ScreenColor(hex: text)?.rawValue == value)
        #expect(ColorChoice(parsing: text) == value.map { .exact(ScreenColor($0)) })
    }
}
