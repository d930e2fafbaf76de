import Glibc
import Media
import System

/// Writes the requests and decisions of the loaders to a file, one JSON object per line (see `JournalLine`).
///
/// A thread of its own writes the lines, so a slow disk never delays a loader. After the first error, such as
/// a full disk, all further lines are dropped, and playback continues.
final class JournalFile: RequestJournal {
    private let descriptor: Int32
    private let writer: LineWriter
    private let thread = WorkThread(name: "journal")
    // Held while a line is submitted, so that none follows `finish`.
    private let isFinished = Locked(false)

    /// The time that the end of the program waits for a disk that does not respond.
    static let writeLimit = Duration.seconds(2)

    /// Opens `path` to append to it. Only the owner may read a new file (0600): its hosts and paths reveal
    /// what was played.
    init(path: String) throws(UsageError) {
        guard !path.isEmpty else { throw UsageError("--journal needs a file") }
        // Non-blocking: otherwise a pipe without a reader would delay the start for ever.
        descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0o600)
        guard descriptor >= 0 else {
            throw UsageError("can't write --journal \(path) (\(SystemError.reason()))")
        }
        writer = LineWriter(descriptor: descriptor, onReaderGone: {})
    }

    func record(_ record: JournalRecord) {
        isFinished.withLock { isFinished in
            guard !isFinished else { return }
            thread.submit { [writer] in writer.write(JournalLine(record).json) }
        }
    }

    /// Returns as soon as all lines are written, or after `writeLimit`. Later records are dropped.
    func finish(clock: any MonotonicClock) async {
        let wasFinished = isFinished.withLock { isFinished in
            defer { isFinished = true }
            return isFinished
        }
        guard !wasFinished else { return }
        let written = OneShot<Void>()
        let limit = Task {
            try? await clock.sleep(for: Self.writeLimit)
            written.give(())
        }
        thread.submit { [descriptor] in
            close(descriptor)
            written.give(())
        }
        thread.stop()
        await written.wait(ifCancelled: ())
        limit.cancel()
    }
}

/// A line of the journal. Names and order of the fields are part of the contract with programs that read them.
///
/// Every line has `t` (seconds since the process started), `event` and `resource` (without secrets).
///
/// `"event":"request"`, written when a request has ended:
/// - `number`: increases during the process;
/// - `why`: `demand`, `read-ahead`, `prefetch`, `fill` or `revalidate`;
/// - `asked`: the requested bytes, first and last (`0-65535`), or from the first on (`65536-`); null for all;
/// - `started`: when it began; `firstByte`: seconds from there to the response's head; `duration`: to its
///   end;
/// - `status`: of the last response; null if there was none;
/// - `answered`: the range of the response's bytes, as in `asked`; null if there are none or it is not
///   stated;
/// - `bytes`: body bytes received;
/// - `end`: `complete`, `cancelled`, or the code of the error;
/// - `version` (`HTTP/1.1`, `HTTP/2`, …), `reused` (true if the connection was open before) and `host` (the
///   one to which the request was redirected), each null if unknown.
///
/// `"event":"decision"`, for decisions that are not visible in a single request:
/// - `decision`: `retry-later`, `gave-up`, `read-through`, `reconnect`, `without-ranges`, `changed`,
///   `went-offline`, `went-online` or `live`;
/// - `reason`: a sentence.
struct JournalLine: Sendable {
    let fields: [(key: String, value: EventField)]

    init(_ record: JournalRecord) {
        let place: [(key: String, value: EventField)] = [("resource", .text(record.resource))]
        switch record.event {
        case .request(let request):
            fields =
                [("t", .seconds(record.time)), ("event", .text("request"))] + place
                + Self.fields(of: request)
        case .decision(let decision, let reason):
            fields =
                [("t", .seconds(record.time)), ("event", .text("decision"))] + place + [
                    ("decision", .text(SafeText(decision.rawValue))), ("reason", .text(reason)),
                ]
        }
    }

    /// Without a line break.
    var json: String { EventLine.json(fields) }

    private static func fields(of request: RequestRecord) -> [(key: String, value: EventField)] {
        [
            ("number", .integer(Int64(request.number))),
            ("why", .text(SafeText(request.why.rawValue))),
            ("asked", range(request.asked)),
            ("started", .seconds(request.startedAt)),
            ("firstByte", .seconds(orNone: request.firstByte)),
            ("duration", .seconds(request.duration)),
            ("status", request.status.map { .integer(Int64($0)) } ?? .none),
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
        guard let range else { return .none }
        guard !range.isEmpty else { return .none }
        let last = range.upperBound == .max ? "" : String(range.upperBound - 1)
        return .text(SafeText("\(range.lowerBound)-\(last)"))
    }
}
