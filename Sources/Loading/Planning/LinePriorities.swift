package import Media

/// Who may use the line: what is less urgent does not begin while another resource has a more urgent need.
///
/// Each loader tells its most urgent need and learns the most urgent one of the others. Requests under way are not
/// ended for it: those of low priority are short.
package struct LinePriorities: Sendable {
    /// One loader.
    package struct User: Hashable, Sendable, Comparable {
        package var value: Int

        package static func < (left: User, right: User) -> Bool { left.value < right.value }
    }

    /// What `user` is to be told: the most urgent need of the others, nil for none. Of two the one with the
    /// higher `revision` is the later.
    package struct News: Equatable, Sendable {
        package var user: User
        package var othersNeed: FetchReason?
        package var revision: Int
    }

    private struct Entry {
        var need: FetchReason?
        var needRevision = 0
        var told: FetchReason?
    }

    private var entries: [User: Entry] = [:]
    private var nextUser = 1
    private var revision = 0

    package init() {}

    /// A loader begins. It needs nothing yet; its news come with the others' next change.
    package mutating func joined() -> (user: User, news: [News]) {
        let user = User(value: nextUser)
        nextUser += 1
        entries[user] = Entry()
        return (user, news())
    }

    /// What `user` needs most urgently now. One with a lower `revision` than the last is late and changes nothing.
    package mutating func needs(_ need: FetchReason?, of user: User, revision: Int) -> [News] {
        guard let entry = entries[user], revision > entry.needRevision else { return [] }
        entries[user]?.needRevision = revision
        guard need != entry.need else { return [] }
        entries[user]?.need = need
        return news()
    }

    package mutating func left(_ user: User) -> [News] {
        entries[user] = nil
        return news()
    }

    private func othersNeed(besides user: User) -> FetchReason? {
        entries.compactMap { $0.key == user ? nil : $0.value.need }.min()
    }

    private mutating func news() -> [News] {
        revision += 1
        var news: [News] = []
        for user in entries.keys.sorted() {
            let need = othersNeed(besides: user)
            guard need != entries[user]?.told else { continue }
            entries[user]?.told = need
            news.append(News(user: user, othersNeed: need, revision: revision))
        }
        return news
    }
}
