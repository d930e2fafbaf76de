package import RepriseOrigin

/// An origin with resources in memory, for one test; it ends with the object.
///
///     let server = try TestOrigin(["/tone.mp3": ByteFixtures.bytes(count: 1_000_000, seed: 1)])
///     let gate = server.origin.hold("/tone.mp3", .afterBytesOfEach(300_000))
package final class TestOrigin: Sendable {
    package let origin: Origin

    /// Starts an origin that serves `files`: decoded paths, beginning with `/`, and bodies. The content
    /// type goes by the path's ending.
    package init(
        _ files: [String: [UInt8]] = [:],
        folder: String? = nil,
        port: UInt16 = 0,
        shaping: Shaping = Shaping(),
        faults: [Fault] = []
    ) throws {
        // All of it is there before the port is: who tries a port again and again may be faster than this thread.
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

    /// What was asked and sent.
    package var log: RequestLog { origin.log }

    /// The URL of a path, which begins with `/` and is percent-encoded where it must be.
    package func url(_ path: String) -> String { origin.url(path) }

    /// Serves `bytes` at `path` from the next request on, with an entity tag of its own.
    package func set(_ bytes: [UInt8], at path: String) {
        origin.setResource(Self.resource(bytes, at: path), at: path)
    }

    private static func resource(_ bytes: [UInt8], at path: String) -> OriginResource {
        OriginResource(bytes, contentType: OriginResource.contentType(of: path))
    }

    /// Closes the port and all connections, and returns when nothing is served any more.
    package func stop() async { await origin.stop() }
}

extension OriginGate {
    /// Returns when a response is held here.
    package func reached() async throws {
        try await wait(for: "the gate at \(path ?? "every path"), \(place)") { isReached }
    }
}
