import Media
import System

/// Knows what each loader needs from the network connection, so that no request begins while another resource
/// has a more urgent need.
///
/// Each loader reports its most urgent need, unless it is alone, and asks for that of the others before it
/// decides. Requests in progress continue: those of low priority are short.
final class SharedLine: Sendable {
    /// One loader.
    struct User: Hashable, Sendable {
        fileprivate var number: Int
    }

    /// Called after the need of the others has changed, and after another loader has joined.
    typealias Listener = @Sendable () -> Void

    private struct Entry {
        let listener: Listener
        var need: Urgency?
    }

    private struct Guarded {
        var entries: [User: Entry] = [:]
        var lastUser = 0

        func othersNeed(of user: User) -> Urgency? {
            entries.compactMap { $0.key == user ? nil : $0.value.need }.min()
        }
    }

    // Guards the table; listeners are called without it.
    private let guarded = Locked(Guarded())

    /// `true` if there is more than one loader.
    var isShared: Bool { guarded.withLock { $0.entries.count > 1 } }

    /// Adds a loader. It needs nothing yet.
    func join(_ listener: @escaping Listener) -> User {
        let (user, others) = guarded.withLock { guarded in
            guarded.lastUser += 1
            let user = User(number: guarded.lastUser)
            let others = guarded.entries.values.map(\.listener)
            guarded.entries[user] = Entry(listener: listener)
            return (user, others)
        }
        for listener in others { listener() }
        return user
    }

    func leave(_ user: User) {
        let listeners = setNeed(nil, of: user)
        guarded.withLock { $0.entries[user] = nil }
        for listener in listeners { listener() }
    }

    /// The most urgent need of all loaders but `user`; `nil` if they need nothing.
    func othersNeed(of user: User) -> Urgency? { guarded.withLock { $0.othersNeed(of: user) } }

    /// The most urgent need of `user` is `need`. Returns the listeners to call once no lock is held.
    func setNeed(_ need: Urgency?, of user: User) -> [Listener] {
        guarded.withLock { guarded in
            let before = guarded
            guarded.entries[user]?.need = need
            return guarded.entries.keys.sorted { $0.number < $1.number }
                .filter { before.othersNeed(of: $0) != guarded.othersNeed(of: $0) }
                .compactMap { guarded.entries[$0]?.listener }
        }
    }
}
