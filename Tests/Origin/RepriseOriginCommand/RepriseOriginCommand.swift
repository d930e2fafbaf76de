import ArgumentParser
import Dispatch
import Glibc
import RepriseOrigin

/// Serves a folder on the loopback address until SIGINT or SIGTERM.
@main
struct RepriseOriginCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reprise-origin",
        abstract: "Serves a folder over HTTP on 127.0.0.1, slowly and with faults if asked.",
        discussion: """
            Prints its URL when it is ready, and serves until SIGINT or SIGTERM. For tests, benchmarks and \
            demonstrations.
            """
    )

    @Argument(help: "The folder to serve.")
    var folder = "."

    @Option(help: "The port; 0 chooses a free one.")
    var port: UInt16 = 0

    @Option(
        help: ArgumentHelp("Delay of each request and each new connection.", valueName: "milliseconds")
    )
    var roundTrip = 0

    @Flag(help: "Delay new connections by one more round trip, as TLS does.")
    var tlsRoundTrip = false

    @Option(help: ArgumentHelp("The rate that all bodies share.", valueName: "bytes per second"))
    var bandwidth: Int64?

    @Flag(help: "Ignore Range: answer every request with the whole file.")
    var noRanges = false

    @Flag(help: "Send neither ETag nor Last-Modified.")
    var noValidators = false

    @Option(help: ArgumentHelp("Close the connection after so many bytes of each body.", valueName: "bytes"))
    var cutAfter: Int64?

    @Option(
        help: ArgumentHelp(
            "Faults of the answers for one path, or * for all; may be given more than once.",
            discussion: FaultOption.grammar,
            valueName: "path=faults"
        )
    )
    var fault: [FaultOption] = []

    @Option(help: ArgumentHelp("Write one line for each request that has ended.", valueName: "file"))
    var log: String?

    func validate() throws {
        guard roundTrip >= 0 else { throw ValidationError("--round-trip takes 0 or more milliseconds.") }
        guard bandwidth ?? 1 > 0 else {
            throw ValidationError("--bandwidth takes at least 1 byte per second.")
        }
        guard !fault.contains(where: { $0.path == "*" && $0.count != nil }) else {
            throw ValidationError("--fault counts requests for one path, not for *.")
        }
        guard cutAfter ?? 0 >= 0 else { throw ValidationError("--cut-after takes 0 or more bytes.") }
    }

    func run() async throws {
        let signals = TerminationSignals()
        let logFile = try log.map { try LineFile(path: $0) }
        let origin = try Origin(
            folder: folder,
            port: port,
            shaping: Shaping(
                roundTrip: .milliseconds(roundTrip),
                chargesTLS: tlsRoundTrip,
                bytesPerSecond: bandwidth
            ),
            faults: faults,
            onEnd: { logFile?.write($0.description) }
        )
        for (path, faults) in Dictionary(grouping: fault, by: \.path) where path != "*" {
            let always = faults.last { $0.count == nil }?.faults ?? self.faults
            let next = faults.flatMap { Array(repeating: $0.faults, count: $0.count ?? 0) }
            origin.script(next, thenAlways: always, for: path)
        }
        print("listening on \(origin.baseURL)/")
        fflush(nil)
        await signals.next()
        await origin.stop()
    }

    private var faults: [Fault] {
        var faults: [Fault] = []
        if noRanges { faults.append(.ignoresRanges) }
        if noValidators { faults.append(.noValidators) }
        if let cutAfter { faults.append(.cut(afterBytes: cutAfter)) }
        for option in fault where option.path == "*" { faults += option.faults }
        return faults
    }
}

/// Waits for SIGINT and SIGTERM.
final class TerminationSignals {
    private let arrivals: AsyncStream<Void>
    private let sources: [any DispatchSourceSignal]

    /// Keeps both signals from ending the process.
    init() {
        let (arrivals, continuation) = AsyncStream.makeStream(of: Void.self)
        self.arrivals = arrivals
        sources = [SIGINT, SIGTERM].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { continuation.yield() }
            source.resume()
            return source
        }
    }

    /// Returns at the first signal.
    func next() async {
        for await _ in arrivals { return }
    }
}

/// Appends lines to a file, each with a single write, so that readers see only whole lines.
final class LineFile: Sendable {
    private let descriptor: Int32

    /// Creates the file, or truncates an existing one.
    init(path: String) throws(OriginFailure) {
        descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw OriginFailure(operation: "open log \(path)", code: errno) }
    }

    deinit { close(descriptor) }

    /// Appends `line`. If the disk is full the line is lost: a log must not stop the server.
    func write(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        _ = Glibc.write(descriptor, bytes, bytes.count)
    }
}
