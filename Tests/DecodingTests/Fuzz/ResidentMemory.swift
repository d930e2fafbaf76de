import Foundation

/// The memory that this process has, in bytes, as Linux counts it in `/proc/self/status`.
enum ResidentMemory {
    static var current: Int { field("VmRSS:") }

    /// The most since the last `resetPeak`.
    static var peak: Int { field("VmHWM:") }

    /// 5 in `clear_refs` is the peak (proc_pid_clear_refs(5)).
    static func resetPeak() {
        guard let file = fopen("/proc/self/clear_refs", "w") else { return }
        fputs("5", file)
        fclose(file)
    }

    private static func field(_ name: String) -> Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix(name) } ?? ""
        return (Int(line.filter(\.isNumber)) ?? 0) * 1_024
    }
}
