import Media

/// Puts the parts together; the only file that names their concrete types.
enum Wiring {
    /// Plays what `options` ask for and returns how the process ends.
    static func run(
        options: Options,
        presentation: Presentation,
        clock: any MonotonicClock
    ) async -> ExitCode {
        Messages.show("playing is not built yet")
        return .couldNotStart
    }

    /// The cache in `folder`, for `reprise cache`.
    static func cacheAdministration(folder: String) async throws -> any CacheAdministration {
        throw MediaError(.internalError, SafeText(folder), "the cache is not built yet")
    }
}
