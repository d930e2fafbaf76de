import Foundation

/// The kernel's statistics of a running process at one instant.
struct ProcessReading {
    private struct Thread {
        var name: String
        var wakeUps: Int
        var nanoseconds: Int
    }

    private let threads: [String: Thread]
    private let instant = ContinuousClock.now

    init(_ identifier: pid_t) {
        let folder = "/proc/\(identifier)/task"
        var threads: [String: Thread] = [:]
        for number in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] {
            guard let name = Self.text("\(folder)/\(number)/comm"),
                let status = Self.text("\(folder)/\(number)/status"),
                let schedule = Self.text("\(folder)/\(number)/schedstat")
            else { continue }
            threads[number] = Thread(
                name: name.trimmingCharacters(in: .whitespacesAndNewlines),
                wakeUps: Self.field("voluntary_ctxt_switches", of: status) ?? 0,
                nanoseconds: schedule.split(separator: " ").first.flatMap { Int($0) } ?? 0
            )
        }
        self.threads = threads
    }

    /// CPU seconds since `earlier`; threads that ended in between are not counted.
    func cpuSeconds(since earlier: ProcessReading) -> Double {
        threads.reduce(0) { $0 + Double($1.value.nanoseconds - (earlier.threads[$1.key]?.nanoseconds ?? 0)) }
            / 1e9
    }

    func cpuSecondsPerMinute(since earlier: ProcessReading) -> Double {
        cpuSeconds(since: earlier) / seconds(since: earlier) * 60
    }

    /// How often its threads woke up, each second. libdispatch's manager, a thread of the system whose
    /// monitor looks at its pool each second, is left out unless requested.
    func wakeUpsPerSecond(since earlier: ProcessReading, withManager: Bool = true) -> Double {
        let count = threads.reduce(0) { sum, thread in
            guard withManager || !thread.value.name.hasSuffix("-qos.overcommit") else { return sum }
            return sum + thread.value.wakeUps - (earlier.threads[thread.key]?.wakeUps ?? 0)
        }
        return Double(count) / seconds(since: earlier)
    }

    private func seconds(since earlier: ProcessReading) -> Double {
        (instant - earlier.instant) / .seconds(1)
    }

    /// The memory of a process now, in megabytes.
    struct Memory {
        var anonymous: Double
        var resident: Double

        init?(_ identifier: pid_t) {
            guard let text = ProcessReading.text("/proc/\(identifier)/smaps_rollup"),
                let anonymous = ProcessReading.field("Anonymous", of: text),
                let resident = ProcessReading.field("Rss", of: text)
            else { return nil }
            self.anonymous = Double(anonymous) * 1_024 / 1e6
            self.resident = Double(resident) * 1_024 / 1e6
        }
    }

    private static func text(_ path: String) -> String? { try? String(contentsOfFile: path, encoding: .utf8) }

    /// The number after `name:` at the beginning of a line.
    private static func field(_ name: String, of text: String) -> Int? {
        for line in text.split(separator: "\n") where line.hasPrefix(name + ":") {
            return line.dropFirst(name.count + 1).split(whereSeparator: \.isWhitespace).first.flatMap {
                Int($0)
            }
        }
        return nil
    }
}

/// Runs programs to their end, timed to the microsecond.
enum Stopwatch {
    struct Run {
        var wall: Duration
        /// User and system time on all CPUs.
        var cpu: Duration
        /// The peak resident memory, in megabytes.
        var peak: Double
        var status: Int32
    }

    /// Runs `path` without input, discarding its output, on a thread of its own.
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
