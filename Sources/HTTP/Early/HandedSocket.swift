internal import CCurl
internal import Glibc

/// What an early connection leaves to the transfer that waited for it.
struct Handover {
    /// Nil where no connection came of it, so that libcurl makes one.
    var socket: HandedSocket?
    /// What libcurl is told of the host; nil for nothing.
    var resolution: String?
}

/// A connected socket on its way to libcurl, which gets it once, and when it wants one to the very same address.
///
/// Not `Sendable`: it lives and dies on the curl thread.
final class HandedSocket {
    let address: SocketAddress
    /// Nil once libcurl has it, who closes it then.
    private var descriptor: Int32?
    /// Whether the socket that libcurl got last is this.
    private var isLast = false

    /// Takes `descriptor` over.
    init(_ descriptor: Int32, to address: SocketAddress) {
        self.descriptor = descriptor
        self.address = address
    }

    deinit { letGo() }

    /// Closes the socket where libcurl has not taken it: it has a connection by now, and the transfer may last.
    func letGo() {
        if let descriptor { close(descriptor) }
        descriptor = nil
    }

    /// libcurl wants a socket (CURLOPT_OPENSOCKETFUNCTION(3)).
    static let open: curl_opensocket_callback = { context, _, wanted in
        guard let context, let wanted else { return -1 }
        let length = Int(wanted.pointee.addrlen)
        let offset = MemoryLayout<curl_sockaddr>.offset(of: \.addr) ?? 0
        let address = SocketAddress(UnsafeRawPointer(wanted) + offset, length: length)
        if let descriptor = from(context).take(for: address) { return descriptor }
        return socket(
            wanted.pointee.family,
            wanted.pointee.socktype | Int32(SOCK_CLOEXEC.rawValue),
            wanted.pointee.protocol
        )
    }

    /// libcurl has set its options of the socket that it got last, and is about to connect it.
    ///
    /// libcurl 7.87 and 7.88 call `connect` all the same, and fail when it says that this is done. The first `connect`
    /// after the one that went on in the background returns 0 on Linux, so nobody may call it before them (tried).
    static let option: curl_sockopt_callback = { context, _, _ in
        guard let context, from(context).isLast else { return Int32(CURL_SOCKOPT_OK) }
        return Int32(CURL_SOCKOPT_ALREADY_CONNECTED)
    }

    private static func from(_ pointer: UnsafeMutableRawPointer) -> HandedSocket {
        // Unretained: `EasyHandle` keeps the socket for as long as libcurl may call.
        Unmanaged<HandedSocket>.fromOpaque(pointer).takeUnretainedValue()
    }

    private func take(for wanted: SocketAddress?) -> Int32? {
        isLast = wanted == address && descriptor != nil
        guard isLast else { return nil }
        defer { descriptor = nil }
        return descriptor
    }
}
