import Glibc
import RepriseOrigin

/// A file that lines are appended to, each with one write, so that readers see whole lines.
final class LineFile: Sendable {
    private let descriptor: Int32

    /// Makes the file, or empties the one there is.
    init(path: String) throws(OriginFailure) {
        descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw OriginFailure(operation: "open log \(path)", code: errno) }
    }

    deinit { close(descriptor) }

    /// Appends `line`. A full disk loses it: a log is no reason to stop serving.
    func write(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        _ = Glibc.write(descriptor, bytes, bytes.count)
    }
}
