import Media
import System

/// Hands what each loader needs on to those that share the line with it.
final class LineArbiter: Sendable {
    /// Hears the most urgent need of the others, with its revision.
    typealias Listener = @Sendable (FetchReason?, Int) -> Void

    private struct Guarded {
        var priorities = LinePriorities()
        var listeners: [LinePriorities.User: Listener] = [:]
    }

    // Guards the table; listeners are called without it.
    private let guarded = Locked(Guarded())

    /// One more loader, which hears of the others from now on.
    func join(_ listener: @escaping Listener) -> LinePriorities.User {
        let (user, news) = guarded.withLock { guarded in
            let (user, news) = guarded.priorities.joined()
            guarded.listeners[user] = listener
            return (user, news)
        }
        tell(news)
        return user
    }

    /// `user` needs `need` most urgently; of two calls the one with the higher `revision` counts.
    func needs(_ need: FetchReason?, of user: LinePriorities.User, revision: Int) {
        tell(guarded.withLock { $0.priorities.needs(need, of: user, revision: revision) })
    }

    func leave(_ user: LinePriorities.User) {
        let news = guarded.withLock { guarded in
            guarded.listeners[user] = nil
            return guarded.priorities.left(user)
        }
        tell(news)
    }

    private func tell(_ news: [LinePriorities.News]) {
        for item in news {
            let listener = guarded.withLock { $0.listeners[item.user] }
            listener?(item.othersNeed, item.revision)
        }
    }
}
