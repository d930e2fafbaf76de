import Media
import System

/// Decides which loaders may use the network connection: no request begins while another resource has a more
/// urgent need.
///
/// Each loader reports its most urgent need, and is sent the most urgent need of the others. A loader that is
/// alone receives no update, and need not report its need before the first one. Requests in progress
/// continue: those of low priority are short.
final class SharedLine: Sendable {
    /// One loader.
    struct User: Hashable, Sendable {
        fileprivate var number: Int
    }

    /// Receives the most urgent need of the others; `nil` if they need nothing. Calls may arrive out of
    /// order: the one with the higher revision is the later one.
    typealias Listener = @Sendable (_ othersNeed: FetchReason?, _ revision: Int) -> Void

    private struct Entry {
        let listener: Listener
        var need: FetchReason?
        var needRevision = 0
        /// The need of the others that was sent last; `nil` before the first update.
        var sent: FetchReason??
    }

    private struct Guarded {
        var entries: [User: Entry] = [:]
        var lastUser = 0
        var revision = 0

        /// The calls to make after a change.
        mutating func updates() -> [() -> Void] {
            revision += 1
            guard entries.count > 1 || entries.values.contains(where: { $0.sent != nil }) else { return [] }
            return entries.keys.sorted { $0.number < $1.number }.compactMap { user in
                let need = entries.compactMap { $0.key == user ? nil : $0.value.need }.min()
                guard let entry = entries[user], entry.sent != .some(need) else { return nil }
                entries[user]?.sent = .some(need)
                return { [revision] in entry.listener(need, revision) }
            }
        }
    }

    // Guards the table; listeners are called without it.
    private let guarded = Locked(Guarded())

    /// Adds a loader. It needs nothing yet.
    func join(_ listener: @escaping Listener) -> User {
        change { guarded in
            guarded.lastUser += 1
            let user = User(number: guarded.lastUser)
            guarded.entries[user] = Entry(listener: listener)
            return user
        }
    }

    /// The most urgent need of `user` is `need`. A report whose `revision` is not higher than the last one's
    /// is late, and is ignored.
    func needs(_ need: FetchReason?, of user: User, revision: Int) {
        change { guarded in
            guard let entry = guarded.entries[user], revision > entry.needRevision else { return }
            guarded.entries[user]?.needRevision = revision
            guarded.entries[user]?.need = need
        }
    }

    func leave(_ user: User) { change { $0.entries[user] = nil } }

    private func change<Result: Sendable>(_ event: (inout Guarded) -> Result) -> Result {
        let (result, updates) = guarded.withLock { guarded in
            let result = event(&guarded)
            return (result, guarded.updates())
        }
        for update in updates { update() }
        return result
    }
}
