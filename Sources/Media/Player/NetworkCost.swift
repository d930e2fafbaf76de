/// The price of the network: free, or paid by the byte or up to a limit.
package enum NetworkCost: Sendable, Equatable {
    /// It will be known in a moment.
    case unknown
    case unmetered
    /// The user pays for each byte, or has a limit.
    case metered
}
