import Foundation

/// Icecast with a configuration of its own.
package final class IcecastServer: Sendable {
    package let port: UInt16
    private let home: TemporaryFolder
    private let process: RunningProcess

    /// Returns when it accepts connections. A new listener gets the last 64 KB at once.
    package init() async throws {
        home = try TemporaryFolder()
        port = try LoopbackPort.free()
        // It refuses to run as root.
        let owner =
            geteuid() == 0 ? "<changeowner><user>nobody</user><group>nogroup</group></changeowner>" : ""
        let configuration = """
            <icecast>
            <limits><clients>20</clients><sources>4</sources><queue-size>524288</queue-size>
            <burst-size>65536</burst-size><source-timeout>30</source-timeout></limits>
            <authentication><source-password>pass</source-password><admin-user>admin</admin-user>
            <admin-password>pass</admin-password></authentication>
            <listen-socket><port>\(port)</port><bind-address>127.0.0.1</bind-address></listen-socket>
            <paths><logdir>\(home.path)</logdir><webroot>/usr/share/icecast2/web</webroot>
            <adminroot>/usr/share/icecast2/admin</adminroot></paths>
            <logging><accesslog>-</accesslog><errorlog>-</errorlog><loglevel>3</loglevel></logging>
            <security><chroot>0</chroot>\(owner)</security>
            </icecast>
            """
        try home.write(configuration, to: "icecast.xml")
        process = try await Self.started(home.path("icecast.xml"), port)
    }

    /// Starts Icecast until it answers. No client connects before its last thread has reported: version 2.4.4
    /// crashes now and then if one does, also a moment later.
    private static func started(_ configuration: String, _ port: UInt16) async throws -> RunningProcess {
        var failure = RunningProcess.Failure(description: "icecast2 did not start")
        for _ in 0..<10 {
            do {
                let process = try RunningProcess("icecast2", ["-c", configuration])
                try await wait(for: "Icecast's threads") {
                    let reports = ["YP update thread started", "No SSL capability"]
                    return !process.isRunning || reports.allSatisfy(process.errorText.contains)
                }
                let address = "http://127.0.0.1:\(port)/status-json.xsl"
                _ = try await RunningProcess.run("curl", ["--silent", "--noproxy", "*", address])
                return process
            } catch let error as RunningProcess.Failure {
                failure = error
            }
        }
        throw failure
    }

    deinit { process.signal(SIGTERM) }

    package func url(_ mount: String) -> String { "http://127.0.0.1:\(port)\(mount)" }

    /// Starts to broadcast the file at `path`, MP3 or of the content type `type`, under `mount`; returns when
    /// clients can connect.
    ///
    /// It sends at twice the rate of 128 kbit/s, and ends with the file or the process.
    package func broadcast(
        _ path: String,
        at mount: String,
        name: String,
        type: String = "audio/mpeg"
    ) async throws -> RunningProcess {
        try await RunningProcess.server(
            "curl",
            [
                "--silent", "--show-error", "--noproxy", "*", "--limit-rate", "32k", "--upload-file", path,
                "--header", "Content-Type: \(type)", "--header", "Ice-Name: \(name)",
                "--header", "Ice-Bitrate: 128", "--user", "source:pass", url(mount),
            ]
        ) { process.errorText.contains("listener count on \(mount) now") }
    }

    /// Announces a title.
    package func announce(_ title: String, at mount: String) async throws {
        _ = try await RunningProcess.run(
            "curl",
            [
                "--silent", "--show-error", "--fail", "--noproxy", "*", "--user", "admin:pass", "--get",
                "--data-urlencode", "song=\(title)", "--data-urlencode", "mount=\(mount)",
                "--data", "mode=updinfo", "--data", "charset=UTF-8",
                "http://127.0.0.1:\(port)/admin/metadata",
            ]
        )
    }
}
