import Media

@testable import TerminalUI

/// Draws a recorded screen as an SVG picture that moves, and begins again at its end. Pure.
///
/// Each element is written once, however often it comes and goes, and elements that are there at the same
/// times share an animation. A viewer that cannot animate shows the first moment.
struct ScreenAnimation {
    /// What is drawn from a time on, in seconds.
    struct Moment {
        var time: Double
        var rows: [[ScreenPicture.Run]]
    }

    let picture: ScreenPicture
    let columns: Int
    let rows: Int
    /// How long it lasts before it begins again, in seconds.
    let length: Double

    /// `moments` begin with one at 0, and their times rise.
    func svg(of moments: [Moment]) -> String {
        var shown: [String: [Int]] = [:]
        var order: [String] = []
        for (number, moment) in moments.enumerated() {
            for (row, runs) in moment.rows.enumerated() {
                for element in runs.flatMap({ picture.elements(of: $0, row: row) }) {
                    if shown[element] == nil { order.append(element) }
                    if shown[element]?.last != number { shown[element, default: []].append(number) }
                }
            }
        }
        // Backgrounds are below every text.
        let layers = [true, false].map { isGround in order.filter { isBackground($0) == isGround } }
        let groups = layers.flatMap { layer -> [String] in
            let lives = Dictionary(grouping: layer) { shown[$0] ?? [] }
            let sorted = lives.sorted { $0.key.lexicographicallyPrecedes($1.key) }
            return sorted.map { group(of: $1, at: $0, in: moments) }
        }
        return picture.opening(columns: columns, rows: rows) + groups.joined(separator: "\n") + "\n</svg>\n"
    }

    private func isBackground(_ element: String) -> Bool {
        element.hasPrefix("<rect") && element.contains(" height=\"\(ScreenPicture.cell.height)\"")
    }

    /// The elements that are there at the moments with these numbers.
    private func group(of elements: [String], at numbers: [Int], in moments: [Moment]) -> String {
        let body = elements.joined(separator: "\n")
        guard numbers.count < moments.count else { return body }
        var times: [String] = []
        var values: [String] = []
        let places = Set(numbers)
        for (number, moment) in moments.enumerated() {
            let value = places.contains(number) ? "1" : "0"
            guard values.last != value else { continue }
            values.append(value)
            times.append(share(moment.time))
        }
        let first = numbers.first == 0 ? "" : " opacity=\"0\""
        return "<g\(first)><animate attributeName=\"opacity\" values=\"" + values.joined(separator: ";")
            + "\" keyTimes=\"" + times.joined(separator: ";")
            + "\" dur=\"\(length)s\" calcMode=\"discrete\" repeatCount=\"indefinite\"/>\n" + body + "</g>"
    }

    /// A time as a share of the length, in four decimals.
    private func share(_ time: Double) -> String {
        let parts = Int((time / length * 10_000).rounded())
        guard parts > 0 else { return "0" }
        var digits = String(parts)
        digits = "." + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
        while digits.last == "0" { digits.removeLast() }
        return digits
    }
}

extension ScreenPicture {
    /// The rows of text with the sequences for colours and attributes of ECMA-48, as tmux prints a screen.
    static func rows(ofStyled text: String) -> [[Run]] {
        var look = Rendition()
        return text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            var cells: [Run] = []
            var column = 0
            var rest = line[...]
            while let letter = rest.first {
                if letter == "\u{1B}", let sequence = rest.prefixMatch(of: /\u{1B}\[([0-9;]*)m/) {
                    look.apply(
                        sequence.1.split(separator: ";", omittingEmptySubsequences: false).map {
                            Int($0) ?? 0
                        }
                    )
                    rest = rest[sequence.range.upperBound...]
                    continue
                }
                let columns = SafeText(String(letter)).columns
                cells.append(Run(column: column, columns: columns, text: String(letter), rendition: look))
                column += columns
                rest = rest.dropFirst()
            }
            return joined(cells)
        }
    }
}

extension Rendition {
    /// Applies the parameters of one sequence (SGR).
    fileprivate mutating func apply(_ parameters: [Int]) {
        var rest = parameters[...]
        while let parameter = rest.popFirst() {
            switch parameter {
            case 0: self = Rendition()
            case 1: isBold = true
            case 2: isDim = true
            case 7: isReversed = true
            case 22:
                isBold = false
                isDim = false
            case 27: isReversed = false
            case 30...37: ink = .index(parameter - 30)
            case 90...97: ink = .index(parameter - 82)
            case 40...47: paper = .index(parameter - 40)
            case 100...107: paper = .index(parameter - 92)
            case 39: ink = .standard
            case 49: paper = .standard
            case 38: ink = Self.color(&rest)
            case 48: paper = Self.color(&rest)
            default: break
            }
        }
    }

    /// The colour behind 38 or 48: `5;INDEX` or `2;RED;GREEN;BLUE`.
    private static func color(_ rest: inout ArraySlice<Int>) -> ColorChoice {
        guard rest.popFirst() == 2 else { return .index(rest.popFirst() ?? 0) }
        let parts = rest.prefix(3)
        rest = rest.dropFirst(3)
        return .exact(ScreenColor(parts.reduce(0) { $0 << 8 | UInt32($1 & 0xFF) }))
    }
}
