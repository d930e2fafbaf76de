import Foundation

/// nginx that serves a folder.
package final class NginxServer: Sendable {
    /// One line of the access log.
    package struct Access: Sendable, Equatable {
        package var status: Int
        /// The body bytes sent.
        package var bytes: Int
        /// The `Range` header; empty if there was none.
        package var range: String
        /// The number of its connection.
        package var connection: Int
        /// `HTTP/1.1`, `HTTP/2.0`.
        package var version: String
        /// The `Authorization` header; empty if there was none.
        package var authorization: String
        package var target: String
    }

    package let port: UInt16
    /// `http` or `https`, with the host as in URLs.
    private let place: String
    private let home: TemporaryFolder
    private let process: RunningProcess

    /// Serves the files of `folder`; returns when it accepts connections.
    ///
    /// The files that exist then become an hour old: of one written just before, the player asks if it still
    /// grows.
    ///
    /// `host` is an address of this machine as in a URL, so `[::1]` with brackets. With a
    /// `certificate` it accepts only TLS, and offers HTTP/2. `extra` goes into the `server` block
    /// of the configuration.
    package init(
        serving folder: String,
        host: String = "127.0.0.1",
        certificate: PrivateAuthority.Certificate? = nil,
        extra: String = ""
    ) async throws {
        place = (certificate == nil ? "http://" : "https://") + host
        let anHourAgo = [FileAttributeKey.modificationDate: Date(timeIntervalSinceNow: -3_600)]
        for name in FileManager.default.subpaths(atPath: folder) ?? [] {
            try? FileManager.default.setAttributes(anHourAgo, ofItemAtPath: folder + "/" + name)
        }
        home = try TemporaryFolder()
        for name in ["body", "proxy", "fastcgi", "uwsgi", "scgi"] { try home.makeFolder(name) }
        let port = try LoopbackPort.free()
        self.port = port
        // Only root may use `user root` without a warning.
        let tls = certificate.map { "ssl_certificate \($0.path); ssl_certificate_key \($0.keyPath);" } ?? ""
        // Also on IPv4, where the test can check that it listens.
        let listen = Set([host, "127.0.0.1"]).sorted().reversed().map { address in
            "listen \(address):\(port)" + (certificate == nil ? ";" : " ssl http2;")
        }.joined(separator: " ")
        let user = getuid() == 0 ? "user root;" : ""
        let configuration = """
            \(user) daemon off; master_process off; pid \(home.path("pid")); error_log stderr;
            events { worker_connections 256; }
            http {
                types { audio/mpeg mp3; audio/x-mpegurl m3u; application/vnd.apple.mpegurl m3u8; text/html html; }
                default_type application/octet-stream;
                log_format ranges '$status $body_bytes_sent "$http_range" $connection $server_protocol "$http_authorization" $request_uri';
                access_log \(home.path("access.log")) ranges;
                client_body_temp_path \(home.path("body")); proxy_temp_path \(home.path("proxy"));
                fastcgi_temp_path \(home.path("fastcgi")); uwsgi_temp_path \(home.path("uwsgi"));
                scgi_temp_path \(home.path("scgi"));
                server { \(listen) \(tls) root "\(folder)"; \(extra) }
            }
            """
        try home.write(configuration, to: "nginx.conf")
        let arguments = ["-p", home.path, "-e", "stderr", "-c", home.path("nginx.conf")]
        process = try await RunningProcess.server("nginx", arguments) { LoopbackPort.isListening(port) }
    }

    deinit { process.signal(SIGTERM) }

    package var baseURL: String { "\(place):\(port)" }

    /// The URL of a path, which begins with `/` and is percent-encoded if needed.
    package func url(_ path: String) -> String { baseURL + path }

    /// Waits until the requests of all clients that have ended are in the log: nginx serves in order, so a
    /// last request shows that it has written those before.
    package func settle() async throws {
        let mark = Self.settling + UUID().uuidString
        _ = try await RunningProcess.run("curl", ["-ks", "-o", "/dev/null", url(mark)])
        try await wait(for: "the log") { logged.contains { $0.target == mark } }
    }

    /// The start of the target of a request by `settle`.
    private static let settling = "/settling-"

    /// The requests served so far; nginx writes a line when an answer has ended.
    package var accesses: [Access] { logged.filter { !$0.target.hasPrefix(Self.settling) } }

    private var logged: [Access] {
        let text = (try? String(contentsOfFile: home.path("access.log"), encoding: .utf8)) ?? ""
        return text.split(separator: "\n").compactMap { line in
            let quoted = line.split(separator: "\"", omittingEmptySubsequences: false)
            guard quoted.count == 5 else { return nil }
            let before = quoted[0].split(separator: " ")
            let between = quoted[2].split(separator: " ")
            guard before.count == 2, between.count == 2, let status = Int(before[0]),
                let bytes = Int(before[1]), let connection = Int(between[0])
            else { return nil }
            return Access(
                status: status,
                bytes: bytes,
                range: quoted[1] == "-" ? "" : String(quoted[1]),
                connection: connection,
                version: String(between[1]),
                authorization: quoted[3] == "-" ? "" : String(quoted[3]),
                target: String(quoted[4].dropFirst())
            )
        }
    }

    /// Kills it, which cuts running transfers.
    package func stop() async throws {
        process.signal(SIGTERM)
        try await process.waitForExit()
    }
}
