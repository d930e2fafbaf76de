import CCurl
import Glibc
@testable import HTTP
import Media
import Testing

struct CurlFailureTests {
    private typealias Circumstances = CurlFailure.Circumstances

    private static let refused = Circumstances(systemError: ECONNREFUSED)
    private static let refusedBehindProxy = Circumstances(systemError: ECONNREFUSED, hasProxy: true)

    @Test(
        arguments: [
            (CURLE_COULDNT_RESOLVE_HOST, Circumstances(), .unknownHost, "a.example"),
            (CURLE_COULDNT_RESOLVE_PROXY, Circumstances(), .unknownHost, "proxy"),
            (CURLE_PEER_FAILED_VERIFICATION, Circumstances(), .tlsFailed, "--cacert"),
            (CURLE_SSL_CACERT_BADFILE, Circumstances(), .tlsFailed, "SSL_CERT_FILE"),
            (CURLE_SSL_CONNECT_ERROR, Circumstances(), .tlsFailed, "encryption with a.example"),
            (CURLE_GOT_NOTHING, Circumstances(), .cut, "without an answer"),
            (CURLE_PARTIAL_FILE, Circumstances(), .cut, "cut"),
            (CURLE_HTTP2_STREAM, Circumstances(), .cut, "cut"),
            (CURLE_SEND_ERROR, Circumstances(), .cut, "cut"),
            (CURLE_OPERATION_TIMEDOUT, Circumstances(), .timedOut, "in time"),
            (CURLE_BAD_CONTENT_ENCODING, Circumstances(), .decodingFailed, "content coding"),
            (CURLE_READ_ERROR, Circumstances(), .unreadable, "~/.netrc"),
            (CURLE_WEIRD_SERVER_REPLY, Circumstances(), .badAnswer, "a.example doesn't speak HTTP"),
            (CURLE_PROXY, Circumstances(), .badAnswer, "proxy"),
            (CURLE_URL_MALFORMAT, Circumstances(), .badURL, "valid URL"),
            // The system's error tells the host from the network.
            (CURLE_COULDNT_CONNECT, Circumstances(), .connectionFailed, "can't connect to a.example"),
            (CURLE_COULDNT_CONNECT, refused, .connectionRefused, "refused by a.example;"),
            (
                CURLE_COULDNT_CONNECT, Circumstances(systemError: ENETUNREACH), .networkUnreachable,
                "no network route to a.example"
            ),
            (
                CURLE_COULDNT_CONNECT, Circumstances(systemError: ENETDOWN), .networkUnreachable,
                "no network route to a.example"
            ),
            (
                CURLE_COULDNT_CONNECT, Circumstances(systemError: EHOSTUNREACH), .connectionFailed,
                "no route to a.example"
            ),
            (
                CURLE_COULDNT_CONNECT, Circumstances(systemError: ETIMEDOUT), .connectionFailed,
                "can't connect to a.example"
            ),
            // A proxy is named only if it may be at fault.
            (
                CURLE_COULDNT_CONNECT, refusedBehindProxy, .connectionRefused,
                "refused by a.example or the environment's proxy"
            ),
            (
                CURLE_COULDNT_CONNECT, Circumstances(tunnelStatus: 407, hasProxy: true), .httpStatus,
                "password (407)"
            ),
            (
                CURLE_RECV_ERROR, Circumstances(tunnelStatus: 407, hasProxy: true), .httpStatus,
                "password (407)"
            ),
            (CURLE_COULDNT_CONNECT, Circumstances(tunnelStatus: 403), .httpStatus, "(403)"),
            (CURLE_COULDNT_CONNECT, Circumstances(tunnelStatus: 502), .badAnswer, "(502)"),
            (CURLE_PEER_FAILED_VERIFICATION, Circumstances(tunnelStatus: 200), .tlsFailed, "--cacert"),
        ] as [(CURLcode, CurlFailure.Circumstances, MediaError.Code, String)]
    )
    func `each failure of libcurl has a code, and a message that names the cause`(
        code: CURLcode,
        circumstances: CurlFailure.Circumstances,
        expected: MediaError.Code,
        part: String
    ) throws {
        let url = try #require(WebURL("http://me:secret@a.example/a.mp3?token=secret"))
        let request = RangeRequest(url: url, range: nil)
        let wire = WireRequest(request, to: url, configuration: HTTPConfiguration())
        let error = CurlFailure.error(code, circumstances, request: wire)
        #expect(error.code == expected)
        #expect(error.cause.string.contains(part))
        #expect(error.subject == "http://a.example/a.mp3?…")
    }
}
