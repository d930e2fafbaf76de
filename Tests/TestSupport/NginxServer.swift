import Foundation

/// nginx over a folder, on a port of its own.
package final class NginxServer: Sendable {
    /// One line of the access log.
    package struct Access: Sendable, Equatable {
        package var status: Int
        /// Bytes of body that were sent.
        package var bytes: Int
        /// The `Range` header, empty when there was none.
        package var range: String
        /// The connection it came on.
        package var connection: Int
        package var target: String
    }

    package let port: UInt16
    private let home: TemporaryFolder
    private let process: RunningProcess

    /// Serves the files of `folder`, and returns when connections are taken.
    ///
    /// `extra` goes into the `server` block of the configuration.
    package init(serving folder: String, extra: String = "") async throws {
        home = try TemporaryFolder()
        for name in ["body", "proxy", "fastcgi", "uwsgi", "scgi"] { try home.makeFolder(name) }
        port = try Self.freePort()
        // `user root` only means something, and is only allowed without a warning, for root.
        let user = getuid() == 0 ? "user root;" : ""
        let configuration = """
            \(user) daemon off; master_process off; pid \(home.path("pid")); error_log stderr;
            events { worker_connections 256; }
            http {
                types { audio/mpeg mp3; audio/x-mpegurl m3u; application/vnd.apple.mpegurl m3u8; text/html html; }
                default_type application/octet-stream;
                log_format ranges '$status $body_bytes_sent "$http_range" $connection $request_uri';
                access_log \(home.path("access.log")) ranges;
                client_body_temp_path \(home.path("body")); proxy_temp_path \(home.path("proxy"));
                fastcgi_temp_path \(home.path("fastcgi")); uwsgi_temp_path \(home.path("uwsgi"));
                scgi_temp_path \(home.path("scgi"));
                server { listen 127.0.0.1:\(port); root "\(folder)"; \(extra) }
            }
            """
        try home.write(configuration, to: "nginx.conf")
        process = try RunningProcess(
            "nginx",
            ["-p", home.path, "-e", "stderr", "-c", home.path("nginx.conf")]
        )
        try await wait(for: "nginx") { [process, port] in
            guard process.isRunning else {
                throw RunningProcess.Failure(description: "nginx ended: \(process.errorText)")
            }
            return Self.isListening(port)
        }
    }

    deinit { process.signal(SIGTERM) }

    package var baseURL: String { "http://127.0.0.1:\(port)" }

    /// The URL of a path, which begins with `/` and is percent-encoded where it must be.
    package func url(_ path: String) -> String { baseURL + path }

    /// What was served so far; nginx writes a line when an answer has ended.
    package var accesses: [Access] {
        let text = (try? String(contentsOfFile: home.path("access.log"), encoding: .utf8)) ?? ""
        return text.split(separator: "\n").compactMap { line in
            let quoted = line.split(separator: "\"", omittingEmptySubsequences: false)
            guard quoted.count == 3 else { return nil }
            let before = quoted[0].split(separator: " ")
            let after = quoted[2].split(separator: " ", maxSplits: 1)
            guard before.count == 2, after.count == 2, let status = Int(before[0]),
                let bytes = Int(before[1]),
                let connection = Int(after[0])
            else { return nil }
            return Access(
                status: status,
                bytes: bytes,
                range: quoted[1] == "-" ? "" : String(quoted[1]),
                connection: connection,
                target: String(after[1])
            )
        }
    }

    /// Ends it, cutting what is under way.
    package func stop() async throws {
        process.signal(SIGTERM)
        try await process.waitForExit()
    }

    /// A port that was free a moment ago: nginx cannot be asked which one it took.
    private static func freePort() throws -> UInt16 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = loopback(0)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, size) == 0 && getsockname(descriptor, $0, &size) == 0
            }
        }
        guard status else { throw RunningProcess.Failure(description: "no free port: errno \(errno)") }
        return UInt16(bigEndian: address.sin_port)
    }

    private static func isListening(_ port: UInt16) -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = loopback(port)
        return withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }

    private static func loopback(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
        return address
    }
}
