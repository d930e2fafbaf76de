import HTTP
import Media

/// A transport with the settings that most tests need.
struct TransportFixture {
    var configuration = HTTPConfiguration()

    /// Runs `body` with a transport and ends both it and `server` afterwards.
    func run<Value>(
        _ server: ScriptedServer? = nil,
        _ body: (CurlTransport) async throws -> Value
    ) async throws -> Value {
        let transport = CurlTransport(configuration: configuration)
        let result: Result<Value, any Error>
        do { result = .success(try await body(transport)) } catch { result = .failure(error) }
        await transport.shutdown()
        server?.stop()
        return try result.get()
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

/// The error code that `body` throws; `nil` if it throws none or another kind of error.
func mediaErrorCode(_ body: () async throws -> Void) async -> MediaError.Code? {
    await mediaError(body)?.code
}

/// The `MediaError` that `body` throws.
func mediaError(_ body: () async throws -> Void) async -> MediaError? {
    do { try await body() } catch { return error as? MediaError }
    return nil
}
