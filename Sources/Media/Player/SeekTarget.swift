/// The target of a seek: a distance from the current position, a time, or a share of the track.
package enum SeekTarget: Sendable, Hashable {
    case by(Duration)
    case to(Duration)
    /// 0...100.
    case percent(Double)

    /// Parses `S`, `M:SS`, `H:MM:SS`, `Nm` or `Nh`, each with or without a sign and a fraction, or `N%`;
    /// `nil` for anything else. A sign makes it a distance.
    package init?(parsing text: some StringProtocol) {
        if text.last == "%" {
            guard let percent = Double(plainDecimal: text.dropLast()), (0...100).contains(percent) else {
                return nil
            }
            self = .percent(percent)
            return
        }
        let sign = text.first
        let isRelative = sign == "+" || sign == "-"
        guard let time = Duration(clockTime: isRelative ? text.dropFirst() : text[...]) else { return nil }
        guard isRelative else {
            self = .to(time)
            return
        }
        self = .by(sign == "-" ? .zero - time : time)
    }
}

extension Double {
    /// Takes digits and at most one point; not `1e3`, `0x10` or `inf`, which `Double` accepts too.
    fileprivate init?(plainDecimal text: some StringProtocol) {
        guard text.utf8.allSatisfy({ $0.isDigit || $0 == 0x2E }) else { return nil }
        self.init(String(text))
    }
}

extension Duration {
    /// The units that may follow a number, by their number of seconds.
    private static let units: [Character: Double] = ["s": 1, "m": 60, "h": 3_600]

    /// Parses `S`, `M:SS` or `H:MM:SS`, the seconds with or without a fraction, or a number with the unit
    /// `s`, `m` or `h`; `nil` for anything else.
    package init?(clockTime text: some StringProtocol) {
        if let unit = text.last.flatMap({ Self.units[$0] }) {
            guard text.utf8.first?.isDigit == true, let value = Double(plainDecimal: text.dropLast()),
                (0..<1e7).contains(value * unit)
            else { return nil }
            self = .seconds(value * unit)
            return
        }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard (1...3).contains(parts.count) else { return nil }
        // Each part must begin with a digit: a sign is allowed only before the whole time.
        guard parts.allSatisfy({ $0.utf8.first?.isDigit == true }) else { return nil }
        var total = Duration.zero
        for (index, part) in parts.enumerated() {
            let isLast = index == parts.count - 1
            guard let value = isLast ? Double(plainDecimal: part) : Int(part).map(Double.init),
                (0..<1e7).contains(value),
                index == 0 || value < 60
            else { return nil }
            total = total * 60 + .seconds(value)
        }
        self = total
    }

    /// `M:SS`, or `H:MM:SS` from an hour on; the fraction is dropped.
    package var clockTime: String {
        let seconds = max(0, components.seconds)
        let padded = { (number: Int64) in number < 10 ? "0\(number)" : "\(number)" }
        let minutes = seconds / 60
        if minutes < 60 { return "\(minutes):\(padded(seconds % 60))" }
        return "\(minutes / 60):\(padded(minutes % 60)):\(padded(seconds % 60))"
    }
}
