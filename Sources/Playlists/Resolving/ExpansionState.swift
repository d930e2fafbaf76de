import Media

/// Decides which lists of a source are read next, and puts their tracks in order. Pure.
///
/// Lists may be read in any order. Tracks are handed out in the order of the source: up to the first list
/// that is not read yet.
struct ExpansionState: Sendable {
    /// A list to be read.
    struct Request: Sendable, Equatable {
        var id: Int
        var location: ResourceLocation
        /// The identities of the lists that contain it, outermost first.
        var ancestors: [String]
        /// `true` if a web folder lists it as a folder.
        var isWebFolder = false
    }

    /// A part of the source: the tracks between two lists, or a list.
    private struct Part {
        var tracks: [Track] = []
        var problems = PlaylistProblems()
        /// Set while the part is a list that is not read yet.
        var request: Request?
        /// The index of the part that follows.
        var next: Int?
    }

    private var parts: [Part]
    /// The first part that was not handed out.
    private var first: Int? = 0
    /// The lists whose reading has not begun, the next one last.
    private var waiting = [0]
    private(set) var budget: SourceBudget

    /// Begins with the list at `root`, whose number is 0. `ancestors` are the lists that led to it.
    init(root: ResourceLocation, ancestors: [String] = [], budget: SourceBudget) {
        parts = [Part(request: Request(id: 0, location: root, ancestors: ancestors))]
        self.budget = budget
    }

    /// `true` if a list waits to be read.
    var isWaiting: Bool { !waiting.isEmpty && !budget.isExceeded }

    private var isStopped = false

    /// Nothing more is read: what comes after lists that were not read is handed out too.
    mutating func stop() { isStopped = true }

    /// `true` once the first list turned out to be a web folder.
    private(set) var isRootWebFolder = false

    /// The next list to read, in order of the source; `nil` if none waits.
    mutating func next() -> Request? {
        while !budget.isExceeded, let id = waiting.popLast(), let request = parts[id].request {
            guard request.ancestors.count < budget.limits.depth else {
                let what = request.isWebFolder ? "folders" : "playlists"
                let cause = SafeText(
                    "\(what) are nested too deeply (more than \(budget.limits.depth) levels)"
                )
                failed(id, MediaError(.badPlaylist, request.location.safeText, cause))
                continue
            }
            guard budget.take(webFolder: request.isWebFolder) else { return nil }
            return request
        }
        return nil
    }

    /// Bytes of a list have arrived; `false` if there are too many, so that no more must be read.
    mutating func received(bytes count: Int) -> Bool { budget.take(bytes: count) }

    /// The list `id` was read. `identity` distinguishes it from its nested lists.
    mutating func read(_ id: Int, _ contents: ListContents, identity: String) {
        guard let request = parts[id].request else { return }
        parts[id].request = nil
        parts[id].problems = contents.problems
        if id == 0 { isRootWebFolder = contents.isWebFolder }
        let ancestors = request.ancestors + [identity]
        var added = 0
        var last = id
        var nested: [Int] = []
        for list in contents.nested {
            append(Array(contents.tracks[added..<list.tracksBefore]), to: last)
            added = list.tracksBefore
            let place = parts.count
            let request = Request(
                id: place,
                location: list.location,
                ancestors: ancestors,
                isWebFolder: list.isWebFolder
            )
            parts.append(Part(request: request, next: parts[last].next))
            parts[last].next = place
            nested.append(place)
            // The tracks after a list need a part of their own.
            parts.append(Part(next: parts[place].next))
            parts[place].next = place + 1
            last = place + 1
        }
        append(added == 0 ? contents.tracks : Array(contents.tracks[added...]), to: last)
        waiting += nested.reversed()
    }

    /// The list `id` can't be used.
    mutating func failed(_ id: Int, _ error: MediaError) {
        parts[id].request = nil
        parts[id].problems.add(error)
    }

    private mutating func append(_ tracks: [Track], to part: Int) {
        let taken = budget.take(tracks)
        if parts[part].tracks.isEmpty { parts[part].tracks = taken } else { parts[part].tracks += taken }
    }

    /// Hands out the tracks and problems that are known in order, each once. Once a limit was exceeded, lists
    /// that were not read are left out, so call this only when no list is being read any more.
    mutating func take() -> (tracks: [Track], problems: PlaylistProblems) {
        var tracks: [Track] = []
        var problems = PlaylistProblems()
        while let place = first, parts[place].request == nil || budget.isExceeded || isStopped {
            // A single long list is not copied.
            if tracks.isEmpty { tracks = parts[place].tracks } else { tracks += parts[place].tracks }
            problems.add(parts[place].problems)
            first = parts[place].next
            parts[place] = Part()
        }
        return (tracks, problems)
    }
}
