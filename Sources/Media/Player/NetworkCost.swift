/// What the user pays for the bytes of the network.
package enum NetworkCost: Sendable, Equatable {
    /// It will be known in a moment.
    case unknown
    case unmetered
    /// The user pays for each byte, or has a limit.
    case metered
}
