internal import Glibc

/// Whose the terminal is. A process in the background must leave it alone: it is the shell's then.
enum Foreground {
    /// How often a process in the background looks whether it is in front again, which nothing tells a process that
    /// went on in the meantime.
    static let patience = Duration.seconds(1)

    /// Whether this process may change the terminal at `descriptor`; true where that is not its controlling terminal.
    static func holds(_ descriptor: Int32) -> Bool {
        let group = tcgetpgrp(descriptor)
        return group < 0 || group == getpgrp()
    }
}
