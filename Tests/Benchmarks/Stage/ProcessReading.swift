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
