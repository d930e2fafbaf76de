import Media

/// The two threads of a cache folder, and all that happens on the committing one.
///
/// `io` reads and writes objects and does nothing else, so that no read waits for a flush or for the
/// index. `committer` flushes, and alone uses the index and the folder's lock.
final class CacheEngine: @unchecked Sendable {
    // Unchecked: `opened` and `hasSwept` are touched on `committer` only, and in `deinit`, when no
    // job is left that could.
    private var opened: OpenedFolder?
    private var hasSwept = false

    let settings: CacheSettings
    let io = WorkThread(name: "cache-io")
    let committer = WorkThread(name: "cache-commit")
    /// Why nothing more may be written: the folder is full and nothing in it may go.
    private let fullness = Locked<MediaError?>(nil)

    init(settings: CacheSettings) {
        self.settings = settings
    }

    deinit {
        io.stop()
        committer.stop()
    }

    /// Throws `.notKept` while the folder is full of what may not be removed. Any thread.
    func checkBudget() throws {
        if let error = fullness.withLock({ $0 }) { throw error }
    }

    /// The failure as listeners are told of it.
    func notKept(_ cause: any Error) -> MediaError {
        if let error = cause as? MediaError { return error }
        return MediaError(.notKept, SafeText("cache folder \(settings.path)"), SafeText("\(cause)"))
    }

    /// Runs `body` with the folder made ready and locked. Committing thread only.
    ///
    /// When the index proves damaged it is set aside, and `body` runs again on an empty one.
    func perform<Value>(_ body: (OpenedFolder) throws -> Value) throws(MediaError) -> Value {
        do {
            do {
                return try attempt(body)
            } catch let error as IndexError where error.isDamage {
                try setIndexAside()
                return try attempt(body)
            }
        } catch {
            throw notKept(error)
        }
    }

    /// Cleans up what earlier processes left and makes room, behind what is asked for now.
    func tidyLater() {
        committer.submit { [weak self] in self?.tidy() }
    }

    /// Removes entries that are too old, and least recently played ones until the folder is within its
    /// budget. The lock must be held.
    func enforceBudget(in folder: OpenedFolder) throws {
        var total = try folder.index.allocated()
        let policy = EvictionPolicy(
            budget: settings.budget,
            expiry: settings.maximumAge.map { settings.wallClock() - $0 }
        )
        var last: EvictionCandidate?
        // In the order of their age: behind one that may stay, none is too old.
        while total > settings.budget || last.map({ policy.isExpired($0) }) ?? (policy.expiry != nil) {
            var page = try folder.index.candidates(after: last, limit: Self.pageSize)
            guard let end = page.last else { break }
            last = end
            while case let victims = policy.victims(among: page, allocated: total), !victims.isEmpty {
                let removed = try remove(victims, from: folder)
                for index in page.indices where victims.contains(page[index].entry) {
                    // What another opener uses is only found out by trying: the next choice knows it.
                    page[index].isOpen = true
                    if removed.contains(page[index].entry) {
                        total = max(0, total - page[index].allocated)
                    }
                }
            }
        }
        let path = settings.path
        let full = total > settings.budget
        fullness.withLock { error in
            error =
                full
                ? MediaError(
                    .notKept,
                    SafeText("cache folder \(path)"),
                    "it is full, and all that is in it is pinned or being played"
                ) : nil
        }
    }

    /// Removes those of `entries` that nobody has open, and returns them. The lock must be held.
    func remove(_ entries: [EntryID], from folder: OpenedFolder) throws -> Set<EntryID> {
        var removed = Set<EntryID>()
        for start in stride(from: 0, to: entries.count, by: Self.pageSize) {
            let batch = entries[start..<min(entries.count, start + Self.pageSize)]
            // The exclusive locks last until the files are gone: as long as `held` lives.
            let held = batch.map { (entry: $0, hold: folder.objects.holdForRemoval($0)) }
                .filter { if case .inUse = $0.hold { false } else { true } }
            // Rows go first: a file without a row is litter, a row without its file would be a lie.
            try folder.index.transaction {
                for (entry, _) in held { try folder.index.remove(entry) }
            }
            for (entry, _) in held { folder.objects.unlink(entry) }
            removed.formUnion(held.map(\.entry))
        }
        return removed
    }

    /// Removes those of `entries` that nobody has open, and counts. The lock must be held.
    func remove(
        entries: [EvictionCandidate],
        includingPinned: Bool,
        from folder: OpenedFolder
    ) throws -> CacheRemoval {
        var removal = CacheRemoval()
        let wanted = entries.filter { includingPinned || !$0.isPinned }
        let before = try folder.index.allocated()
        removal.entriesRemoved = try remove(wanted.map(\.entry), from: folder).count
        removal.entriesInUse = wanted.count - removal.entriesRemoved
        removal.entriesPinned = entries.count - wanted.count
        removal.bytesFreed = max(0, before - (try folder.index.allocated()))
        return removal
    }

    /// How many entries are handled at once: few enough for the limit of open files (often 1,024).
    private static let pageSize = 256

    private func attempt<Value>(_ body: (OpenedFolder) throws -> Value) throws -> Value {
        do {
            if let folder = opened, !folder.isCurrent { opened = nil }
            let folder = try opened ?? OpenedFolder(path: settings.path, files: settings.files)
            opened = folder
            return try folder.lock.withLock { try body(folder) }
        } catch let error as IndexError where !error.isDamage {
            // Whatever it was (a full disk, a lost mount), the next call starts with a fresh connection.
            opened = nil
            throw error
        }
    }

    private func setIndexAside() throws {
        guard let folder = opened else { return }
        opened = nil
        try folder.lock.withLock { try folder.setIndexAside() }
    }

    private func tidy() {
        // Tidying has no listener; what stops it will be met, and told, by the next commit.
        try? perform { folder in
            try enforceBudget(in: folder)
            guard !hasSwept else { return }
            hasSwept = true
            sweep(try folder.objects.walk())
        }
    }

    /// Removes objects that no entry has, a page at a time, so that other work comes in between.
    private func sweep(_ walk: ObjectWalk) {
        // The walk is handed from job to job of one thread and is never used by two.
        nonisolated(unsafe) let walk = walk
        committer.submit { [weak self] in
            guard let self, let entries = walk.next(Self.pageSize) else { return }
            try? perform { folder in
                for entry in entries where try !folder.index.contains(entry) {
                    // A file in use belongs to a store whose entry was replaced or cleared.
                    guard case .held = folder.objects.holdForRemoval(entry) else { continue }
                    folder.objects.unlink(entry)
                }
            }
            sweep(walk)
        }
    }
}
