import Media

/// Decides which lists of a source are read next, and puts their tracks in order. Pure.
///
/// Lists may be read in any order. Tracks are handed out in the order of the source: up to the first list
/// that is not read yet.
struct ExpansionState: Sendable {
    struct Request: Sendable, Equatable {
        var id: Int
        var location: ResourceLocation
        /// The identities of the lists that contain it, outermost first.
        var ancestors: [String]
        /// `true` if a web folder lists it as a folder.
        var isWebFolder = false
    }

    /// Tracks and problems, in the order of the source.
    struct Found: Sendable {
        var tracks: [Track] = []
        var problems = PlaylistProblems()

        mutating func add(_ later: Found) {
            // A single long list is not copied.
            if tracks.isEmpty { tracks = later.tracks } else { tracks += later.tracks }
            problems.add(later.problems)
        }
    }

    /// A list that is not read yet.
    private struct List {
        let request: Request
        var isBegun = false
        /// The tracks and problems between this list and the next unread one.
        var behind = Found()
    }

    /// The lists that are not read yet, the first in the order of the source last: near it, most change.
    private var lists: [List]
    /// The tracks and problems in front of the unread lists that were not handed out yet.
    private var ready = Found()
    private var lastID = 0

    /// Begins with the list at `root`, whose number is 0. `ancestors` are the lists that led to it.
    init(root: ResourceLocation, ancestors: [String] = []) {
        lists = [List(request: Request(id: 0, location: root, ancestors: ancestors))]
    }

    /// `true` once every list was read.
    var isComplete: Bool { lists.isEmpty }

    /// The next list to read, in the order of the source; `nil` if none waits.
    mutating func next() -> Request? {
        guard let place = lists.lastIndex(where: { !$0.isBegun }) else { return nil }
        lists[place].isBegun = true
        return lists[place].request
    }

    mutating func read(_ id: Int, _ contents: ListContents) {
        guard let place = place(of: id) else { return }
        let ancestors = lists[place].request.ancestors + [contents.identity]
        let nested = contents.nested.map { list in
            lastID += 1
            let request = Request(
                id: lastID,
                location: list.location,
                ancestors: ancestors,
                isWebFolder: list.isWebFolder
            )
            return List(request: request, behind: Found(tracks: list.tracksBehind))
        }
        replace(place, by: Found(tracks: contents.tracks, problems: contents.problems), nested)
    }

    mutating func failed(_ id: Int, _ error: MediaError) {
        guard let place = place(of: id) else { return }
        var found = Found()
        found.problems.add(error)
        replace(place, by: found, [])
    }

    private func place(of id: Int) -> Int? { lists.lastIndex { $0.request.id == id } }

    /// Puts `found` and then `nested` in the place of a list.
    private mutating func replace(_ place: Int, by found: Found, _ nested: [List]) {
        var found = found
        var nested = Array(nested.reversed())
        if nested.isEmpty {
            found.add(lists[place].behind)
        } else {
            nested[0].behind.add(lists[place].behind)
        }
        lists.replaceSubrange(place...place, with: nested)
        let before = place + nested.count
        if before < lists.count { lists[before].behind.add(found) } else { ready.add(found) }
    }

    /// Removes and returns what is known in order.
    mutating func takeReady() -> Found { exchange(&ready, with: Found()) }

    /// Removes and returns everything that was found, also behind lists that were not read, and leaves these
    /// out.
    mutating func takeAll() -> Found {
        for list in lists.reversed() { ready.add(list.behind) }
        lists = []
        return takeReady()
    }
}
