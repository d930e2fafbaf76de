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
            (CURLE_WEIRD_SERVER_REPLY, Circumstances(), .badAnswer, "of a.example is not valid HTTP"),
            (CURLE_OUT_OF_MEMORY, Circumstances(), .decodingFailed, "unpacks to too much"),
            (CURLE_PROXY, Circumstances(), .badAnswer, "proxy"),
            (CURLE_URL_MALFORMAT, Circumstances(), .badURL, "valid URL"),
            // The system's error tells the host from the network.
            (CURLE_COULDNT_CONNECT, Circumstances(), .connectionFailed, "can't connect to a.example"),
            (CURLE_COULDNT_CONNECT, refused, .connectionRefused, "refused by a.example;"),
            (
                CURLE_COULDNT_CONNECT, Circumstances(systemError: ENETUNREACH, hasRoute: false),
                .networkUnreachable, "no network route to a.example"
            ),
            (
                CURLE_COULDNT_CONNECT, Circumstances(systemError: ENETDOWN, hasRoute: false),
                .networkUnreachable, "no network route to a.example"
            ),
            (
                CURLE_COULDNT_CONNECT, Circumstances(systemError: EHOSTUNREACH, hasRoute: false),
                .networkUnreachable, "no network route to a.example"
            ),
            // Only the host's other address has no route, as on machines without IPv6.
            (
                CURLE_COULDNT_CONNECT, Circumstances(systemError: ENETUNREACH), .connectionFailed,
                "can't connect to a.example"
            ),
            (
                CURLE_COULDNT_RESOLVE_HOST, Circumstances(nameStatus: EAI_AGAIN), .networkUnreachable,
                "can't look up host a.example; check this machine's network"
            ),
            (
                CURLE_COULDNT_RESOLVE_HOST, Circumstances(hasRoute: false), .networkUnreachable,
                "can't look up host a.example; check this machine's network"
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
        let wire = WireRequest(request, over: Route(target: url), configuration: HTTPConfiguration())
        let error = CurlFailure.error(code, circumstances, request: wire)
        #expect(error.code == expected)
        #expect(error.cause.string.contains(part))
        #expect(error.subject == "http://a.example/a.mp3?…")
    }

    @Test(
        arguments: [
            (CURLE_COULDNT_CONNECT, refused, true), (CURLE_COULDNT_CONNECT, refusedBehindProxy, false),
            (CURLE_COULDNT_RESOLVE_HOST, Circumstances(), true),
            (CURLE_COULDNT_RESOLVE_HOST, Circumstances(nameStatus: EAI_AGAIN), false),
            (CURLE_COULDNT_RESOLVE_HOST, Circumstances(hasRoute: false), false),
            (CURLE_COULDNT_CONNECT, Circumstances(systemError: EHOSTUNREACH), true),
            (CURLE_COULDNT_CONNECT, Circumstances(systemError: EHOSTUNREACH, hasRoute: false), false),
            (CURLE_COULDNT_CONNECT, Circumstances(systemError: ENETUNREACH), true),
            (CURLE_COULDNT_CONNECT, Circumstances(systemError: ENETUNREACH, hasRoute: false), false),
            (CURLE_COULDNT_CONNECT, Circumstances(systemError: ETIMEDOUT), false),
            (CURLE_OPERATION_TIMEDOUT, Circumstances(), false), (CURLE_GOT_NOTHING, Circumstances(), false),
            (CURLE_SSL_CONNECT_ERROR, Circumstances(), false),
        ] as [(CURLcode, CurlFailure.Circumstances, Bool)]
    )
    func `only refusals, unknown names and missing routes rule out the server that was asked`(
        code: CURLcode,
        circumstances: CurlFailure.Circumstances,
        isDead: Bool
    ) throws {
        let url = try #require(WebURL("http://a.example/"))
        let target = try #require(WebURL("http://b.example:81/"))
        let wire = WireRequest(
            RangeRequest(url: url, range: nil),
            over: Route(target: target),
            configuration: HTTPConfiguration()
        )
        let error = CurlFailure.error(code, circumstances, request: wire)
        #expect(error.deadOrigin == (isDead ? "http://b.example:81" : nil))
    }
}
