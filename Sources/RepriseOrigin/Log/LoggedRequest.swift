/// One request and what became of it.
package struct LoggedRequest: Sendable, Equatable {
    package enum Outcome: String, Sendable {
        case underWay
        /// The answer was sent to its end.
        case finished
        /// The client left before the end.
        case aborted
        /// The origin ended it itself: a fault, or `stop`.
        case cut
    }

    /// The order of all requests, from 1; goes on counting after `reset`.
    package var number: Int
    /// The order of all connections, from 1.
    package var connection: Int
    package var method: String
    /// As sent, with the query.
    package var target: String
    /// Decoded, without the query.
    package var path: String
    package var fields: [HTTPField]
    /// nil until it is decided.
    package var status: Int?
    /// Bytes of body handed to the network; chunk framing is not counted.
    package var bodyBytesSent: Int64 = 0
    /// Which bytes of the resource those were; empty for pages of the origin's own.
    package var sent: Range<Int64> = 0..<0
    package var outcome = Outcome.underWay
    /// Whether its answer is held now: by a gate, a stall or silence.
    package var isHeld = false
    /// When it came and ended, in events of this origin: the smaller one was earlier.
    package var begun: Int
    package var ended: Int?

    /// The `Range` header as sent.
    package var range: String? { fields["Range"] }
    /// The `If-Range` header as sent.
    package var ifRange: String? { fields["If-Range"] }
}

extension LoggedRequest: CustomStringConvertible {
    /// One line, as `reprise-origin --log` writes it.
    package var description: String {
        var line = "\(number) connection=\(connection) \(method) \(target)"
        if let range { line += " range=\(range)" }
        if let ifRange { line += " if-range=\(ifRange)" }
        line += " status=\(status.map(String.init) ?? "-") sent=\(bodyBytesSent)"
        if !sent.isEmpty { line += " from=\(sent.lowerBound)" }
        return line + " \(outcome.rawValue)"
    }
}
