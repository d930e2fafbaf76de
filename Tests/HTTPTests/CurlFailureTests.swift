import CCurl
import Glibc
@testable import HTTP
import Media
import Testing

struct CurlFailureTests {
    private typealias Circumstances = CurlFailure.Circumstances

    @Test(
        arguments: [
            (CURLE_COULDNT_RESOLVE_HOST, .unknownHost, "a.example"),
            (CURLE_COULDNT_RESOLVE_PROXY, .unknownHost, "proxy"),
            (CURLE_COULDNT_CONNECT, .connectionFailed, "can't connect to a.example"),
            (CURLE_PEER_FAILED_VERIFICATION, .tlsFailed, "--cacert"),
            (CURLE_SSL_CACERT_BADFILE, .tlsFailed, "SSL_CERT_FILE"),
            (CURLE_SSL_CONNECT_ERROR, .tlsFailed, "encryption"),
            (CURLE_GOT_NOTHING, .cut, "without an answer"),
            (CURLE_PARTIAL_FILE, .cut, "cut"),
            (CURLE_HTTP2_STREAM, .cut, "cut"),
            (CURLE_BAD_CONTENT_ENCODING, .decodingFailed, "content coding"),
            (CURLE_READ_ERROR, .unreadable, "~/.netrc"),
            (CURLE_WEIRD_SERVER_REPLY, .badAnswer, "web server"),
            (CURLE_PROXY, .badAnswer, "proxy"),
            (CURLE_SEND_ERROR, .cut, "cut"),
            (CURLE_URL_MALFORMAT, .badURL, "valid URL"),
        ] as [(CURLcode, MediaError.Code, String)]
    )
    func `each of libcurl's failures has a word for the listener`(
        code: CURLcode,
        expected: MediaError.Code,
        part: String
    ) throws {
        let error = try #require(try error(code, Circumstances()))
        #expect(error.code == expected)
        #expect(error.cause.string.contains(part))
        #expect(error.subject == "http://a.example/a.mp3?…")
    }

    @Test func `success is no failure`() throws {
        #expect(try error(CURLE_OK, Circumstances(tunnelStatus: 407)) == nil)
    }

    @Test(
        arguments: [
            (ECONNREFUSED, .connectionRefused, "refused by a.example"),
            (ENETUNREACH, .networkUnreachable, "no network route to a.example"),
            (ENETDOWN, .networkUnreachable, "no network route to a.example"),
            (EHOSTUNREACH, .connectionFailed, "no route to a.example"),
            (ETIMEDOUT, .connectionFailed, "can't connect to a.example"),
        ] as [(Int32, MediaError.Code, String)]
    )
    func `what the system says of a connection tells the host from the network`(
        number: Int32,
        expected: MediaError.Code,
        part: String
    ) throws {
        let error = try #require(try error(CURLE_COULDNT_CONNECT, Circumstances(systemError: number)))
        #expect(error.code == expected)
        #expect(error.cause.string.contains(part))
    }

    @Test func `a proxy is blamed only where it may be at fault`() throws {
        let refused = Circumstances(systemError: ECONNREFUSED)
        let plain = try #require(try error(CURLE_COULDNT_CONNECT, refused))
        #expect(plain.code == .connectionRefused)
        #expect(plain.cause.string.contains("proxy") == false)
        let behindProxy = Circumstances(systemError: ECONNREFUSED, hasProxy: true)
        let either = try #require(try error(CURLE_COULDNT_CONNECT, behindProxy))
        #expect(either.code == .connectionRefused)
        #expect(either.cause.string.contains("refused by a.example or the environment's proxy"))
        for code in [CURLE_COULDNT_CONNECT, CURLE_RECV_ERROR] {
            let closed = try #require(try error(code, Circumstances(tunnelStatus: 407, hasProxy: true)))
            #expect(closed.code == .httpStatus)
            #expect(closed.cause.string.contains("(407)"))
        }
        let forbidden = try #require(try error(CURLE_COULDNT_CONNECT, Circumstances(tunnelStatus: 403)))
        #expect(forbidden.code == .httpStatus)
        #expect(forbidden.cause.string.contains("(403)"))
        let broken = try #require(try error(CURLE_COULDNT_CONNECT, Circumstances(tunnelStatus: 502)))
        #expect(broken.code == .badAnswer)
        // A tunnel that stands is not to blame for what happens in it.
        let inside = try #require(try error(CURLE_PEER_FAILED_VERIFICATION, Circumstances(tunnelStatus: 200)))
        #expect(inside.code == .tlsFailed)
    }

    private func error(_ code: CURLcode, _ circumstances: Circumstances) throws -> MediaError? {
        let url = try #require(WebURL("http://me:secret@a.example/a.mp3?token=secret"))
        let wire = WireRequest(
            RangeRequest(url: url, range: nil),
            at: RedirectState(original: url),
            configuration: HTTPConfiguration()
        )
        return CurlFailure.error(code, circumstances, request: wire)
    }
}
