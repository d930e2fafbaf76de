internal import Glibc

/// Asks the system for a host's addresses.
enum NameLookup {
    /// The addresses of `host` in the order of preference, as libcurl would have them; empty when there are none.
    ///
    /// Blocks for as long as the name servers take, which can be minutes.
    static func addresses(of host: String, port: UInt16) -> [SocketAddress] {
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        hints.ai_protocol = Int32(IPPROTO_TCP)
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, String(port), &hints, &list) == 0 else { return [] }
        defer { freeaddrinfo(list) }
        var addresses: [SocketAddress] = []
        var next = list
        while let entry = next?.pointee {
            if let address = entry.ai_addr,
                let address = SocketAddress(UnsafeRawPointer(address), length: Int(entry.ai_addrlen))
            {
                addresses.append(address)
            }
            next = entry.ai_next
        }
        return addresses
    }
}
