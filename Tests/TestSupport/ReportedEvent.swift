import Foundation

/// One event of `--json`, with every field that the tests look at.
package struct ReportedEvent: Decodable, Equatable, Sendable {
    package struct Bytes: Decodable, Equatable, Sendable {
        package var cached: Int64
        package var fetched: Int64

        package init(cached: Int64, fetched: Int64) {
            self.cached = cached
            self.fetched = fetched
        }
    }

    package struct Failure: Decodable, Equatable, Sendable {
        package var code: String
        package var message: String
    }

    package struct Device: Decodable, Equatable, Sendable {
        package var name: String
        package var current: Bool
    }

    package var event: String
    package var t: Double
    package var index: Int?
    package var position: Double?
    package var duration: Double?
    package var exact: Bool?
    package var buffered: Double?

    // Of `track`.
    package var source: String?
    package var title: String?
    package var artist: String?
    package var seekable: Bool?
    package var cached: Double?
    package var live: Bool?
    package var station: String?

    // Of `ended`.
    package var reason: String?
    package var frames: Int64?
    package var bytes: Bytes?
    package var requests: Int?
    package var stalls: Int?
    package var error: Failure?

    // Of `notice`.
    package var code: String?
    package var message: String?

    // Of `loaded` and `summary`.
    package var tracks: Int?
    package var played: Int?
    package var failed: Int?

    // Of `devices`.
    package var devices: [Device]?

    // Of `status`.
    package var ahead: String?
    package var offline: Double?
    package var offlineExact: Bool?

    /// Parses `line`; throws if it is not an event.
    package init(line: String) throws {
        self = try JSONDecoder().decode(ReportedEvent.self, from: Data(line.utf8))
    }
}

extension RunningProcess {
    /// The player's events so far; throws if a line is not an event.
    package var events: [ReportedEvent] { get throws { try lines.map { try ReportedEvent(line: $0) } } }

    /// Waits for the first event of this name after the first `count` lines.
    @discardableResult
    package func event(_ name: String, after count: Int = 0) async throws -> ReportedEvent {
        try ReportedEvent(line: try await waitForLine(from: count) { $0.contains("\"event\":\"\(name)\"") })
    }
}
