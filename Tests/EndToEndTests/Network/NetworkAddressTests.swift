import Foundation
import TestSupport
import Testing

/// How a host is found.
struct NetworkAddressTests {
    @Test(.enabled(if: hasIPv6, "this machine has no IPv6"))
    func `music from an IPv6 address in the URL plays`() async throws {
        let stage = try await Stage()
        let nginx = try await stage.nginx(host: "[::1]")
        #expect(nginx.url("/song.mp3") == "http://[::1]:\(nginx.port)/song.mp3")
        let run = try await stage.hear([nginx.url("/song.mp3")])
        try await expectSong(run)
        #expect(nginx.accesses.allSatisfy { $0.status == 206 })
    }

    @Test(.enabled(if: geteuid() == 0, "only root can take the place of the machine's name server"))
    func `a name server that never answers does not delay quitting`() async throws {
        let stage = try await Stage()
        // A look-up takes 150 s with it: longer than the test waits for anything.
        let settings = "nameserver 127.0.0.117\noptions timeout:30 attempts:5\n"
        try stage.folder.write(settings, to: "resolv.conf")
        let listen =
            "$s = IO::Socket::INET->new(LocalAddr => '127.0.0.117', LocalPort => 53, Proto => 'udp') or die $!;"
            + " $| = 1; print qq(ready\\n); $s->recv($b, 512); print qq(asked\\n); sleep 600"
        let nameServer = try RunningProcess("perl", ["-MIO::Socket::INET", "-e", listen])
        try await nameServer.waitForLine { $0 == "ready" }
        let mount = #"mount --bind "$1" /etc/resolv.conf && shift && exec "$@""#
        let process = try stage.startPlaying(
            ["http://music.example/song.mp3"],
            environment: ["RES_OPTIONS": nil],
            wrapper: PrivateMounts.running(mount, stage.folder.path("resolv.conf"))
        )
        try await nameServer.waitForLine { $0 == "asked" }
        try process.send("quit")
        #expect(try await process.waitForExit(deadline: .seconds(60)) == 0)
        #expect(process.isRunning == false)
    }

    private static var hasIPv6: Bool {
        let addresses = (try? String(contentsOfFile: "/proc/net/if_inet6", encoding: .utf8)) ?? ""
        return addresses.contains("00000000000000000000000000000001")
    }
}
