import Glibc
import HTTP
import Media
import TestSupport
import Testing

/// nginx with HTTP/2 over TLS, and a transport that trusts it.
struct HTTP2Stage {
    let folder: TemporaryFolder
    let authority: PrivateAuthority
    let nginx: NginxServer
    let fixture: TransportFixture
    let url: WebURL

    init(fileSize: Int) async throws {
        folder = try TemporaryFolder()
        let path = try folder.write("", to: "music.mp3")
        // A hole: as large as it says, and no work to write.
        try #require(truncate(path, fileSize) == 0)
        authority = try await PrivateAuthority()
        let certificate = try await authority.certificate(for: "localhost", addresses: ["127.0.0.1"])
        nginx = try await NginxServer(serving: folder.path, certificate: certificate)
        url = try #require(WebURL(nginx.url("/music.mp3")))
        var configuration = HTTPConfiguration()
        configuration.certificateFile = authority.path
        fixture = TransportFixture(configuration: configuration)
    }
}
