internal import CCurl
internal import Glibc
internal import Media

/// The one place where libcurl's status becomes an error (libcurl-errors(3)).
enum CurlFailure {
    /// The error for `code`; nil when there is none. `systemError` is `errno` of the connection, or 0.
    static func error(_ code: CURLcode, systemError: Int32, request: WireRequest) -> MediaError? {
        guard code != CURLE_OK else { return nil }
        let (kind, cause) = describe(code, systemError: systemError, host: request.host)
        return MediaError(kind, request.subject, cause)
    }

    private static func describe(
        _ code: CURLcode,
        systemError: Int32,
        host: SafeText
    ) -> (MediaError.Code, SafeText) {
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST:
            (.unknownHost, "the host " + host + " cannot be found; check the name and the network")
        case CURLE_COULDNT_RESOLVE_PROXY:
            (.unknownHost, "the proxy's host cannot be found; check the proxy's name and the network")
        case CURLE_URL_MALFORMAT:
            (.badURL, "it is no address that can be asked for; check how it is written")
        case CURLE_COULDNT_CONNECT where systemError == ECONNREFUSED:
            (.connectionRefused, host + " refuses the connection; check the port and that the server runs")
        case CURLE_COULDNT_CONNECT:
            (.connectionFailed, host + " cannot be reached; check the network")
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR:
            (.tlsFailed, host + " shows a certificate that is not trusted; name its authority with --cacert")
        case CURLE_SSL_CACERT_BADFILE:
            (.tlsFailed, "the file of trusted certificates cannot be read; check --cacert")
        case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER,
            CURLE_SSL_SHUTDOWN_FAILED, CURLE_SSL_CRL_BADFILE, CURLE_SSL_PINNEDPUBKEYNOTMATCH,
            CURLE_SSL_INVALIDCERTSTATUS:
            (.tlsFailed, host + " and this program find no encryption in common; check that it speaks https")
        case CURLE_OPERATION_TIMEDOUT:
            (.timedOut, "the server does not answer in time; check the network")
        case CURLE_GOT_NOTHING:
            (.cut, "the server closed the connection without an answer")
        case CURLE_PARTIAL_FILE, CURLE_RECV_ERROR, CURLE_HTTP2, CURLE_HTTP2_STREAM:
            (.cut, "the connection was cut before the end")
        // The write callback only refuses bytes of a live transfer when they came without a head.
        case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY, CURLE_WRITE_ERROR:
            (.connectionFailed, host + " does not answer as a web server does; check the port")
        default:
            (.connectionFailed, "the transfer failed (" + text(of: code) + ")")
        }
    }

    private static func text(of code: CURLcode) -> SafeText {
        guard let text = ccurl_easy_strerror(code) else { return "unknown reason" }
        return SafeText(String(cString: text))
    }
}
