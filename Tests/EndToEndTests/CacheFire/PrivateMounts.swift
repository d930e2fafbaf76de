import Foundation

/// Disks that only one process sees.
enum PrivateMounts {
    /// The words that run `script` with `arguments`, and behind them the command that follows these words:
    /// in a mount namespace of its own, where it may mount; who is not root is root there (unshare(1)).
    static func running(_ script: String, _ arguments: String...) -> [String] {
        ["unshare", geteuid() == 0 ? "-m" : "-rm", "sh", "-c", script, "sh"] + arguments
    }
}
