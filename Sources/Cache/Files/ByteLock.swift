import Glibc

/// Open-file-description locks on single bytes of a file (fcntl(2), F_OFD_SETLK).
///
/// They exclude other openers in this process too, are freed by the kernel when their holder dies, and have
/// nothing to do with `flock` on local disks. The byte need not be there. None of the calls waits.
enum ByteLock {
    /// Takes the lock of the byte at `offset`; the descriptor must be open for writing. Says whether it did,
    /// and leaves the cause in `errno`.
    static func take(_ offset: Int64, of descriptor: CInt) -> Bool {
        set(CInt(F_WRLCK), offset, of: descriptor) == 0
    }

    /// Lets go of it.
    static func release(_ offset: Int64, of descriptor: CInt) {
        _ = set(CInt(F_UNLCK), offset, of: descriptor)
    }

    /// Whether `errno` says that somebody else has it, or that a signal came.
    static var isTaken: Bool { [EAGAIN, EACCES, EINTR].contains(errno) }

    private static func set(_ kind: CInt, _ offset: Int64, of descriptor: CInt) -> CInt {
        var lock = flock()
        lock.l_type = CShort(kind)
        lock.l_whence = CShort(SEEK_SET)
        lock.l_start = off_t(offset)
        lock.l_len = 1
        // F_OFD_SETLK (linux/fcntl.h), which Glibc shows only to those who ask for GNU extensions.
        let setLock: CInt = 37
        return withUnsafeMutablePointer(to: &lock) { fcntl(descriptor, setLock, UnsafeMutableRawPointer($0)) }
    }
}
