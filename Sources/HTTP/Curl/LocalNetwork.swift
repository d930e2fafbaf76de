internal import Glibc

/// This machine's own network. It is checked after a request has failed, to distinguish a fault of this
/// machine from one of the server. Tests replace the checks.
package struct LocalNetwork: Sendable {
    /// Looks up the name of a host: 0 if it has an address, else the status of getaddrinfo(3). `EAI_AGAIN`
    /// means that no name server answers.
    ///
    /// libcurl has looked it up just before, but reports one code for all of these. Blocks until there is an
    /// answer.
    package var nameStatus: @Sendable (_ host: String) -> Int32 = { host in
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        defer { if let found { freeaddrinfo(found) } }
        return getaddrinfo(host, nil, &hints, &found)
    }

    /// `true` if this machine has a default route, over IPv4 or IPv6.
    package var hasRoute: @Sendable () -> Bool = {
        // Connecting a datagram socket sends nothing, but the kernel looks for a route. These addresses are
        // for documentation (RFC 5737, RFC 3849), so only a default route leads there.
        [(AF_INET, "192.0.2.1"), (AF_INET6, "2001:db8::1")].contains { family, address in
            var hints = addrinfo()
            hints.ai_family = family
            hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV
            hints.ai_socktype = Int32(SOCK_DGRAM.rawValue)
            var found: UnsafeMutablePointer<addrinfo>?
            defer { if let found { freeaddrinfo(found) } }
            guard getaddrinfo(address, "9", &hints, &found) == 0, let target = found?.pointee else {
                return false
            }
            let descriptor = socket(family, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            guard descriptor >= 0 else { return false }
            defer { close(descriptor) }
            return connect(descriptor, target.ai_addr, target.ai_addrlen) == 0
        }
    }

    package init() {}
}
