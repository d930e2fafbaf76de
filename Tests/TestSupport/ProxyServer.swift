import Foundation

/// tinyproxy on a port of its own.
package final class ProxyServer: Sendable {
    package let port: UInt16
    private let home: TemporaryFolder
    private let process: RunningProcess

    /// Returns when it accepts connections. With a user name and password it requires them.
    package init(user: String? = nil, password: String = "") async throws {
        home = try TemporaryFolder()
        port = try LoopbackPort.free()
        let account = user.map { "BasicAuth \($0) \(password)" } ?? ""
        let configuration = """
            Port \(port)
            Listen 127.0.0.1
            Allow 127.0.0.1
            MaxClients 20
            LogLevel Connect
            LogFile "\(home.path("log"))"
            PidFile "\(home.path("pid"))"
            \(account)

            """
        try home.write(configuration, to: "tinyproxy.conf")
        process = try await RunningProcess.server("tinyproxy", ["-d", "-c", home.path("tinyproxy.conf")]) {
            [port] in LoopbackPort.isListening(port)
        }
    }

    deinit { process.signal(SIGTERM) }

    /// The request lines so far: `GET http://… HTTP/1.1`, `CONNECT host:port HTTP/1.1`.
    package var requests: [String] {
        let text = (try? String(contentsOfFile: home.path("log"), encoding: .utf8)) ?? ""
        return text.split(separator: "\n").compactMap { line in
            guard line.contains("Request (file descriptor"), let mark = line.range(of: "): ") else {
                return nil
            }
            return String(line[mark.upperBound...])
        }
    }
}
