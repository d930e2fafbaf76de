/// How much of a resource is here, and can be played without the network.
package struct Availability: Sendable, Equatable {
    package var storedBytes: Int64
    /// Length of the resource in bytes, where known.
    package var length: Int64?
    /// How far it plays from its start without a gap; nil while that is not known.
    package var playsTo: Duration?
    package var isPinned: Bool

    package init(
        storedBytes: Int64 = 0,
        length: Int64? = nil,
        playsTo: Duration? = nil,
        isPinned: Bool = false
    ) {
        self.storedBytes = storedBytes
        self.length = length
        self.playsTo = playsTo
        self.isPinned = isPinned
    }

    /// Whether every byte is here.
    package var isComplete: Bool { length.map { storedBytes >= $0 } ?? false }

    /// The stored part, 0...1; nil while the length is not known.
    package var fraction: Double? {
        length.map { $0 <= 0 ? 1 : min(1, max(0, Double(storedBytes) / Double($0))) }
    }
}

/// What is kept of the web, as the player and its screen need to know it.
package protocol KeptMusic: Sendable {
    /// What is here of each of `urls`, in their order; nil for what is not kept at all.
    func availability(of urls: [WebURL]) async -> [Availability?]

    /// Keeps what is stored, or will be, of `url` whatever the budget says; or no longer. Throws `MediaError`
    /// with `.notKept` where nothing can be kept.
    func setPinned(_ url: WebURL, _ isPinned: Bool) async throws
}
