import Foundation

/// Programs that are run to their end, timed to the microsecond.
enum Stopwatch {
    struct Run {
        var wall: Duration
        /// On all CPUs, the program's and the kernel's for it.
        var cpu: Duration
        /// The most that was ever resident, in megabytes.
        var peak: Double
        var status: Int32
    }

    /// Runs `path` with nothing on its input and its output thrown away, on a thread of its own.
    static func run(_ path: String, _ arguments: [String], environment: [String: String?] = [:]) async throws
        -> Run
    {
        var variables = ProcessInfo.processInfo.environment
        for (name, value) in environment { variables[name] = value }
        let pairs = variables.map { "\($0.key)=\($0.value)" }
        return try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(with: Swift.Result { try runHere(path, arguments, pairs) })
            }
        }
    }

    private static func runHere(_ path: String, _ arguments: [String], _ variables: [String]) throws -> Run {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        for number in 1...2 {
            posix_spawn_file_actions_addopen(&actions, CInt(number), "/dev/null", O_WRONLY, 0)
        }
        let words = ([path] + arguments).map { strdup($0) } + [nil]
        let pairs = variables.map { strdup($0) } + [nil]
        defer { for word in words + pairs { free(word) } }
        var identifier: pid_t = 0
        let begun = ContinuousClock.now
        guard posix_spawn(&identifier, path, &actions, nil, words, pairs) == 0 else {
            throw BenchmarkFailure("cannot start \(path)")
        }
        var usage = rusage()
        var status: CInt = 0
        while wait4(identifier, &status, 0, &usage) < 0 && errno == EINTR {}
        let wall = ContinuousClock.now - begun
        let times = [usage.ru_utime, usage.ru_stime]
        return Run(
            wall: wall,
            cpu: times.reduce(.zero) { $0 + .seconds($1.tv_sec) + .microseconds($1.tv_usec) },
            peak: Double(usage.ru_maxrss) * 1_024 / 1e6,
            status: status
        )
    }
}
