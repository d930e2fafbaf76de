import Media
import System

/// What is known of the lines to the servers asked lately, so that the second track of one begins with it.
final class LineMeasures: Sendable {
    /// More servers than a listener has at a time.
    private static let mostServers = 32

    private let measures = Locked<[String: LineMeasure]>([:])

    func measure(of url: WebURL) -> LineMeasure {
        measures.withLock { $0[Self.key(url)] ?? LineMeasure() }
    }

    func keep(_ measure: LineMeasure, of url: WebURL) {
        measures.withLock { measures in
            if measures.count >= Self.mostServers { measures.removeAll() }
            measures[Self.key(url)] = measure
        }
    }

    private static func key(_ url: WebURL) -> String { "\(url.scheme)://\(url.host):\(url.port ?? 0)" }
}
