import Glibc
import Media
import System

/// The process, from its start to its exit code.
enum Program {
    /// Does what the command line asks for and exits.
    ///
    /// Not an `async` main: that one parks the main thread in `dispatch_main`, which on Linux starts a
    /// thread with every signal unblocked, and SIGTERM would end the process there without order
    /// (tried). So the main thread only sleeps, and nothing may be isolated to the main actor.
    static func run() -> Never {
        // The zero of the times that events tell, so it comes before everything else.
        let clock = SystemClock()
        Signals.prepare()
        NamedThread.guardCallingThread()
        // Ends with the process, which is its owner. Not by `exit`, whose handlers take libraries apart
        // under threads that still live; all that is written is written by then.
        Task { _exit(await execute(clock).rawValue) }
        while true { pause() }
    }

    private static func execute(_ clock: SystemClock) async -> ExitCode {
        let arguments = Array(CommandLine.arguments.dropFirst())
        do {
            let configuration = try Configuration.read(Configuration.path())
            let extended = arguments.first == "config" ? arguments : configuration.extending(arguments)
            switch try Invocation.parse(extended, defaultCacheFolder: { BasePaths.cacheFolder() }) {
            case .show(let text):
                LineWriter(descriptor: STDOUT_FILENO, onReaderGone: {}).write(text)
                return .success
            case .cache(let request): return await Session.run(request, clock: clock)
            case .configuration(let arguments):
                let output = LineWriter(descriptor: STDOUT_FILENO, onReaderGone: {})
                let style = TextStyle(descriptor: STDOUT_FILENO)
                for line in configuration.lines(arguments, style: style) { output.write(line) }
                return .success
            case .makeSecret(let path): return Session.makeSecret(at: path)
            case .play(let options):
                return await Session.run(options, screen: configuration.screen, clock: clock)
            }
        } catch {
            Messages.show(error)
            return .usage
        }
    }
}
