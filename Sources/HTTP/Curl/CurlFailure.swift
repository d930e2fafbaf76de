internal import CCurl
internal import Glibc
internal import Media

/// Converts libcurl's status to an error (libcurl-errors(3)); the only place that does so.
enum CurlFailure {
    /// Facts about a failed transfer besides libcurl's status.
    struct Circumstances: Equatable {
        /// `errno` of the connection, or 0.
        var systemError: Int32 = 0
        /// The status of a proxy's response to the request for a tunnel, or 0.
        var tunnelStatus = 0
        /// `true` if the environment names a proxy.
        var hasProxy = false
        /// The status of looking up the host's name once more: 0, or an `EAI_` number of getaddrinfo(3).
        var nameStatus: Int32 = EAI_NONAME
        /// `true` if this machine has a route to other networks.
        var hasRoute = true
    }

    /// The error for `code`, which is not `CURLE_OK`.
    static func error(_ code: CURLcode, _ circumstances: Circumstances, request: WireRequest) -> MediaError {
        let (kind, cause) =
            proxyFault(code, circumstances) ?? describe(code, circumstances, request)
        var error = MediaError(kind, request.subject, cause)
        if isHostAtFault(kind, circumstances) { error.deadOrigin = request.origin }
        // A proxy's refusal of a tunnel is final.
        error.isLasting = lasting.contains(code) || kind == .httpStatus
        return error
    }

    /// Failures of the response itself, which another request would not change.
    private static let lasting = [
        CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY, CURLE_WRITE_ERROR, CURLE_OUT_OF_MEMORY,
    ]

    /// The `errno` values of a missing route. If this machine has a default route, the route to the host is
    /// missing.
    private static let unreachable = [EHOSTUNREACH, ENETUNREACH, ENETDOWN]

    /// `true` if the failure rules out the host. With a proxy, the proxy may have failed in its place.
    private static func isHostAtFault(_ kind: MediaError.Code, _ circumstances: Circumstances) -> Bool {
        guard !circumstances.hasProxy else { return false }
        return switch kind {
        case .connectionRefused: true
        // Other statuses are faults of the name server or of this machine.
        case .unknownHost: ![0, EAI_FAIL, EAI_MEMORY, EAI_SYSTEM].contains(circumstances.nameStatus)
        case .connectionFailed: unreachable.contains(circumstances.systemError)
        default: false
        }
    }

    /// The error for failures that only a proxy can have caused. The message does not show the proxy's URL,
    /// which may contain a password.
    private static func proxyFault(
        _ code: CURLcode,
        _ circumstances: Circumstances
    ) -> (MediaError.Code, SafeText)? {
        switch code {
        case CURLE_COULDNT_RESOLVE_PROXY:
            (.unknownHost, "can't find the proxy's host; check its name and the network")
        case CURLE_PROXY:
            (.badAnswer, "the proxy failed; check the proxy variables of the environment")
        case _ where circumstances.tunnelStatus == 407:
            (.httpStatus, "the proxy asks for a user name and password (407); put them into https_proxy")
        case _ where circumstances.tunnelStatus >= 300:
            (
                // An error of the proxy itself (5xx) may be temporary.
                circumstances.tunnelStatus >= 500 ? .badAnswer : .httpStatus,
                SafeText(
                    "the proxy refused the connection (\(circumstances.tunnelStatus)); check https_proxy"
                )
            )
        default: nil
        }
    }

    /// The error if no name server answers in time.
    static func noLookUp(_ request: WireRequest) -> MediaError {
        error(CURLE_COULDNT_RESOLVE_HOST, Circumstances(nameStatus: EAI_AGAIN), request: request)
    }

    private static func describe(
        _ code: CURLcode,
        _ circumstances: Circumstances,
        _ request: WireRequest
    ) -> (MediaError.Code, SafeText) {
        let host = request.host
        // libcurl returns the same code whether the host or a proxy refused the connection.
        let place = circumstances.hasProxy ? request.place + " or the environment's proxy" : request.place
        return switch code {
        case CURLE_COULDNT_RESOLVE_HOST
        where !circumstances.hasRoute || circumstances.nameStatus == EAI_AGAIN:
            (
                .networkUnreachable,
                "can't look up host " + host + "; check this machine's network connection"
            )
        case CURLE_COULDNT_RESOLVE_HOST:
            (.unknownHost, "can't find host " + host + " – check the address")
        case CURLE_URL_MALFORMAT:
            (.badURL, "not a valid URL; check how it is written")
        case CURLE_COULDNT_CONNECT where circumstances.systemError == ECONNREFUSED:
            (
                .connectionRefused,
                "connection refused by " + place + "; check the port and that the server runs"
            )
        case CURLE_COULDNT_CONNECT
        where unreachable.contains(circumstances.systemError) && !circumstances.hasRoute:
            (
                .networkUnreachable,
                "no network route to " + place + "; check this machine's network connection"
            )
        case CURLE_COULDNT_CONNECT where circumstances.systemError == EHOSTUNREACH:
            (.connectionFailed, "no route to " + place + "; check that it is on, and the network")
        case CURLE_COULDNT_CONNECT:
            (.connectionFailed, "can't connect to " + place + "; check the network")
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR:
            (.tlsFailed, host + " has a certificate that is not trusted; name its authority with --cacert")
        case CURLE_SSL_CACERT_BADFILE:
            (.tlsFailed, "can't read the file of trusted certificates; check --cacert and SSL_CERT_FILE")
        case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER,
            CURLE_SSL_SHUTDOWN_FAILED, CURLE_SSL_CRL_BADFILE, CURLE_SSL_PINNEDPUBKEYNOTMATCH,
            CURLE_SSL_INVALIDCERTSTATUS:
            (.tlsFailed, "can't agree on encryption with " + host + "; check that the port speaks https")
        case CURLE_OPERATION_TIMEDOUT:
            (.timedOut, "the server didn't answer in time; check the network")
        case CURLE_GOT_NOTHING:
            (.cut, "the server closed the connection without an answer")
        case CURLE_PARTIAL_FILE, CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_HTTP2, CURLE_HTTP2_STREAM:
            (.cut, "the connection was cut before the end")
        case CURLE_BAD_CONTENT_ENCODING:
            (.decodingFailed, "can't decode the content coding that the server uses")
        // libcurl unpacks all that it has received, even while it is paused, and holds at most 64 MB of it.
        case CURLE_OUT_OF_MEMORY:
            (.decodingFailed, "can't decode the content coding: it unpacks to too much")
        // The netrc file is the only file that a request reads.
        case CURLE_READ_ERROR:
            (.unreadable, "can't parse the file of user names and passwords; check ~/.netrc")
        // CURLE_WRITE_ERROR: in a running transfer, the write callback refuses bytes only if they arrived
        // without a response header.
        case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY, CURLE_WRITE_ERROR:
            (.badAnswer, "the answer of " + place + " is not valid HTTP; check the port")
        default:
            (.badAnswer, "the transfer failed (" + text(of: code) + "); try again")
        }
    }

    private static func text(of code: CURLcode) -> SafeText {
        guard let text = curl_easy_strerror(code) else { return "unknown reason" }
        return SafeText(String(cString: text))
    }
}
