package import Media

/// The transport of `--offline`: every request fails at once, and none is sent.
package struct OfflineTransport: RangeTransport {
    package init() {}

    package func send(_ request: RangeRequest) async throws -> RangeResponse {
        throw MediaError(
            .offline,
            request.url.safeText,
            "is not in the cache, and --offline asks for no network; play it once without --offline"
        )
    }
}
