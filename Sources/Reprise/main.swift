import Glibc
import Media

// The clock's zero is the process's start as events tell it, so it comes before everything else.
let clock = SystemClock()
Signals.prepare()

let exitCode: ExitCode
do {
    let arguments = Array(CommandLine.arguments.dropFirst())
    switch try Invocation.parse(arguments, defaultCacheFolder: { BasePaths.cacheFolder() }) {
    case .show(let text):
        LineWriter(descriptor: STDOUT_FILENO, onReaderGone: {}).write(text)
        exitCode = .success
    case .cache(let request):
        exitCode = await Session.run(request)
    case .play(let options):
        exitCode = await Session.run(options, clock: clock)
    }
} catch {
    Messages.show(error)
    exitCode = .usage
}
exit(exitCode.rawValue)
