internal import Media

/// Where a connection can be begun without libcurl, and come out as libcurl's own would.
struct EarlyTarget: Sendable {
    let url: WebURL
    let port: UInt16

    /// Nil where libcurl would not simply connect to what the system says of the host: with a proxy, and for
    /// names that it treats in its own way.
    init?(_ url: WebURL, configuration: HTTPConfiguration) {
        guard !configuration.hasProxy else { return nil }
        self.url = url
        port = UInt16(url.port ?? (url.scheme == "https" ? 443 : 80))
        guard address == nil else { return }
        let labels = url.host.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        // It answers for `localhost` itself, asks nobody about `.onion`, spells other scripts in IDNA and drops a dot
        // at the end.
        guard !["localhost", "onion"].contains(labels.last.map { String(Substring($0)) } ?? ""),
            labels.allSatisfy({ !$0.isEmpty && $0.allSatisfy(Self.isLetter) })
        else { return nil }
    }

    /// Where the host is an address itself.
    var address: SocketAddress? { SocketAddress(numeric: url.host, port: port) }

    /// Whether a connection made for this can carry `request`.
    func serves(_ request: WireRequest) -> Bool { WebURL(request.url)?.hasSameOrigin(as: url) ?? false }

    /// What libcurl is told of the host, so that it need not look for it again (CURLOPT_RESOLVE(3)), with `first` in
    /// front. Kept and forgotten like what it finds itself. Nil when there is nothing to tell.
    func resolution(_ addresses: [SocketAddress], first: SocketAddress?) -> String? {
        let order = (first.map { [$0] } ?? []) + addresses.filter { $0 != first }
        let texts = order.compactMap(\.text)
        guard address == nil, !texts.isEmpty else { return nil }
        return "+\(url.host):\(port):" + texts.joined(separator: ",")
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || byte == 0x2D || byte == 0x5F
    }
}
