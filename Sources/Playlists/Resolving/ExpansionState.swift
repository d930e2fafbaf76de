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

    private enum Part {
        case found(Found)
        /// A list that is not read yet.
        case list(Request, isBegun: Bool)
    }

    /// The parts of the source that were not handed out yet, the first one last: near it, most change.
    private var parts: [Part]
    private var lastID = 0

    /// Begins with the list at `root`, whose number is 0. `ancestors` are the lists that led to it.
    init(root: ResourceLocation, ancestors: [String] = []) {
        parts = [.list(Request(id: 0, location: root, ancestors: ancestors), isBegun: false)]
    }

    /// `true` once every list was read.
    var isComplete: Bool { !parts.contains { if case .list = $0 { true } else { false } } }

    /// The next list to read, in the order of the source; `nil` if none waits.
    mutating func next() -> Request? {
        for place in parts.indices.reversed() {
            guard case .list(let request, isBegun: false) = parts[place] else { continue }
            parts[place] = .list(request, isBegun: true)
            return request
        }
        return nil
    }

    mutating func read(_ id: Int, _ contents: ListContents) {
        guard let (place, request) = list(id) else { return }
        var new: [Part] = [.found(Found(tracks: contents.tracks, problems: contents.problems))]
        for list in contents.nested {
            lastID += 1
            let nested = Request(
                id: lastID,
                location: list.location,
                ancestors: request.ancestors + [contents.identity],
                isWebFolder: list.isWebFolder
            )
            new += [.list(nested, isBegun: false), .found(Found(tracks: list.tracksBehind))]
        }
        parts.replaceSubrange(place...place, with: new.reversed())
    }

    mutating func failed(_ id: Int, _ error: MediaError) {
        guard let (place, _) = list(id) else { return }
        var found = Found()
        found.problems.add(error)
        parts[place] = .found(found)
    }

    private func list(_ id: Int) -> (place: Int, request: Request)? {
        for place in parts.indices.reversed() {
            if case .list(let request, _) = parts[place], request.id == id { return (place, request) }
        }
        return nil
    }

    /// Removes and returns what is known in order.
    mutating func takeReady() -> Found {
        var ready = Found()
        while case .found(let found)? = parts.last {
            ready.add(found)
            parts.removeLast()
        }
        return ready
    }

    /// Removes and returns everything that was found, also behind lists that were not read, and leaves these
    /// out.
    mutating func takeAll() -> Found {
        parts.removeAll { if case .list = $0 { true } else { false } }
        return takeReady()
    }
}
