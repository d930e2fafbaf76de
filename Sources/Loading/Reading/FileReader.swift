import Glibc
import Media

/// A file of the local file system, read as it is.
final class FileReader: ResourceReader {
    private let descriptor: Int32
    private let size: Int64
    private let thread: WorkThread
    private let subject: SafeText

    /// Opens `path` on `thread`, which then does every read.
    static func open(_ path: String, on thread: WorkThread) async throws -> FileReader {
        try await thread.run { try FileReader(path: path, thread: thread) }
    }

    private init(path: String, thread: WorkThread) throws(MediaError) {
        let subject = SafeText(path)
        descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw Self.error(subject, errno) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            let code = status.st_mode & S_IFMT == S_IFDIR ? EISDIR : EINVAL
            Glibc.close(descriptor)
            throw Self.error(subject, code)
        }
        size = Int64(status.st_size)
        self.thread = thread
        self.subject = subject
    }

    deinit { Glibc.close(descriptor) }

    var length: Int64? { size }
    var keptSeekTable: [UInt8] { [] }

    var report: LoadReport {
        var report = LoadReport()
        report.length = size
        if size > 0 { report.stored = ByteRangeSet(0..<size) }
        return report
    }

    func read(at offset: Int64, count: Int) async throws -> [UInt8] {
        try Task.checkCancellation()
        guard offset < size else { return [] }
        return try await thread.run { [self] in
            let wanted = Int(min(Int64(count), size - offset))
            var status: Int32 = 0
            let bytes = [UInt8](unsafeUninitializedCapacity: wanted) { buffer, filled in
                let received = pread(descriptor, buffer.baseAddress, wanted, off_t(offset))
                if received < 0 { status = errno }
                filled = max(0, received)
            }
            if status != 0 { throw Self.error(subject, status) }
            return bytes
        }
    }

    func isStored(_ range: ByteRange) -> Bool { true }

    // A local file needs no help: nothing is fetched ahead and nothing is kept.
    func allowReadAhead(bytesPerSecond: Double) {}
    func prefetch(_ range: ByteRange) {}
    func fill() {}
    func reject() async {}
    func keepSeekTable(_ table: [UInt8]) {}
    func keepTags(title: SafeText?, artist: SafeText?, duration: Duration?) {}
    func close() async {}

    private static func error(_ subject: SafeText, _ code: Int32) -> MediaError {
        switch code {
        case ENOENT, ENOTDIR: MediaError(.notFound, subject, "there is no such file; check the path")
        case EACCES, EPERM:
            MediaError(.unreadable, subject, "the file may not be read; check its permissions")
        case EISDIR: MediaError(.unreadable, subject, "is a folder, not a file")
        default:
            MediaError(.unreadable, subject, SafeText("cannot be read (\(String(cString: strerror(code))))"))
        }
    }
}
