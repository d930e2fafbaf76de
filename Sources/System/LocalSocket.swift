import CSystem
package import Glibc

/// A stream socket of this machine (unix(7)), by which processes of one user talk.
package enum LocalSocket {
    /// Makes a socket at `path` and listens there, without waiting in `accept`. Only the user may connect.
    /// The file must not exist.
    package static func listen(at path: String) throws(SystemError) -> Int32 {
        let descriptor = try make()
        do throws(SystemError) {
            let address = try address(of: path)
            try check("make the socket", withSocketAddress(address) { bind(descriptor, $0, $1) })
            // Nobody can connect before `listen`.
            try check("protect the socket", chmod(FileName.cString(path), 0o600))
            try check("listen", Glibc.listen(descriptor, SOMAXCONN))
        } catch {
            close(descriptor)
            throw error
        }
        return descriptor
    }

    /// Connects to the socket at `path`, without waiting. Throws EAGAIN if somebody listens who is busy.
    package static func connect(to path: String) throws(SystemError) -> Int32 {
        let descriptor = try make()
        do throws(SystemError) {
            let address = try address(of: path)
            try check("connect", withSocketAddress(address) { Glibc.connect(descriptor, $0, $1) })
        } catch {
            close(descriptor)
            throw error
        }
        return descriptor
    }

    /// Takes the next connection, whose descriptor does not block either; throws EAGAIN if there is none.
    package static func accept(_ listener: Int32) throws(SystemError) -> Int32 {
        let descriptor = try check("accept a connection", Glibc.accept(listener, nil, nil))
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        return descriptor
    }

    /// The user and the process at the other end; `nil` if unknown.
    package static func peer(of descriptor: Int32) -> (user: uid_t, process: pid_t)? {
        var user: UInt32 = 0
        var process: Int32 = 0
        return csystem_peer(descriptor, &user, &process) == 0 ? (user, process) : nil
    }

    private static func make() throws(SystemError) -> Int32 {
        let descriptor = try check("open a socket", socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0))
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        return descriptor
    }

    private static func address(of path: String) throws(SystemError) -> sockaddr_un {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = FileName.cString(path)
        let fits = withUnsafeMutableBytes(of: &address.sun_path) { room in
            guard bytes.count <= room.count else { return false }
            bytes.withUnsafeBytes { room.copyMemory(from: $0) }
            return true
        }
        guard fits else { throw SystemError("use the path of the socket", number: ENAMETOOLONG) }
        return address
    }

    private static func withSocketAddress(
        _ address: sockaddr_un,
        _ call: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                call($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}
