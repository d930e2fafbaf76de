/// When bytes may leave on a line of bounded rate. Pure: the caller tells the time and waits.
struct LineSchedule: Sendable {
    /// Time that was not used may be made up for up to this much, so that timers that wake late
    /// cost no throughput.
    static let credit = Duration.milliseconds(50)

    let bytesPerSecond: Int64
    private var freeAt: Duration

    /// A line that is free from `now` on.
    init(bytesPerSecond: Int64, now: Duration) {
        precondition(bytesPerSecond > 0, "a line carries at least one byte a second")
        self.bytesPerSecond = bytesPerSecond
        freeAt = now
    }

    /// Takes the line for `count` bytes and returns when they have passed: they are sent then.
    mutating func reserve(_ count: Int, now: Duration) -> Duration {
        freeAt = max(freeAt, now - Self.credit)
        freeAt += .seconds(1) * Double(count) / Double(bytesPerSecond)
        return freeAt
    }
}
