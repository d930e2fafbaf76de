package import Media

/// The views of the screen, in the order of their numbers and of `Tab`.
package enum ViewName: String, Sendable, CaseIterable {
    case queue
    case playing
    case cache
    case network
    case messages
    case help

    /// What its tab says.
    package var title: SafeText {
        switch self {
        case .queue: "Queue"
        case .playing: "Playing"
        case .cache: "Cache"
        case .network: "Network"
        case .messages: "Messages"
        case .help: "Help"
        }
    }

    /// Whether a line of titles stands above its list.
    var hasHeader: Bool { self == .cache || self == .network }

    /// Whether one of its rows is selected; the others only scroll.
    var hasSelection: Bool { self != .playing && self != .help }

    /// From 1: the key that opens it.
    package var number: Int { (Self.allCases.firstIndex(of: self) ?? 0) + 1 }

    /// The view so many tabs on, round the end.
    func next(by tabs: Int) -> ViewName {
        let all = Self.allCases
        return all[(number - 1 + tabs % all.count + all.count) % all.count]
    }
}
