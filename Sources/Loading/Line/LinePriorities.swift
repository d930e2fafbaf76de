package import Media
import System

/// Decides which loaders may use the network connection: no request begins while another resource has a more
/// urgent need.
///
/// Each loader reports its most urgent need, and receives the most urgent need of the others. Requests in
/// progress continue: those of low priority are short.
package struct LinePriorities: Sendable {
    /// One loader.
    package struct User: Hashable, Sendable, Comparable {
        package var value: Int

        package static func < (left: User, right: User) -> Bool { left.value < right.value }
    }

    /// The most urgent need of the others, to be sent to `user`; `nil` if they need nothing. Of two updates,
    /// the one with the higher `revision` is the later.
    package struct Update: Equatable, Sendable {
        package var user: User
        package var othersNeed: FetchReason?
        package var revision: Int
    }

    private struct Entry {
        var need: FetchReason?
        var needRevision = 0
        var sent: FetchReason?
    }

    private var entries: [User: Entry] = [:]
    private var nextUser = 1
    private var revision = 0

    package init() {}

    /// Adds a loader. It needs nothing yet, and gets its first update with the next change of the others.
    package mutating func joined() -> (user: User, updates: [Update]) {
        let user = User(value: nextUser)
        nextUser += 1
        entries[user] = Entry()
        return (user, updates())
    }

    /// The most urgent need of `user` has changed. A report with a lower `revision` than the last one is
    /// late, and ignored.
    package mutating func needs(_ need: FetchReason?, of user: User, revision: Int) -> [Update] {
        guard let entry = entries[user], revision > entry.needRevision else { return [] }
        entries[user]?.needRevision = revision
        guard need != entry.need else { return [] }
        entries[user]?.need = need
        return updates()
    }

    package mutating func left(_ user: User) -> [Update] {
        entries[user] = nil
        return updates()
    }

    private func othersNeed(besides user: User) -> FetchReason? {
        entries.compactMap { $0.key == user ? nil : $0.value.need }.min()
    }

    private mutating func updates() -> [Update] {
        revision += 1
        var updates: [Update] = []
        for user in entries.keys.sorted() {
            let need = othersNeed(besides: user)
            guard need != entries[user]?.sent else { continue }
            entries[user]?.sent = need
            updates.append(Update(user: user, othersNeed: need, revision: revision))
        }
        return updates
    }
}

/// Passes each loader's most urgent need on to those that share the line with it.
final class SharedLine: Sendable {
    /// Receives the most urgent need of the others, with its revision.
    typealias Listener = @Sendable (FetchReason?, Int) -> Void

    private struct Guarded {
        var priorities = LinePriorities()
        var listeners: [LinePriorities.User: Listener] = [:]
    }

    // Guards the table; listeners are called without it.
    private let guarded = Locked(Guarded())

    /// Adds a loader, which from now on receives the needs of the others.
    func join(_ listener: @escaping Listener) -> LinePriorities.User {
        let (user, updates) = guarded.withLock { guarded in
            let (user, updates) = guarded.priorities.joined()
            guarded.listeners[user] = listener
            return (user, updates)
        }
        send(updates)
        return user
    }

    /// The most urgent need of `user` is `need`; of two calls the one with the higher `revision` counts.
    func needs(_ need: FetchReason?, of user: LinePriorities.User, revision: Int) {
        send(guarded.withLock { $0.priorities.needs(need, of: user, revision: revision) })
    }

    func leave(_ user: LinePriorities.User) {
        let updates = guarded.withLock { guarded in
            guarded.listeners[user] = nil
            return guarded.priorities.left(user)
        }
        send(updates)
    }

    private func send(_ updates: [LinePriorities.Update]) {
        for update in updates {
            let listener = guarded.withLock { $0.listeners[update.user] }
            listener?(update.othersNeed, update.revision)
        }
    }
}
