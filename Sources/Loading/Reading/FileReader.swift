import Glibc
import Media
import System

/// Reads a local file.
final class FileReader: ResourceReader {
    private let descriptor: Int32
    private let size: Int64
    private let subject: SafeText
    private let ahead: ReadAhead

    /// Opens `path` on `thread`, which then performs all reads.
    static func open(_ path: String, on thread: WorkThread) async throws -> FileReader {
        try await thread.run { try FileReader(path: path, thread: thread) }
    }

    private init(path: String, thread: WorkThread) throws(MediaError) {
        let subject = SafeText(path)
        descriptor = Glibc.open(FileName.cString(path), O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw Self.error(subject, errno) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            let code = status.st_mode & S_IFMT == S_IFDIR ? EISDIR : EINVAL
            Glibc.close(descriptor)
            throw Self.error(subject, code)
        }
        size = Int64(status.st_size)
        self.subject = subject
        ahead = ReadAhead(on: thread)
    }

    deinit { Glibc.close(descriptor) }

    var length: Int64? { size }

    var report: LoadReport {
        var report = LoadReport()
        report.length = size
        if size > 0 { report.stored = ByteRangeSet(0..<size) }
        return report
    }

    func read(at offset: Int64, count: Int) async throws -> [UInt8] {
        try Task.checkCancellation()
        guard offset < size else { return [] }
        return try await ahead.bytes(at: offset, count: count) { [self] offset, count, _ in
            try readNow(at: offset, count: count)
        }
    }

    private func readNow(at offset: Int64, count: Int) throws(MediaError) -> [UInt8] {
        let wanted = Int(min(Int64(count), size - offset))
        var status: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: wanted) { buffer, filled in
            let received = retryingInterrupted {
                pread(descriptor, buffer.baseAddress, wanted, off_t(offset))
            }
            if received < 0 { status = errno }
            filled = max(0, received)
        }
        if status != 0 { throw Self.error(subject, status) }
        guard !bytes.isEmpty else {
            throw MediaError(.cut, subject, "the file was cut short while it was read; play it again")
        }
        return bytes
    }

    func isStored(_ range: ByteRange) -> Bool { true }

    // Does nothing: local files are neither downloaded nor cached.
    func allowReadAhead(bytesPerSecond: Double) {}
    func prefetch(_ range: ByteRange) {}
    func fill() {}
    func reject() async {}
    func store(_ value: [UInt8], as fact: DerivedFact) {}
    func stored(_ fact: DerivedFact) -> [UInt8] { [] }
    func store(_ facts: TrackFacts) {}
    func close() async {}

    private static func error(_ subject: SafeText, _ code: Int32) -> MediaError {
        switch code {
        case ENOENT, ENOTDIR: MediaError(.notFound, subject, "there is no such file; check the path")
        case EACCES, EPERM:
            MediaError(.unreadable, subject, "can't read: no permission; check the file's permissions")
        case EISDIR: MediaError(.unreadable, subject, "a folder, not a file")
        default:
            MediaError(.unreadable, subject, SafeText("can't read: \(SystemError.reason(code))"))
        }
    }
}
