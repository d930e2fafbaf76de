/// How much was heard of music from the web, in bytes of the files.
package struct HeardBytes: Sendable, Equatable {
    /// The bytes that were decoded; those that were decoded twice in one playing count once.
    package var heard: Int64
    /// Those of `heard` that were cached before that playing began.
    package var saved: Int64

    package init(heard: Int64 = 0, saved: Int64 = 0) {
        self.heard = heard
        self.saved = saved
    }

    /// The saved share of what was heard, 0...100, rounded down; 0 if nothing was heard.
    package var percent: Int { heard > 0 ? Int(Double(saved) / Double(heard) * 100) : 0 }

    package static func += (left: inout HeardBytes, right: HeardBytes) {
        left.heard &+= right.heard
        left.saved &+= right.saved
    }
}

/// The sums of the bytes that were played, and of those that the cache had already, so that no server was
/// asked for them again.
package struct Savings: Sendable, Equatable {
    package struct Host: Sendable, Equatable {
        package let name: SafeText
        package let total: HeardBytes

        package init(name: SafeText, total: HeardBytes) {
            self.name = name
            self.total = total
        }
    }

    package var today = HeardBytes()
    package var month = HeardBytes()
    package var total = HeardBytes()
    /// The sums in `total` by server, those that saved most first.
    package var hosts: [Host] = []

    package init() {}

    /// `4.1 GB saved this month, 83 % of what you heard`; `nil` if nothing was heard.
    package var text: SafeText? {
        for (bytes, period) in [(month, " this month"), (total, "")] where bytes.heard > 0 {
            let share = "\(bytes.percent) % of what you heard"
            return SafeText("\(SizeText.text(bytes.saved)) saved\(period), \(share)")
        }
        return nil
    }
}
