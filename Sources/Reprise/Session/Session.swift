import Glibc
import Media
import System

/// From a checked command line to an exit code.
enum Session {
    /// Plays.
    static func run(
        _ options: Options,
        screen: ScreenSettings,
        clock: any MonotonicClock
    ) async -> ExitCode {
        let presentation = Presentation(
            options: options,
            surroundings: Presentation.Surroundings(
                canShowScreen: { Wiring.canShowScreen },
                isTerminal: { isatty(STDOUT_FILENO) == 1 }
            )
        )
        // A script finds the same session every time: only who sits before it is remembered.
        let isForSomebody =
            presentation == .screen || (presentation == .plain && isatty(STDIN_FILENO) == 1)
        let folder = BasePaths.stateFolder()
        let memory =
            isForSomebody
            ? folder.map { SessionMemory(folder: $0, options: options, clock: clock) } : nil
        let journal: JournalFile?
        do {
            try checkSources(options, presentation, isQueueLeft: memory?.queue.tracks.isEmpty == false)
            journal = try options.journalFile.map { path throws(UsageError) in try JournalFile(path: path) }
        } catch {
            Messages.show(error)
            return .usage
        }
        let code = await Wiring.run(
            options: options,
            presentation: presentation,
            interface: InterfaceSettings(screen: screen, memory: memory, logFile: folder?.log()),
            clock: clock,
            journal: journal
        )
        await journal?.finish(clock: clock)
        return code
    }

    /// Does what `reprise cache` was asked for.
    static func run(_ request: CacheRequest, clock: any MonotonicClock) async -> ExitCode {
        if request.keeping.isFolderNamed, !request.action.mayMakeFolder, access(request.folder, F_OK) != 0 {
            let reason = SafeText(SystemError.reason())
            Messages.show("there is no cache in " + SafeText(request.folder) + ": " + reason)
            return .couldNotStart
        }
        let console = CacheConsole(clock: clock, showsProgress: !request.isJSON)
        let working = Task { await Wiring.run(request, console: console, clock: clock) }
        Signals.onTermination { _ in
            // What can be ended in the middle ends in order; a question or a table just ends.
            guard request.action.endsInOrder else { _exit(ExitCode.signal.rawValue) }
            working.cancel()
        }
        return await working.value
    }

    /// Makes a secret for `--cache-secret`.
    static func makeSecret(at path: String) -> ExitCode {
        do {
            try SecretFile.make(at: path, text: Wiring.newSecretText())
            return .success
        } catch {
            Messages.show(error)
            return .couldNotStart
        }
    }

    /// Without a screen nobody could add a track to an empty queue.
    static func checkSources(
        _ options: Options,
        _ presentation: Presentation,
        isQueueLeft: Bool = false
    ) throws(UsageError) {
        guard options.sources.isEmpty, presentation != .screen, !isQueueLeft else { return }
        throw UsageError(
            "nothing to play: give a file, folder, playlist or http(s) URL, or - for a playlist on standard input"
        )
    }
}
