import Media

/// Does what `reprise cache` asks for, and prints it.
struct CacheCommand: Sendable {
    let request: CacheRequest
    let administration: any CacheAdministration
    let supply: MusicSupply
    let console: CacheConsole

    /// Runs the request; never throws: what fails is said and told by the exit code.
    ///
    /// Cancelling the task ends it in order: what was done by then stays done, and the code is that of a signal.
    func run() async -> ExitCode {
        do {
            return try await perform()
        } catch let error as MediaError {
            console.painter?.finish()
            console.say(error.safeText)
        } catch is CancellationError {
            console.painter?.finish()
            return .signal
        } catch {
            console.painter?.finish()
            console.say(SafeText("the cache in \(request.folder): \(error)"))
        }
        return .couldNotStart
    }

    private func perform() async throws -> ExitCode {
        switch request.action {
        case .list(let selection): try await list(selection)
        case .info(let source): try await info(source)
        case .verify: try await verify()
        case .evict(let sources, let includesPinned):
            try await evict(sources, includesPinned: includesPinned)
        case .shrink(let size, let includesPinned): try await shrink(to: size, includesPinned: includesPinned)
        case .forecast(let size): try await forecast(shrinkingTo: size)
        case .clear(let isConfirmed, let includesPinned):
            try await clear(isConfirmed: isConfirmed, includesPinned: includesPinned)
        case .export(let order): try await export(order)
        case .pin(let sources, let isFetched): try await keep(sources, pins: true, fetches: isFetched)
        case .unpin(let sources): try await keep(sources, pins: false, fetches: false)
        case .fetch(let sources): try await keep(sources, pins: nil, fetches: true)
        }
    }

    /// The web address that `source` is, as typed; only music from the web is kept.
    func webURL(_ source: String, of command: SafeText) throws(MediaError) -> WebURL {
        guard let url = WebURL(source) else {
            // What was typed may hold a secret, so it is not repeated.
            throw MediaError(
                .badURL,
                "cache " + command,
                "that is no http or https URL; only music from the web is kept"
            )
        }
        return url
    }
}
