import Cache
import Glibc
import Media
import System

struct CacheExporting {
    let command: CacheCommand

    func run(_ order: CacheRequest.ExportOrder) async throws -> ExitCode {
        let named = NamedEntries(command: command, name: "export")
        guard let entry = try await named.entry(order.source) else { return .nothingPlayed }
        // Checked first, so that no bytes of an incomplete track are written in vain.
        if !entry.isComplete, !order.takesPart {
            if let stream = entry.stream {
                saySegments(of: stream, of: entry, isWritten: false)
                return .someFailed
            }
            sayGaps(entry.length.map { entry.stored.gaps(in: 0..<$0) } ?? [], of: entry, isWritten: false)
            return .someFailed
        }
        let file: ExportFile
        do throws(MediaError) {
            file = try ExportFile(path: order.path, replaces: order.replaces)
        } catch {
            command.console.say(error.safeText)
            return .nothingPlayed
        }
        if let stream = entry.stream { return try await export(stream, of: entry, into: file) }
        guard let report = try await command.administration.export(entry.id, into: file.descriptor) else {
            command.console.say(entry.url + ": no longer cached")
            return .nothingPlayed
        }
        try Task.checkCancellation()
        let isWritten = report.isWhole || order.takesPart
        do throws(MediaError) {
            if isWritten { try file.publish() }
        } catch {
            command.console.say(error.safeText)
            return .nothingPlayed
        }
        if report.isWhole { return .success }
        sayGaps(report.gaps, of: entry, isWritten: isWritten)
        return .someFailed
    }

    /// Writes the cached segments of `stream` as one file.
    private func export(_ stream: StreamContents, of entry: CachedItem, into file: ExportFile) async throws
        -> ExitCode
    {
        do {
            try await command.supply.exportStream(entry) { bytes in
                do throws(SystemError) {
                    try WholeFile.write(bytes, to: file.descriptor)
                } catch {
                    throw MediaError(.unreadable, "exported file", SafeText("\(error)"))
                }
            }
            try Task.checkCancellation()
            try file.publish()
        } catch let error as MediaError {
            command.console.say(error.safeText)
            return error.code == .unreadable ? .nothingPlayed : .someFailed
        }
        if entry.isComplete { return .success }
        saySegments(of: stream, of: entry, isWritten: true)
        return .someFailed
    }

    private func saySegments(of stream: StreamContents, of entry: CachedItem, isWritten: Bool) {
        let cached = stream.segments.reduce(0) { $0 + $1.count }
        let missing = "\(stream.count - cached) of \(stream.count) segments are missing"
        let end =
            isWritten ? "the file lacks them" : "nothing was written; play it, download it, or use --partial"
        command.console.say(entry.url + ": incomplete: " + SafeText(missing) + "; " + SafeText(end))
    }

    private func sayGaps(_ gaps: [ByteRange], of entry: CachedItem, isWritten: Bool) {
        let ranges = gaps.map { "\($0.lowerBound)-\($0.upperBound)" }.joined(separator: ", ")
        let missing =
            ranges.isEmpty
            ? "its length is not known"
            : "\(SizeText.text(gaps.reduce(0) { $0 + Int64($1.count) })) are missing, bytes \(ranges)"
        let end =
            isWritten
            ? "the file has zeros there" : "nothing was written; play it, download it, or use --partial"
        command.console.say(entry.url + ": incomplete: " + SafeText(missing) + "; " + SafeText(end))
    }
}

/// The target file of an export, which appears complete or not at all.
///
/// The bytes go to a draft beside it, which is removed with the object.
final class ExportFile: Sendable {
    /// Open for reading and writing, and seekable.
    let descriptor: Int32
    private let path: String?
    private let draft: String
    private let replaces: Bool

    /// Opens the draft; `path` is `nil` for standard output.
    ///
    /// Throws `MediaError` if there is a file at `path` that may not be replaced, or if no draft can be
    /// created beside it.
    init(path: String?, replaces: Bool) throws(MediaError) {
        self.path = path
        self.replaces = replaces
        if let path { try Self.checkTarget(path, replaces: replaces) }
        let place = path ?? Self.temporaryFolder + "/"
        let folder = place.lastIndex(of: "/").map { place[...$0] } ?? ""
        draft = folder + ".reprise-export-\(getpid())-\(UInt32.random(in: 0 ... .max))"
        // The draft is private in the shared folder for temporary files; beside its target, the umask
        // decides.
        let mode: mode_t = path == nil ? 0o600 : 0o666
        descriptor = open(FileName.cString(draft), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw Self.failure(SafeText(path ?? Self.temporaryFolder), errno) }
        // For standard output the draft needs no name.
        if path == nil { unlink(FileName.cString(draft)) }
    }

    deinit {
        close(descriptor)
        // After the draft was renamed, no file has its name.
        if path != nil { unlink(FileName.cString(draft)) }
    }

    /// Gives the file its name, or copies it to standard output. Throws `MediaError`.
    func publish() throws(MediaError) {
        guard let path else { return try copyToOutput() }
        guard fsync(descriptor) == 0 else { throw Self.failure(SafeText(path), errno) }
        let source = FileName.cString(draft)
        let target = FileName.cString(path)
        // Unlike `rename`, `link` never replaces a file that was created in the meantime.
        if !replaces, link(source, target) == 0 { return }
        // Some file systems, such as those of memory sticks, have no hard links; for them, check first.
        if !replaces, errno == EEXIST || access(target, F_OK) == 0 { throw Self.taken(SafeText(path)) }
        guard rename(source, target) == 0 else { throw Self.failure(SafeText(path), errno) }
    }

    private func copyToOutput() throws(MediaError) {
        guard lseek(descriptor, 0, SEEK_SET) == 0 else { throw Self.failure("standard output", errno) }
        do throws(SystemError) {
            while case let bytes = try WholeFile.read(descriptor, limit: 256 * 1024), !bytes.isEmpty {
                try WholeFile.write(bytes, to: STDOUT_FILENO)
            }
        } catch {
            throw Self.failure("standard output", error.number)
        }
    }

    private static func checkTarget(_ path: String, replaces: Bool) throws(MediaError) {
        var status = stat()
        guard stat(FileName.cString(path), &status) == 0 else { return }
        let subject = SafeText(path)
        switch status.st_mode & S_IFMT {
        case S_IFREG: if !replaces { throw taken(subject) }
        case S_IFDIR: throw MediaError(.unreadable, subject, "a folder; name a file in it")
        default:
            throw MediaError(.unreadable, subject, "not a regular file; - writes to standard output")
        }
    }

    private static var temporaryFolder: String {
        let named = BasePaths.variable("TMPDIR") ?? ""
        return named.isEmpty ? "/tmp" : named
    }

    private static func taken(_ subject: SafeText) -> MediaError {
        MediaError(.unreadable, subject, "exists already; choose another name, or use --force to replace it")
    }

    private static func failure(_ subject: SafeText, _ code: Int32) -> MediaError {
        MediaError(.unreadable, subject, SafeText("can't write: \(SystemError.reason(code))"))
    }
}
