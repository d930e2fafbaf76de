import Foundation
import TestSupport

/// A web server that lists the folders it serves.
enum FolderServerKind: String, CaseIterable, Sendable {
    case nginx, nginxJSON, apache, lighttpd, caddy, python, rclone
}

/// A web server of this kind over a folder, with listings as it makes them by itself.
final class FolderServer: Sendable {
    let baseURL: String
    private let home: TemporaryFolder
    private let process: RunningProcess

    /// Serves `folder`, which every user must be able to read; returns when it accepts connections.
    init(_ kind: FolderServerKind, serving folder: String) async throws {
        home = try TemporaryFolder()
        let port = try LoopbackPort.free()
        baseURL = "http://127.0.0.1:\(port)"
        let words = try Self.command(kind, folder, port, home)
        let environment = ["HOME": home.path, "XDG_CONFIG_HOME": home.path, "XDG_DATA_HOME": home.path]
        process = try await RunningProcess.server(
            words[0],
            Array(words.dropFirst()),
            environment: environment
        ) {
            LoopbackPort.isListening(port)
        }
    }

    deinit { process.signal(SIGTERM) }

    func stop() async throws {
        process.signal(SIGTERM)
        try await process.waitForExit()
    }

    private static func command(
        _ kind: FolderServerKind,
        _ folder: String,
        _ port: UInt16,
        _ home: TemporaryFolder
    ) throws -> [String] {
        let place = "127.0.0.1:\(port)"
        switch kind {
        case .nginx, .nginxJSON:
            let format = kind == .nginx ? "html" : "json"
            let user = getuid() == 0 ? "user root;" : ""
            let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
                .map { "\($0)_temp_path \(home.path);" }.joined()
            let configuration = """
                \(user) daemon off; master_process off; pid \(home.path("pid")); error_log stderr;
                events {}
                http {
                    access_log off; \(temporary)
                    server { listen \(place); root "\(folder)"; autoindex on; autoindex_format \(format); }
                }
                """
            let file = try home.write(configuration, to: "nginx.conf")
            return ["nginx", "-e", "stderr", "-c", file]
        case .apache:
            // Apache refuses to serve as root.
            let user = getuid() == 0 ? "User www-data\nGroup www-data" : ""
            let modules = ["mpm_event", "authz_core", "dir", "autoindex"].map {
                "LoadModule \($0)_module /usr/lib/apache2/modules/mod_\($0).so"
            }.joined(separator: "\n")
            let configuration = """
                ServerRoot "\(home.path)"
                DefaultRuntimeDir "\(home.path)"
                ServerName localhost
                Listen \(place)
                PidFile "\(home.path("pid"))"
                ErrorLog "\(home.path("errors"))"
                \(user)
                \(modules)
                DocumentRoot "\(folder)"
                <Directory "\(folder)">
                Options +Indexes
                Require all granted
                IndexOptions FancyIndexing
                </Directory>
                """
            return ["apache2", "-DFOREGROUND", "-f", try home.write(configuration, to: "apache.conf")]
        case .lighttpd:
            let configuration = """
                server.document-root = "\(folder)"
                server.bind = "127.0.0.1"
                server.port = \(port)
                server.modules = ("mod_dirlisting")
                dir-listing.activate = "enable"
                """
            return ["lighttpd", "-D", "-f", try home.write(configuration, to: "lighttpd.conf")]
        case .caddy: return ["caddy", "file-server", "--browse", "--listen", place, "--root", folder]
        case .python:
            return ["python3", "-m", "http.server", "\(port)", "--bind", "127.0.0.1", "--directory", folder]
        case .rclone: return ["rclone", "serve", "http", folder, "--addr", place]
        }
    }
}
