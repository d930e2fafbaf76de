import Foundation
import TestSupport
import Testing

/// Proxies from the environment, with tinyproxy.
struct NetworkProxyTests {
    private static let password = "proxy-hush-4711"
    private static let wrong = "proxy-wrong-0815"

    @Test func `music comes through the proxy that the environment names`() async throws {
        let stage = try await NetworkStage()
        let nginx = try await NginxServer(serving: stage.webFolder)
        let proxy = try await ProxyServer(user: "me", password: Self.password)
        let run = try await stage.play(
            [nginx.url("/song.mp3")],
            environment: ["http_proxy": "http://me:\(Self.password)@127.0.0.1:\(proxy.port)"]
        )
        #expect(run.status == 0, "\(run.errorText)")
        #expect(run.samples == stage.samples)
        #expect(proxy.requests.count == nginx.accesses.count)
        #expect(proxy.requests.allSatisfy { $0 == "GET \(nginx.url("/song.mp3")) HTTP/1.1" })
        #expect(try stage.leaks(of: [Self.password], in: run) == [])
    }

    @Test(arguments: ["https_proxy", "HTTPS_PROXY", "all_proxy"])
    func `encrypted music goes through a tunnel of the proxy`(variable: String) async throws {
        let stage = try await NetworkStage()
        let authority = try await PrivateAuthority()
        let certificate = try await authority.certificate(for: "localhost", addresses: ["127.0.0.1"])
        let nginx = try await NginxServer(serving: stage.webFolder, certificate: certificate)
        let proxy = try await ProxyServer()
        let run = try await stage.play(
            ["--cacert", authority.path, nginx.url("/song.mp3")],
            environment: [variable: "http://127.0.0.1:\(proxy.port)"]
        )
        #expect(run.status == 0, "\(run.errorText)")
        #expect(run.samples == stage.samples)
        #expect(proxy.requests == ["CONNECT 127.0.0.1:\(nginx.port) HTTP/1.1"])
    }

    @Test(arguments: [("no_proxy", "127.0.0.1,other.example"), ("NO_PROXY", "*")])
    func `hosts that are to be asked directly are`(variable: String, hosts: String) async throws {
        let stage = try await NetworkStage()
        let nginx = try await NginxServer(serving: stage.webFolder)
        let proxy = try await ProxyServer()
        let run = try await stage.play(
            [nginx.url("/song.mp3")],
            environment: ["http_proxy": "http://127.0.0.1:\(proxy.port)", variable: hosts]
        )
        #expect(run.status == 0, "\(run.errorText)")
        #expect(run.samples == stage.samples)
        #expect(proxy.requests == [])
    }

    @Test func `the variable in upper case is not for plain music, since visitors could set it`() async throws
    {
        let stage = try await NetworkStage()
        let nginx = try await NginxServer(serving: stage.webFolder)
        let proxy = try await ProxyServer()
        let run = try await stage.play(
            [nginx.url("/song.mp3")],
            environment: ["HTTP_PROXY": "http://127.0.0.1:\(proxy.port)"]
        )
        #expect(run.status == 0, "\(run.errorText)")
        #expect(proxy.requests == [])
    }

    @Test(arguments: [false, true], ["", "me:\(wrong)@"])
    func `a proxy that lets nobody in is told apart, and its password is not told`(
        isEncrypted: Bool,
        account: String
    ) async throws {
        let stage = try await NetworkStage()
        let nginx = try await NginxServer(serving: stage.webFolder)
        let proxy = try await ProxyServer(user: "me", password: Self.password)
        let place = "127.0.0.1:\(nginx.port)/song.mp3"
        let process = try stage.start(
            ["--sink", "null:fast", isEncrypted ? "https://" + place : "http://" + place],
            environment: [
                isEncrypted ? "https_proxy" : "http_proxy": "http://\(account)127.0.0.1:\(proxy.port)"
            ]
        )
        // tinyproxy's own way: 407 without a password, 401 for a wrong one.
        let expected = account.isEmpty ? "407" : "401"
        let said = { String(decoding: process.output, as: UTF8.self) + process.errorText }
        // Retries are not tested here.
        try await wait(for: "the error") { said().contains(expected) || !process.isRunning }
        try? process.send("quit")
        let status = try await process.waitForExit()
        let run = NetworkRun(status: status, output: said(), errorText: process.errorText, samples: [])
        #expect(run.output.contains(expected))
        if isEncrypted { #expect(run.output.contains("the proxy")) }
        #expect(nginx.accesses.isEmpty)
        let encoded = Data("me:\(Self.wrong)".utf8).base64EncodedString()
        #expect(try stage.leaks(of: [Self.wrong, encoded], in: run) == [])
    }
}
