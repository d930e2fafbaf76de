package import Glibc
package import System

/// The folder of the control sockets, `$XDG_RUNTIME_DIR/reprise`: `socket` is that of the first player, and
/// `socket.PID` those of others.
package struct SocketFolder: Sendable {
    /// A socket that a player listens to.
    package struct Claim: Sendable {
        package let listener: Int32
        let path: String
        fileprivate let file: FileIdentity
    }

    fileprivate struct FileIdentity: Sendable, Equatable {
        var device: dev_t
        var number: ino_t
    }

    private static let first = "socket"
    private let runtimeFolder: String
    private let path: String

    /// `runtimeFolder` is the value of XDG_RUNTIME_DIR, an absolute path.
    package init(runtimeFolder: String) {
        self.runtimeFolder = runtimeFolder
        path = runtimeFolder + "/reprise"
    }

    /// Makes a socket and listens to it: the first one, unless a player listens there. Removes those of
    /// players that were killed. Waits for other players that do the same.
    package func claim() throws(SystemError) -> Claim {
        try check("make the folder of the socket", mkdirIfMissing())
        return try locked { () throws(SystemError) in
            for name in names where !isInUse(name) { unlink(FileName.cString(file(name))) }
            let name = isInUse(Self.first) ? Self.first + ".\(getpid())" : Self.first
            let path = file(name)
            let listener = try LocalSocket.listen(at: path)
            guard let identity = Self.identity(of: path) else {
                close(listener)
                throw SystemError("find the socket")
            }
            return Claim(listener: listener, path: path, file: identity)
        }
    }

    /// Ends the listening, and removes the socket unless another one has taken its place.
    package func release(_ claim: Claim) {
        try? locked { () throws(SystemError) in
            if Self.identity(of: claim.path) == claim.file { unlink(FileName.cString(claim.path)) }
        }
        close(claim.listener)
    }

    /// Connects to the player with this process number, or with `nil` to the first one that listens. The
    /// descriptor does not block. `nil` if there is no such player.
    package func connect(to process: pid_t? = nil) -> Int32? {
        for name in names {
            let descriptor: Int32
            do throws(SystemError) {
                descriptor = try LocalSocket.connect(to: file(name))
            } catch {
                // A first player that is too busy to answer is still the one that is meant.
                guard process != nil || [ECONNREFUSED, ENOENT].contains(error.number) else { return nil }
                continue
            }
            if let peer = LocalSocket.peer(of: descriptor), peer.user == getuid(),
                process == nil || peer.process == process
            {
                return descriptor
            }
            close(descriptor)
        }
        return nil
    }

    private func file(_ name: String) -> String { path + "/" + name }

    /// The names of all sockets, that of the first player first, then by process number.
    private var names: [String] {
        guard let folder = opendir(FileName.cString(path)) else { return [] }
        defer { closedir(folder) }
        var numbers: [Int32] = []
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { FileName.text($0) }
            }
            guard name.hasPrefix(Self.first + "."), let number = Int32(name.dropFirst(Self.first.count + 1))
            else { continue }
            numbers.append(number)
        }
        return [Self.first] + numbers.sorted().map { "\(Self.first).\($0)" }
    }

    /// `true` if a player listens, even one that is too busy to answer.
    private func isInUse(_ name: String) -> Bool {
        do throws(SystemError) {
            close(try LocalSocket.connect(to: file(name)))
            return true
        } catch {
            return error.number != ECONNREFUSED && error.number != ENOENT
        }
    }

    /// Makes the folder; 0 if it belongs to the user, who alone may use it, and otherwise -1 with `errno`.
    private func mkdirIfMissing() -> Int32 {
        let folder = FileName.cString(path)
        // A folder that root made in another user's would keep that user out.
        var runtime = stat()
        guard stat(FileName.cString(runtimeFolder), &runtime) == 0 else { return -1 }
        guard runtime.st_uid == getuid() else {
            errno = EPERM
            return -1
        }
        guard mkdir(folder, 0o700) == 0 || errno == EEXIST else { return -1 }
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { return -1 }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_uid == getuid() else {
            errno = EPERM
            return -1
        }
        return fchmod(descriptor, 0o700)
    }

    /// Runs `body` while no other player changes the sockets.
    private func locked<Value>(_ body: () throws(SystemError) -> Value) throws(SystemError) -> Value {
        let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW
        let lock = try check("open the lock", open(FileName.cString(file("lock")), flags, 0o600))
        defer { close(lock) }
        try check("lock the sockets", retryingInterrupted { flock(lock, LOCK_EX) })
        return try body()
    }

    private static func identity(of path: String) -> FileIdentity? {
        var status = stat()
        guard lstat(FileName.cString(path), &status) == 0 else { return nil }
        return FileIdentity(device: status.st_dev, number: status.st_ino)
    }
}
