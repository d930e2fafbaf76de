import Glibc
import Media
import System

/// Writes the requests and decisions of the loaders to a file, one JSON object per line (see
/// `JournalRecord.line`).
///
/// A thread of its own writes the lines, so a slow disk never delays a loader. After the first error, such as
/// a full disk, all further lines are dropped, and playback continues.
final class JournalFile: RequestJournal {
    private let descriptor: Int32
    private let writer: LineWriter
    private let queue: WriteQueue

    /// How long the program waits for an unresponsive disk before it exits.
    static let writeLimit = Duration.seconds(2)

    /// Opens `path` to append to it. Only the owner may read a new file (0600): its hosts and paths reveal
    /// what was played.
    init(path: String, clock: any MonotonicClock) throws(UsageError) {
        // Non-blocking: otherwise a pipe without a reader would block the start forever.
        let flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK
        descriptor = open(FileName.cString(path), flags, 0o600)
        guard descriptor >= 0 else {
            throw UsageError("can't write --journal \(path) (\(SystemError.reason()))")
        }
        writer = LineWriter(descriptor: descriptor, onReaderGone: {})
        queue = WriteQueue(name: "journal", clock: clock, limit: Self.writeLimit, isLimited: true)
    }

    func record(_ record: JournalRecord) { queue.submit { [writer] in writer.write(record.line) } }

    /// Returns as soon as all lines are written, or after `writeLimit`. Later records are dropped.
    func finish() async { await queue.finish { [descriptor] in close(descriptor) } }
}

extension JournalRecord {
    /// The record as a JSON object, without a line break. Names and order of the fields are part of the
    /// contract with programs that read them, and are described in `docs/events.md`.
    var line: String {
        let (event, own): (SafeText, EventFields) =
            switch event {
            case .request(let request): ("request", Self.fields(of: request))
            case .decision(let decision, let reason):
                ("decision", [("decision", .text(SafeText(decision.rawValue))), ("reason", .text(reason))])
            }
        return EventLine.json(
            [("t", .seconds(time)), ("event", .text(event)), ("resource", .text(resource))] + own
        )
    }

    private static func fields(of request: RequestRecord) -> EventFields {
        [
            ("number", .count(request.number)),
            ("why", .text(SafeText(request.urgency.rawValue))),
            ("asked", range(request.asked)),
            ("started", .seconds(request.startedAt)),
            ("firstByte", .seconds(orNone: request.firstByte)),
            ("duration", .seconds(request.duration)),
            ("status", request.status.map { .count($0) } ?? .none),
            ("answered", range(request.answered)),
            ("bytes", .integer(request.bytes)),
            ("end", .text(SafeText(request.end))),
            ("version", request.wire.version.isEmpty ? .none : .text(SafeText(request.wire.version))),
            ("reused", request.wire.reusedConnection.map { .flag($0) } ?? .none),
            ("host", .text(orNone: request.wire.redirectedHost)),
        ]
    }

    /// The first and the last byte, as in a `Range` header.
    private static func range(_ range: ByteRange?) -> EventField {
        guard let range, !range.isEmpty else { return .none }
        let last = range.upperBound == .max ? "" : String(range.upperBound - 1)
        return .text(SafeText("\(range.lowerBound)-\(last)"))
    }
}
