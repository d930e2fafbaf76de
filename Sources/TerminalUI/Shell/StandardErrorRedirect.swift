internal import Glibc

/// Sends standard error elsewhere while the screen is up: libraries write their warnings there.
package struct StandardErrorRedirect: ~Copyable {
    /// A copy of the descriptor as it was; -1 where there was none.
    package let saved: Int32

    /// Appends to the file at `path`, made where it is missing; nil or an unusable path takes `/dev/null`.
    package init(to path: String?) {
        saved = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)
        var target: Int32 = -1
        if let path { target = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600) }
        if target < 0 { target = open("/dev/null", O_WRONLY | O_CLOEXEC) }
        guard target >= 0 else { return }
        dup2(target, STDERR_FILENO)
        if target != STDERR_FILENO { close(target) }
    }

    deinit {
        guard saved >= 0 else { return }
        dup2(saved, STDERR_FILENO)
        close(saved)
    }
}
