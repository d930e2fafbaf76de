import Cache
import Glibc
import Media
import System

/// The process, from its start to its exit code.
enum Program {
    /// Carries out the command line and exits.
    ///
    /// An `async` main would park the main thread in `dispatch_main`, which on Linux starts a thread with
    /// every signal unblocked: SIGTERM would then end the process at once (tried). So the main thread only
    /// sleeps, and nothing may be isolated to the main actor.
    static func run() -> Never {
        checkMemory()
        // Before other threads allocate.
        ProcessMemory.limitFreeBlocks()
        // Created first: times in events count from its start.
        let clock = SystemClock()
        Signals.prepare()
        NamedThread.guardCallingThread()
        // Not `exit`, whose handlers unload libraries while threads still use them. All output is written by
        // now.
        Task { _exit(await execute(clock).rawValue) }
        while true { pause() }
    }

    /// Ends the process if `ulimit -v` (RLIMIT_AS) is too small: later, threads and memory would be refused
    /// at any place.
    ///
    /// Libraries, fifteen threads and libpulse's shared memory reserve 560 MB of addresses on two processors,
    /// of which they use little. Each further processor may add a thread, with a stack of 9 MB.
    private static func checkMemory() {
        var limit = rlimit()
        let processors = min(8, UInt64(max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))))
        let least = 650_000_000 + processors * 10_000_000
        guard getrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0, limit.rlim_cur < least else {
            return
        }
        let allowed = SizeText.text(Int64(limit.rlim_cur))
        let needed = SizeText.text(Int64(least))
        Messages.show(SafeText("Not enough memory: ulimit -v allows \(allowed) – allow \(needed)"))
        _exit(ExitCode.couldNotStart.rawValue)
    }

    private static func execute(_ clock: SystemClock) async -> ExitCode {
        // Not `CommandLine.arguments`, which loses bytes that are not UTF-8: they may name a file.
        let arguments = (1..<max(1, Int(CommandLine.argc))).compactMap { index in
            CommandLine.unsafeArgv[index].map { FileName.text($0) }
        }
        do {
            let configuration = try Configuration(file: Configuration.path)
            switch try configuration.invocation(of: arguments) {
            case .show(let text): printLines([text])
            case .configuration:
                let style = TextStyle(descriptor: STDOUT_FILENO)
                printLines(configuration.listing(with: Array(arguments.dropFirst()), style: style))
                let errors = configuration.errors
                // Printed last, since the listing may be longer than the screen.
                for error in errors { Messages.show(error.message) }
                guard errors.isEmpty else { return .usage }
            case .cache(let request): return await Session.run(request, clock: clock)
            case .makeSecret(let path): return Session.makeSecret(at: path)
            case .remote(let request): return await Session.run(request)
            case .play(let options):
                return await Session.run(options, screen: configuration.screen, clock: clock)
            }
            return .success
        } catch {
            Messages.show(error)
            return .usage
        }
    }

    private static func printLines(_ lines: [String]) {
        let output = LineWriter(descriptor: STDOUT_FILENO, onReaderGone: {})
        for line in lines { output.write(line) }
    }
}

/// Carries out a checked command line and returns the exit code.
enum Session {
    static func run(_ options: Options, screen: ScreenSettings, clock: any MonotonicClock) async -> ExitCode {
        let presentation = Presentation(
            options: options,
            canShowScreen: Wiring.canShowScreen,
            isTerminal: isatty(STDOUT_FILENO) == 1
        )
        if presentation == .plain, !options.plain, let problem = Wiring.screenProblem {
            Messages.show(problem)
        }
        // Only interactive sessions are saved, so a script always starts from the same state.
        let isInteractive =
            presentation == .screen || (presentation == .plain && isatty(STDIN_FILENO) == 1)
        let folder = BasePaths.path(of: .state).map { StateFolder(path: $0) }
        let memory = folder.map {
            SessionMemory(folder: $0, options: options, isInteractive: isInteractive, clock: clock)
        }
        let journal: JournalFile?
        do {
            try checkSources(options, presentation, isQueueLeft: memory?.last.queue.tracks.isEmpty == false)
            journal = try options.journal.map { path throws(UsageError) in
                try JournalFile(path: path, clock: clock)
            }
        } catch {
            Messages.show(error)
            return .usage
        }
        let wiring = Wiring(
            options: options,
            presentation: presentation,
            interface: InterfaceSettings(
                screen: screen,
                memory: memory,
                logFile: presentation == .screen ? folder?.log() : nil
            ),
            clock: clock,
            journal: journal
        )
        let code = await wiring.run()
        await journal?.finish()
        return code
    }

    /// Carries out a command of `reprise cache`.
    static func run(_ request: CacheRequest, clock: any MonotonicClock) async -> ExitCode {
        if request.location.cacheDir != nil, !request.action.mayMakeFolder,
            access(FileName.cString(request.folder), F_OK) != 0
        {
            let reason = SafeText(SystemError.reason())
            Messages.show(SafeText(request.folder) + ": no cache in this folder (" + reason + ")")
            return .couldNotStart
        }
        let console = CacheConsole(clock: clock, showsProgress: !request.isJSON)
        let working = Task { await Wiring.run(request, console: console, clock: clock) }
        Signals.onTermination { _ in
            // A long command finishes its current step; a prompt or a table is simply aborted.
            guard request.action.endsInOrder else { _exit(ExitCode.signal.rawValue) }
            working.cancel()
        }
        return await working.value
    }

    /// Controls the player that runs.
    static func run(_ request: RemoteRequest) async -> ExitCode {
        Signals.onTermination { _ in _exit(ExitCode.signal.rawValue) }
        return await WorkThread(name: "remote").run { RemoteSession.run(request) }
    }

    /// Writes a new secret for `--cache-secret`.
    static func makeSecret(at path: String) -> ExitCode {
        do throws(MediaError) {
            try SecretFile.make(at: path, text: CacheSecret.generate().fileText)
            return .success
        } catch {
            Messages.show(error)
            return error.cause == SecretFile.taken ? .nothingPlayed : .couldNotStart
        }
    }

    /// Throws if there is nothing to play: tracks can be added to an empty queue only on the screen.
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

/// The form in which a session is shown.
enum Presentation: Sendable, Equatable {
    /// The full-screen mode of a terminal.
    case screen
    /// One sentence per event, for people; a terminal's keys work as on the screen.
    case plain
    /// One JSON object per event.
    case json
    /// One line per event: its name and fields.
    case words

    /// Chooses by the options, then by the capabilities of standard output. With `raw:-`, standard output
    /// carries samples, so neither a screen nor sentences are possible.
    init(options: Options, canShowScreen: @autoclosure () -> Bool, isTerminal: @autoclosure () -> Bool) {
        if options.json {
            self = .json
        } else if options.headless || options.writesSamplesToOutput {
            self = .words
        } else if options.plain {
            self = .plain
        } else if canShowScreen() {
            self = .screen
        } else {
            self = isTerminal() ? .plain : .words
        }
    }
}
