internal import CCurl
internal import Glibc
internal import Media

/// The one place where libcurl's status becomes an error (libcurl-errors(3)).
enum CurlFailure {
    /// What is known of a failed transfer besides libcurl's status.
    struct Circumstances: Equatable {
        /// `errno` of the connection, or 0.
        var systemError: Int32 = 0
        /// What a proxy answered to the wish for a tunnel, or 0.
        var tunnelStatus = 0
        /// Whether the environment names a proxy.
        var hasProxy = false
    }

    /// The error for `code`; nil when there is none.
    static func error(_ code: CURLcode, _ circumstances: Circumstances, request: WireRequest) -> MediaError? {
        guard code != CURLE_OK else { return nil }
        let (kind, cause) =
            proxyFault(code, circumstances) ?? describe(code, circumstances, host: request.host)
        return MediaError(kind, request.subject, cause)
    }

    /// What only a proxy can be at fault for. Its name is not told, since its URL may hold a password.
    private static func proxyFault(
        _ code: CURLcode,
        _ circumstances: Circumstances
    ) -> (MediaError.Code, SafeText)? {
        switch code {
        case CURLE_COULDNT_RESOLVE_PROXY:
            (.unknownHost, "the proxy's host cannot be found; check the proxy's name and the network")
        case CURLE_PROXY:
            (.badAnswer, "the proxy fails; check the proxy variables of the environment")
        case _ where circumstances.tunnelStatus == 407:
            (.httpStatus, "the proxy asks for a user name and password (407); put them into https_proxy")
        case _ where circumstances.tunnelStatus >= 300:
            (
                // A proxy that has a problem may be over it in a moment; one that refuses refuses again.
                circumstances.tunnelStatus >= 500 ? .badAnswer : .httpStatus,
                SafeText("the proxy makes no connection (\(circumstances.tunnelStatus)); check https_proxy")
            )
        default: nil
        }
    }

    private static func describe(
        _ code: CURLcode,
        _ circumstances: Circumstances,
        host: SafeText
    ) -> (MediaError.Code, SafeText) {
        // A proxy's socket is refused with the same status as the host's own.
        let place = circumstances.hasProxy ? host + ", or the proxy of the environment," : host
        return switch code {
        case CURLE_COULDNT_RESOLVE_HOST:
            (.unknownHost, "the host " + host + " cannot be found; check the name and the network")
        case CURLE_URL_MALFORMAT:
            (.badURL, "it is no address that can be asked for; check how it is written")
        case CURLE_COULDNT_CONNECT where circumstances.systemError == ECONNREFUSED:
            (.connectionRefused, place + " refuses the connection; check the port and that the server runs")
        case CURLE_COULDNT_CONNECT where [ENETUNREACH, ENETDOWN].contains(circumstances.systemError):
            (.networkUnreachable, "this machine has no way to " + place + "; check its network connection")
        case CURLE_COULDNT_CONNECT where circumstances.systemError == EHOSTUNREACH:
            (.connectionFailed, "no way leads to " + place + "; check that it is on, and the network")
        case CURLE_COULDNT_CONNECT:
            (.connectionFailed, place + " cannot be reached; check the network")
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR:
            (.tlsFailed, host + " shows a certificate that is not trusted; name its authority with --cacert")
        case CURLE_SSL_CACERT_BADFILE:
            (
                .tlsFailed,
                "the file of trusted certificates cannot be read; check --cacert and SSL_CERT_FILE"
            )
        case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER,
            CURLE_SSL_SHUTDOWN_FAILED, CURLE_SSL_CRL_BADFILE, CURLE_SSL_PINNEDPUBKEYNOTMATCH,
            CURLE_SSL_INVALIDCERTSTATUS:
            (.tlsFailed, host + " and this program find no encryption in common; check that it speaks https")
        case CURLE_OPERATION_TIMEDOUT:
            (.timedOut, "the server does not answer in time; check the network")
        case CURLE_GOT_NOTHING:
            (.cut, "the server closed the connection without an answer")
        case CURLE_PARTIAL_FILE, CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_HTTP2, CURLE_HTTP2_STREAM:
            (.cut, "the connection was cut before the end")
        case CURLE_BAD_CONTENT_ENCODING:
            (.decodingFailed, "the server sends it packed, and in a way that cannot be unpacked")
        // Of all that a request reads, only the file of user names can fail.
        case CURLE_READ_ERROR:
            (.unreadable, "the file of user names and passwords cannot be understood; check ~/.netrc")
        // The write callback only refuses bytes of a live transfer when they came without a head.
        case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY, CURLE_WRITE_ERROR:
            (.badAnswer, place + " does not answer as a web server does; check the port")
        default:
            (.badAnswer, "the transfer failed (" + text(of: code) + "); try it again")
        }
    }

    private static func text(of code: CURLcode) -> SafeText {
        guard let text = ccurl_easy_strerror(code) else { return "unknown reason" }
        return SafeText(String(cString: text))
    }
}
