internal import Glibc

/// A colour of 24 bits.
package struct ScreenColor: Sendable, Hashable {
    /// 0xRRGGBB.
    package let rawValue: UInt32

    package init(_ rawValue: UInt32) { self.rawValue = rawValue & 0xFF_FFFF }

    private init(_ red: Int, _ green: Int, _ blue: Int) { self.init(UInt32(red << 16 | green << 8 | blue)) }

    /// Red, green and blue, 0...255.
    package var parts: [Int] { [16, 8, 0].map { Int(rawValue >> $0 & 0xFF) } }

    /// As `#rrggbb`.
    package var hex: String {
        let digits = String(rawValue, radix: 16)
        return "#" + String(repeating: "0", count: 6 - digits.count) + digits
    }

    /// The relative luminance, 0...1 (WCAG 2).
    package var luminance: Double {
        zip(parts, [0.2126, 0.7152, 0.0722]).reduce(0) { sum, part in
            let share = Double(part.0) / 255
            return sum + part.1 * (share <= 0.04045 ? share / 12.92 : pow((share + 0.055) / 1.055, 2.4))
        }
    }

    /// The ratio of the luminances, 1...21 (WCAG 2).
    package func contrast(to other: ScreenColor) -> Double {
        let low = min(luminance, other.luminance)
        let high = max(luminance, other.luminance)
        return (high + 0.05) / (low + 0.05)
    }
}

extension ScreenColor {
    /// Parses `#rrggbb`.
    package init?(hex text: some StringProtocol) {
        let digits = text.utf8.dropFirst()
        guard text.hasPrefix("#"), digits.count == 6, let value = UInt32(text.dropFirst(), radix: 16),
            !digits.contains(UInt8(ascii: "+"))
        else { return nil }
        self.init(value)
    }

    /// Parses a terminal's report, `rgb:RR/GG/BB` with one to four hexadecimal digits for each part
    /// (XParseColor(3)), of which 8 bits are kept.
    package init?(parsing text: some StringProtocol) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0] == "rgb" || parts[0] == "rgba" else { return nil }
        let values = parts[1].split(separator: "/", omittingEmptySubsequences: false).prefix(3).map {
            digits in
            let most = (1 << (4 * min(4, digits.count))) - 1
            return (1...4).contains(digits.count)
                ? UInt16(digits, radix: 16).map { (Int($0) * 255 + most / 2) / most } : nil
        }
        guard values.count == 3, let red = values[0], let green = values[1], let blue = values[2] else {
            return nil
        }
        self.init(red, green, blue)
    }

    private static let steps = [0, 95, 135, 175, 215, 255]
    /// The first sixteen colours of xterm; other terminals have similar ones.
    private static let named: [ScreenColor] = [
        0x000000, 0xCD0000, 0x00CD00, 0xCDCD00, 0x0000EE, 0xCD00CD, 0x00CDCD, 0xE5E5E5, 0x7F7F7F, 0xFF0000,
        0x00FF00, 0xFFFF00, 0x5C5CFF, 0xFF00FF, 0x00FFFF, 0xFFFFFF,
    ].map { ScreenColor($0) }

    /// A colour of xterm's palette, 0...255.
    package init(index: Int) {
        if index < 16 {
            self = Self.named[max(0, index)]
        } else if index >= 232 {
            let grey = 8 + (min(index, 255) - 232) * 10
            self.init(grey, grey, grey)
        } else {
            let cube = index - 16
            self.init(Self.steps[cube / 36], Self.steps[cube / 6 % 6], Self.steps[cube % 6])
        }
    }

    /// The nearest colour of a palette with `colors` colours, 8 or more.
    ///
    /// From 256 on, the first sixteen are never chosen, since a terminal's theme may change them.
    package func nearestIndex(of colors: Int) -> Int {
        var candidates = Array(0..<min(colors, 16))
        if colors >= 256 {
            let cube = parts.reduce(0) { index, part in
                index * 6 + (part < 48 ? 0 : part < 115 ? 1 : (part - 35) / 40)
            }
            let grey = (parts.reduce(0, +) / 3 - 3) / 10
            candidates = [16 + cube, 232 + max(0, min(23, grey))]
        }
        return candidates.min { distance(toIndex: $0) < distance(toIndex: $1) } ?? 0
    }

    /// The square of the distance; the weights are about those of the eye.
    private func distance(toIndex index: Int) -> Int {
        let other = ScreenColor(index: index)
        return zip(zip(parts, other.parts), [3, 6, 2]).reduce(0) { sum, part in
            let difference = part.0.0 - part.0.1
            return sum + part.1 * difference * difference
        }
    }
}

/// A colour that the configuration or a theme names.
package enum ColorChoice: Sendable, Hashable {
    /// The terminal's own.
    case standard
    /// 0...255; 0...15 are the named ones.
    case index(Int)
    case exact(ScreenColor)

    private static let names = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"]

    /// The name of one of the first sixteen colours, 0...15.
    package static func name(of index: Int) -> String {
        index < 8 ? names[index] : "bright-" + names[index - 8]
    }

    /// Parses `default`, a name (`red`, `bright-red`), a number, 0...255, or `#rrggbb`; `nil` for anything
    /// else.
    package init?(parsing text: String) {
        let word = text.lowercased()
        if word == "default" {
            self = .standard
        } else if let number = Int(word), (0...255).contains(number) {
            self = .index(number)
        } else if let place = Self.names.firstIndex(of: word) {
            self = .index(place)
        } else if word.hasPrefix("bright-"), let place = Self.names.firstIndex(of: String(word.dropFirst(7)))
        {
            self = .index(8 + place)
        } else if word.hasPrefix("#"), let color = ScreenColor(hex: word) {
            self = .exact(color)
        } else {
            return nil
        }
    }

    /// As it is parsed.
    var text: String {
        switch self {
        case .standard: "default"
        case .index(let index): index < 16 ? Self.name(of: index) : "\(index)"
        case .exact(let color): color.hex
        }
    }

    /// The colour as a terminal with `colors` colours can draw it; `nil` for a number that it does not have.
    func drawable(with colors: Int) -> ColorChoice? {
        switch self {
        case .standard: self
        case .index(let index): index < colors ? self : nil
        case .exact(let color): colors > 256 ? self : .index(color.nearestIndex(of: colors))
        }
    }
}
