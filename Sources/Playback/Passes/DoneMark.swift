import Synchronization

/// Set once, when a task has done its last.
final class DoneMark: Sendable {
    private let value = Atomic(false)

    var isSet: Bool { value.load(ordering: .acquiring) }

    func set() { value.store(true, ordering: .releasing) }
}
