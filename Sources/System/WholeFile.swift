import CSystem
package import Glibc

/// Reading and replacing whole files.
package enum WholeFile {
    /// Reads from the descriptor's own offset up to the end, but at most `limit` bytes.
    ///
    /// To detect a file that is too long, pass one byte more than allowed.
    package static func read(_ descriptor: CInt, limit: Int) throws(SystemError) -> [UInt8] {
        // A file of known size is read in one piece, whose spare byte also detects the end; a pipe is read in
        // several.
        var status = stat()
        let size = fstat(descriptor, &status) == 0 ? Int(clamping: status.st_size) : 0
        var wanted = max(256 * 1024, size < limit ? size + 1 : limit)
        var bytes: [UInt8] = []
        while bytes.count < limit {
            wanted = min(wanted, limit - bytes.count)
            var failure: SystemError?
            let piece = [UInt8](unsafeUninitializedCapacity: wanted) { buffer, count in
                (count, failure) = fill(buffer, from: descriptor)
            }
            if let failure { throw failure }
            if bytes.isEmpty { bytes = piece } else { bytes += piece }
            guard piece.count == wanted else { break }
        }
        return bytes
    }

    /// Reads until `buffer` is full or the end is reached; returns the number of bytes, and the error if a
    /// read failed.
    package static func fill(
        _ buffer: UnsafeMutableBufferPointer<UInt8>,
        from descriptor: CInt
    ) -> (count: Int, failure: SystemError?) {
        var count = 0
        while count < buffer.count {
            let got = retryingInterrupted {
                Glibc.read(descriptor, buffer.baseAddress.map { $0 + count }, buffer.count - count)
            }
            guard got >= 0 else { return (count, SystemError("read the file")) }
            guard got > 0 else { break }
            count += got
        }
        return (count, nil)
    }

    /// Writes all of `bytes`; waits if `descriptor` takes none now, because another program that shares it
    /// has made it non-blocking.
    package static func write(_ bytes: some Collection<UInt8>, to descriptor: CInt) throws(SystemError) {
        var failure: SystemError?
        let write = { (buffer: UnsafeBufferPointer<UInt8>) in
            var done = 0
            while done < buffer.count {
                let count = retryingInterrupted {
                    Glibc.write(descriptor, buffer.baseAddress.map { $0 + done }, buffer.count - done)
                }
                if count < 0, errno == EAGAIN {
                    Poll.wait(writing: [descriptor])
                    continue
                }
                guard count > 0 else {
                    failure = SystemError("write the file", number: count == 0 ? ENOSPC : errno)
                    return
                }
                done += count
            }
        }
        if bytes.withContiguousStorageIfAvailable(write) == nil {
            Array(bytes).withUnsafeBufferPointer(write)
        }
        if let failure { throw failure }
    }

    /// Makes `bytes` the content of the file at `path`: after a crash or a power cut the file has its old
    /// content or the new one, never a part.
    ///
    /// Waits for the disk. The bytes go to `draft` first, on the same file system; the default is a file
    /// beside `path` whose name has the process ID. The caller ensures that only one writer at a time uses a
    /// draft. `mode` is subject to the umask.
    package static func replace(
        _ path: String,
        with bytes: some Collection<UInt8>,
        mode: mode_t,
        draft: String? = nil
    ) throws(SystemError) {
        let draft = draft ?? "\(path).new-\(getpid())"
        let source = FileName.cString(draft)
        // A writer that was killed may have left a draft.
        unlink(source)
        let descriptor = try check(
            "make the file",
            open(source, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode)
        )
        do {
            try writeAndClose(bytes, to: descriptor)
            try check("replace the file", rename(source, FileName.cString(path)))
        } catch {
            unlink(source)
            throw error
        }
        // The new content is on the disk by now. If this flush fails, a power cut could only restore the
        // complete old file.
        try? flushFolder(of: path)
    }

    /// Flushes the folder of `path`, and with it the names of its files, to the disk. Flushing a file does
    /// not do that.
    package static func flushFolder(of path: String) throws(SystemError) {
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        let opened = open(FileName.cString(folder), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        let descriptor = try check("open the folder", opened)
        defer { close(descriptor) }
        try check("flush the folder", fsync(descriptor))
    }

    private static func writeAndClose(
        _ bytes: some Collection<UInt8>,
        to descriptor: CInt
    ) throws(SystemError) {
        do throws(SystemError) {
            try write(bytes, to: descriptor)
            try check("flush the file", fsync(descriptor))
        } catch {
            close(descriptor)
            throw error
        }
        // Network file systems may report a failed write only here.
        try check("close the file", close(descriptor))
    }
}
