import Foundation
import TestSupport
import Testing

/// Proxies from the environment, with tinyproxy.
struct NetworkProxyTests {
    private static let password = "proxy-hush-4711"
    private static let wrong = "proxy-wrong-0815"

    private let stage: Stage

    init() async throws { stage = try await Stage() }

    @Test func `plain music goes through the proxy that the environment names`() async throws {
        let nginx = try await stage.nginx()
        let proxy = try await ProxyServer(user: "me", password: Self.password)
        let run = try await stage.hear(
            [nginx.url("/song.mp3")],
            environment: ["http_proxy": "http://me:\(Self.password)@127.0.0.1:\(proxy.port)"]
        )
        try await expectSong(run)
        try await nginx.settle()
        #expect(proxy.requests.count == nginx.accesses.count)
        #expect(proxy.requests.allSatisfy { $0 == "GET \(nginx.url("/song.mp3")) HTTP/1.1" })
        #expect(stage.leaks(of: [Self.password], in: run) == [])
    }

    @Test(arguments: ["https_proxy", "HTTPS_PROXY", "all_proxy"])
    func `encrypted music goes through a tunnel of the proxy`(variable: String) async throws {
        let authority = try await PrivateAuthority()
        let certificate = try await authority.certificate(for: "localhost", addresses: ["127.0.0.1"])
        let nginx = try await stage.nginx(certificate: certificate)
        let proxy = try await ProxyServer()
        let run = try await stage.hear(
            ["--cacert", authority.path, nginx.url("/song.mp3")],
            environment: [variable: "http://127.0.0.1:\(proxy.port)"]
        )
        try await expectSong(run)
        #expect(proxy.requests == ["CONNECT 127.0.0.1:\(nginx.port) HTTP/1.1"])
    }

    /// Web servers pass a visitor's header `Proxy` to their programs as `HTTP_PROXY`, so plain music ignores
    /// that name.
    @Test(
        arguments: [
            ("http_proxy", "no_proxy", "127.0.0.1,other.example"), ("http_proxy", "NO_PROXY", "*"),
            ("HTTP_PROXY", "no_proxy", ""),
        ]
    )
    func `no proxy is used for excepted hosts, and none that HTTP_PROXY names`(
        variable: String,
        exception: String,
        hosts: String
    ) async throws {
        let nginx = try await stage.nginx()
        let proxy = try await ProxyServer()
        let run = try await stage.hear(
            [nginx.url("/song.mp3")],
            environment: [variable: "http://127.0.0.1:\(proxy.port)", exception: hosts]
        )
        try await expectSong(run)
        #expect(proxy.requests == [])
    }

    @Test(arguments: [false, true], ["", "me:\(wrong)@"])
    func `a proxy that refuses is named in the error, without its password`(
        isEncrypted: Bool,
        account: String
    ) async throws {
        let nginx = try await stage.nginx()
        let proxy = try await ProxyServer(user: "me", password: Self.password)
        let (scheme, variable) = isEncrypted ? ("https", "https_proxy") : ("http", "http_proxy")
        let process = try stage.startPlaying(
            ["\(scheme)://127.0.0.1:\(nginx.port)/song.mp3"],
            environment: [variable: "http://\(account)127.0.0.1:\(proxy.port)"]
        )
        // tinyproxy's own way: 407 without a password, 401 for a wrong one.
        let expected = account.isEmpty ? "407" : "401"
        try await process.waitForLine { $0.contains(expected) && ($0.contains("the proxy") || !isEncrypted) }
        // Retries are not tested here.
        try? process.send("quit")
        let run = try await Ending(of: process)
        #expect(nginx.accesses.isEmpty)
        let encoded = Data("me:\(Self.wrong)".utf8).base64EncodedString()
        #expect(stage.leaks(of: [Self.wrong, encoded], in: run) == [])
    }
}
