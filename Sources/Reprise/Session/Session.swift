import Glibc
import Media

/// From a checked command line to an exit code.
enum Session {
    /// Plays.
    static func run(_ options: Options, clock: any MonotonicClock) async -> ExitCode {
        let presentation = Presentation(options: options, canShowScreen: Wiring.canShowScreen)
        do {
            try checkSources(options, presentation)
        } catch {
            Messages.show(error)
            return .usage
        }
        return await Wiring.run(options: options, presentation: presentation, clock: clock)
    }

    /// Does what `reprise cache` was asked for.
    static func run(_ request: CacheRequest, clock: any MonotonicClock) async -> ExitCode {
        if request.keeping.isFolderNamed, !request.action.mayMakeFolder, access(request.folder, F_OK) != 0 {
            let reason = SafeText(String(cString: strerror(errno)))
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
    static func checkSources(_ options: Options, _ presentation: Presentation) throws(UsageError) {
        guard options.sources.isEmpty && presentation != .screen else { return }
        throw UsageError(
            "nothing to play: give a file, folder, playlist or http(s) URL, or - for a playlist on standard input"
        )
    }
}
