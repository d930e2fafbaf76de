package import RepriseOrigin

/// An origin with resources in memory for one test. It stops with the object.
///
///     let server = try TestOrigin(["/tone.mp3": ByteFixtures.bytes(count: 1_000_000, seed: 1)])
///     let gate = server.origin.hold("/tone.mp3", .afterBytesOfEach(300_000))
package final class TestOrigin: Sendable {
    package let origin: Origin

    /// Starts an origin that serves `files`: decoded paths, beginning with `/`, and bodies. The content
    /// type follows from the path's extension.
    package init(
        _ files: [String: [UInt8]] = [:],
        folder: String? = nil,
        port: UInt16 = 0,
        shaping: Shaping = Shaping(),
        faults: [Fault] = []
    ) throws {
        // The resources exist before the port does, since a client that polls the port may be faster than
        // this thread.
        let resources = Dictionary(uniqueKeysWithValues: files.map { ($0, Self.resource($1, at: $0)) })
        origin = try Origin(
            resources: resources,
            folder: folder,
            port: port,
            shaping: shaping,
            faults: faults
        )
    }

    deinit { origin.beginStopping() }

    /// The requests and the bytes sent for them.
    package var log: RequestLog { origin.log }

    /// The URL of a path, which begins with `/` and is percent-encoded if needed.
    package func url(_ path: String) -> String { origin.url(path) }

    /// Serves `bytes` at `path` from the next request on, with an entity tag of its own.
    package func set(_ bytes: [UInt8], at path: String) {
        origin.setResource(Self.resource(bytes, at: path), at: path)
    }

    private static func resource(_ bytes: [UInt8], at path: String) -> OriginResource {
        OriginResource(bytes, contentType: OriginResource.contentType(of: path))
    }

    /// Waits until all requests have ended. The log shows the end a little later than the client, which may
    /// be gone by then.
    package func settle() async throws {
        try await wait(for: "the end of all requests") { log.requests.allSatisfy { $0.outcome != .underWay } }
    }

    /// Empties the log once nothing of a client that was killed can come into it: the origin may not have
    /// accepted its last connection yet, or not have read its last request.
    package func resetAfterKill() async throws {
        // Connections are accepted in their order.
        _ = try await RunningProcess.run("curl", ["-s", "-o", "/dev/null", url("/")])
        try await wait(for: "the end of all connections") { log.openCount == 0 }
        log.reset()
    }

    /// Closes the port and all connections; returns when no request is being served any more.
    package func stop() async { await origin.stop() }
}

extension OriginGate {
    /// Waits until a response is held here.
    package func reached() async throws {
        try await wait(for: "the gate at \(path ?? "every path"), \(place)") { isReached }
    }
}
