import System

/// Thrown when a condition did not come true in time.
package struct DeadlinePassed: Error, CustomStringConvertible {
    package var what: String
    package var description: String { "waited in vain for \(what)" }
}

/// Waits until `condition` holds, looking again every few milliseconds.
///
/// The deadline is generous: it only ends a test that would otherwise hang, and decides nothing.
/// `picture` is asked for only then, and tells how things stand at that time.
package func wait(
    for what: String,
    deadline: Duration = .seconds(60),
    until condition: () async throws -> Bool,
    // A closure with braces: those that the compiler makes of arguments share their symbols with those that
    // `#expect` makes in the same function (seen with Swift 6.3.1), and one answers in place of the other.
    seeing picture: () -> String = { "" }
) async throws {
    let end = ContinuousClock.now + deadline
    while try await !condition() {
        guard ContinuousClock.now < end else {
            let seen = picture()
            throw DeadlinePassed(what: seen.isEmpty ? what : what + "; " + seen)
        }
        try await Task.sleep(for: .milliseconds(2))
    }
}
