@testable import HTTP
import Media
import TestSupport
import Testing

/// A transport with the settings that most tests need.
struct TransportFixture {
    var configuration = HTTPConfiguration()

    /// `set` changes the settings.
    init(_ set: (inout HTTPConfiguration) -> Void = { _ in }) { set(&configuration) }

    /// Runs `body` with a transport and ends both it and `server` afterwards.
    func run(
        _ server: ScriptedServer? = nil,
        _ body: (CurlTransport) async throws -> Void
    ) async throws {
        let transport = CurlTransport(configuration: configuration)
        let result: Result<Void, any Error>
        do { result = .success(try await body(transport)) } catch { result = .failure(error) }
        await transport.shutdown()
        server?.stop()
        try result.get()
    }
}

extension CurlTransport {
    /// The response to a plain request for `range` of `url`.
    func get(_ url: WebURL, _ range: ByteRange? = nil) async throws -> RangeResponse {
        try await send(RangeRequest(url: url, range: range))
    }

    /// The body of the response to a plain request for `range` of `url`.
    func text(_ url: WebURL, _ range: ByteRange? = nil) async throws -> String {
        try await get(url, range).body.text()
    }

    /// The error with which a plain request for `url` fails; `nil` if there is a response.
    func failure(_ url: WebURL) async -> MediaError? { await mediaError { _ = try await get(url) } }
}

extension ResponseHead {
    /// The head of these lines, which end without their line ends and the empty line.
    static func made(of lines: [String], reusedConnection: Bool? = nil) throws -> ResponseHead {
        let lines = lines.map { Array(($0 + "\r\n").utf8) }
        return try #require(ResponseHead(lines: lines, reusedConnection: reusedConnection))
    }
}

extension ResponseBody {
    /// All bytes to the end.
    func all() async throws -> [UInt8] {
        var bytes: [UInt8] = []
        while let chunk = try await next() { bytes += chunk }
        return bytes
    }

    /// All bytes to the end, as text.
    func text() async throws -> String { String(decoding: try await all(), as: UTF8.self) }
}

/// The `MediaError` that `body` throws; `nil` if it throws none or another kind of error.
func mediaError(_ body: () async throws -> Void) async -> MediaError? {
    do { try await body() } catch { return error as? MediaError }
    return nil
}
