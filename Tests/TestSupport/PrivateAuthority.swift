import Foundation

/// A certificate authority created by `openssl`, which no system trusts.
package final class PrivateAuthority: Sendable {
    /// A server's certificate with its key, as files.
    package struct Certificate: Sendable {
        package var path: String
        package var keyPath: String
    }

    private let home: TemporaryFolder

    package init() async throws {
        home = try TemporaryFolder()
        try await Self.openssl(
            ["req", "-x509", "-subj", "/CN=Private Authority", "-days", "2"] + Self.newKey
                + ["-keyout", home.path("authority.key"), "-out", home.path("authority.pem")]
        )
    }

    /// The authority's own certificate, which a client has to trust.
    package var path: String { home.path("authority.pem") }

    /// A certificate for the host `name`, and for `addresses`.
    package func certificate(for name: String, addresses: [String] = []) async throws -> Certificate {
        let certificate = Certificate(path: home.path("\(name).pem"), keyPath: home.path("\(name).key"))
        let names = ["DNS:\(name)"] + addresses.map { "IP:\($0)" }
        try await Self.openssl(
            ["req", "-x509", "-subj", "/CN=\(name)", "-days", "2"] + Self.newKey
                + ["-CA", path, "-CAkey", home.path("authority.key")]
                + ["-addext", "subjectAltName=" + names.joined(separator: ",")]
                + ["-addext", "basicConstraints=critical,CA:FALSE"]
                + ["-keyout", certificate.keyPath, "-out", certificate.path]
        )
        return certificate
    }

    /// An elliptic-curve key, which is fast to create.
    private static let newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]

    private static func openssl(_ arguments: [String]) async throws {
        _ = try await RunningProcess.run("openssl", arguments)
    }
}
