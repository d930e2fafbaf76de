/// Thrown when a condition did not come true in time.
package struct DeadlinePassed: Error, CustomStringConvertible {
    package var what: String
    package var description: String { "waited in vain for \(what)" }
}

/// Waits until `condition` holds, looking again every few milliseconds.
///
/// The deadline is generous: it only ends a test that would otherwise hang, and decides nothing.
/// `what` is asked for only then, so that it may tell how things stand at that time.
package func wait(
    for what: @autoclosure () -> String,
    deadline: Duration = .seconds(60),
    until condition: () async throws -> Bool
) async throws {
    let end = ContinuousClock.now + deadline
    while try await !condition() {
        guard ContinuousClock.now < end else { throw DeadlinePassed(what: what()) }
        try await Task.sleep(for: .milliseconds(2))
    }
}
