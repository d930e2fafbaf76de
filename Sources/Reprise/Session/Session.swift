import Glibc
import Media

/// From a checked command line to an exit code.
enum Session {
    /// Plays.
    static func run(_ options: Options, clock: any MonotonicClock) async -> ExitCode {
        let presentation = Presentation(options: options, canShowScreen: Wiring.canShowScreen)
        let journal: JournalFile?
        do {
            try checkSources(options, presentation)
            journal = try options.journalFile.map { path throws(UsageError) in try JournalFile(path: path) }
        } catch {
            Messages.show(error)
            return .usage
        }
        let code = await Wiring.run(
            options: options,
            presentation: presentation,
            clock: clock,
            journal: journal
        )
        await journal?.finish(clock: clock)
        return code
    }

    /// Shows or drops what is kept.
    static func run(_ request: CacheRequest) async -> ExitCode {
        // The graceful end is for music; a table needs none.
        Signals.onTermination { _ in _exit(ExitCode.signal.rawValue) }
        if request.isFolderNamed, access(request.folder, F_OK) != 0 {
            let reason = SafeText(String(cString: strerror(errno)))
            Messages.show("there is no cache in " + SafeText(request.folder) + ": " + reason)
            return .couldNotStart
        }
        do {
            let administration = try await Wiring.cacheAdministration(folder: request.folder)
            return await CacheCommand(administration: administration).run(request)
        } catch let error as MediaError {
            Messages.show(error)
        } catch {
            Messages.show(SafeText("the cache in \(request.folder): \(error)"))
        }
        return .couldNotStart
    }

    /// Without a screen nobody could add a track to an empty queue.
    static func checkSources(_ options: Options, _ presentation: Presentation) throws(UsageError) {
        guard options.sources.isEmpty && presentation != .screen else { return }
        throw UsageError(
            "nothing to play: give a file, folder, playlist or http(s) URL, or - for a playlist on standard input"
        )
    }
}
