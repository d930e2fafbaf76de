import Cache
import Media

/// The operations of the cache that `reprise cache` needs. Tests substitute their own cache.
protocol CacheAdministration: Sendable {
    func list() async throws -> [CachedItem]
    func savings() async throws -> Savings
    func info(for url: WebURL) async throws -> CachedItem?
    func renditions(of url: WebURL) async throws -> [CachedItem]
    func verify(
        progress: @escaping @Sendable (VerifyProgress) -> Void,
        isDamaged: @escaping @Sendable (any ByteSource) async throws -> Bool
    ) async throws -> VerifyReport
    func evict(_ entries: [CachedItem.ID], includingPinned: Bool) async throws -> CacheRemoval
    func evict(toBudget budget: Int64, includingPinned: Bool) async throws -> CacheRemoval
    func victims(toBudget budget: Int64) async throws -> [CachedItem]
    func clear(includingPinned: Bool) async throws -> CacheRemoval
    func setPinned(_ url: WebURL, _ isPinned: Bool) async throws
    func setPinned(_ entry: CachedItem.ID, _ isPinned: Bool) async throws
    func export(_ entry: CachedItem.ID, into descriptor: CInt) async throws -> CacheExport?
}

extension CacheFolder: CacheAdministration {}

/// Runs one command of `reprise cache` and prints its result.
struct CacheCommand: Sendable {
    let request: CacheRequest
    let administration: any CacheAdministration
    let supply: MusicSupply
    let console: CacheConsole

    /// Never throws: a failure is printed and returned as the exit code.
    ///
    /// If the task is cancelled, completed steps are not undone, and the exit code is that of a signal.
    func run() async -> ExitCode {
        do {
            return try await perform()
        } catch {
            console.painter?.finish()
            if error is CancellationError { return .signal }
            console.say(Self.message(error, folder: request.folder))
            return .couldNotStart
        }
    }

    /// The message for an error that makes the cache in `folder` unusable.
    static func message(_ error: any Error, folder: String) -> SafeText {
        (error as? MediaError)?.safeText ?? SafeText("cache folder \(folder): \(error)")
    }

    private func perform() async throws -> ExitCode {
        switch request.action {
        case .list(let selection): try await list(selection)
        case .info(let source): try await info(source)
        case .savings: try await savings()
        case .verify: try await CacheVerification(command: self).run()
        case .evict(let sources, let includesPinned):
            try await evict(sources, includesPinned: includesPinned)
        case .shrink(let size, let includesPinned): try await shrink(to: size, includesPinned: includesPinned)
        case .forecast(let size): try await forecast(shrinkingTo: size)
        case .clear(let isConfirmed, let includesPinned):
            try await clear(isConfirmed: isConfirmed, includesPinned: includesPinned)
        case .export(let order): try await CacheExporting(command: self).run(order)
        case .pin(let sources, let isFetched):
            try await CacheFetching(command: self, pins: true).run(sources, fetches: isFetched)
        case .unpin(let sources):
            try await CacheFetching(command: self, pins: false).run(sources, fetches: false)
        case .fetch(let sources):
            try await CacheFetching(command: self, pins: nil).run(sources, fetches: true)
        }
    }

    /// Writes `fields` as one object with `--json`, else `lines`.
    func write(_ fields: [(key: String, value: EventField)], or lines: [String]) {
        for line in request.isJSON ? [EventLine.json(fields)] : lines { console.write(line) }
    }

    private var table: EntryTable {
        EntryTable(style: console.style, now: console.now(), time: console.time)
    }

    // MARK: Listing

    private func list(_ selection: EntrySelection) async throws -> ExitCode {
        let all = try await administration.list()
        let entries = selection.applied(to: all)
        if request.isJSON {
            for entry in entries { console.write(EventLine.json(entry.listFields)) }
        } else if entries.isEmpty && !all.isEmpty {
            console.write("No cached track matches")
        } else {
            for line in table.lines(entries) { console.write(line) }
        }
        return .success
    }

    private func info(_ source: String) async throws -> ExitCode {
        guard let entry = try await NamedEntries(command: self, name: "info").entry(source) else {
            return .nothingPlayed
        }
        write(entry.infoFields, or: table.details(entry))
        return .success
    }

    /// `today`, `this month` and `in all`, and each server.
    private func savings() async throws -> ExitCode {
        let savings = try await administration.savings()
        func fields(_ bytes: HeardBytes) -> [(key: String, value: EventField)] {
            [("saved", .integer(bytes.saved)), ("heard", .integer(bytes.heard))]
        }
        let hosts = savings.hosts.map { EventField.group([("host", .text($0.name))] + fields($0.total)) }
        let periods = [("today", savings.today), ("this month", savings.month), ("in all", savings.total)]
        let lines = (periods + savings.hosts.map { ($0.name.string, $0.total) }).map { name, bytes in
            let size = SizeText.text(bytes.saved)
            let share = "\(bytes.percent) %"
            let gaps = [8 - size.count, 7 - share.count].map { String(repeating: " ", count: max(0, $0)) }
            return gaps[0] + size + gaps[1] + share + "  " + name
        }
        write(
            [
                ("today", .group(fields(savings.today))), ("month", .group(fields(savings.month))),
                ("total", .group(fields(savings.total))), ("hosts", .list(hosts)),
            ],
            or: lines
        )
        return .success
    }

    // MARK: Removing

    private func evict(_ sources: [String], includesPinned: Bool) async throws -> ExitCode {
        guard let named = try await NamedEntries(command: self, name: "evict").divided(sources) else {
            return .nothingPlayed
        }
        let found = await supply.tracks(of: named.others)
        // Open music is in use, and would stay.
        await supply.closeOpened()
        // After a cancellation only a part of the sources is resolved.
        try Task.checkCancellation()
        for problem in found.problems { console.say(problem.safeText) }
        var entries = Set(named.entries.map(\.id))
        var missingCount = 0
        for url in found.urls {
            let cached = try await administration.renditions(of: url)
            entries.formUnion(cached.map(\.id))
            if cached.isEmpty { missingCount += 1 }
        }
        let removal = try await removing { [entries, missingCount] in
            var removal = try await $0.evict(Array(entries), includingPinned: includesPinned)
            removal.entriesMissing = missingCount
            return removal
        }
        let isPartial =
            found.problems.contains { $0.code != .leftOut }
            || removal.entriesPinned + removal.entriesInUse + missingCount > 0
        if removal.entriesRemoved == 0 { return .nothingPlayed }
        return isPartial ? .someFailed : .success
    }

    private func shrink(to size: Int64, includesPinned: Bool) async throws -> ExitCode {
        let removal = try await removing {
            try await $0.evict(toBudget: size, includingPinned: includesPinned)
        }
        let left = try await administration.list().reduce(Int64(0)) { $0 &+ $1.allocatedBytes }
        guard left > size else { return .success }
        console.say(SafeText("cache evict: \(SizeText.text(left)) are left; the rest is pinned or in use"))
        return removal.entriesRemoved == 0 ? .nothingPlayed : .someFailed
    }

    private func forecast(shrinkingTo size: Int64) async throws -> ExitCode {
        let victims = try await administration.victims(toBudget: size)
        if !request.isJSON {
            for entry in victims { console.write(table.brief(entry)) }
        }
        show(CacheRemoval(of: victims), lists: victims.count(where: \.isList), as: "would free")
        return .success
    }

    private func clear(isConfirmed: Bool, includesPinned: Bool) async throws -> ExitCode {
        if !isConfirmed {
            let what = includesPinned ? "all music, pinned too," : "all unpinned music"
            // The index of a folder that another version made cannot be read, but it can be deleted.
            let amount =
                includesPinned ? try? await amount(of: { _ in true }) : try await amount(of: { !$0.isPinned })
            let question = "Delete \(what) in \(SafeText(request.folder))\(amount ?? "")? [y/N] "
            guard let answer = console.ask(question) else {
                console.say("cache clear: no terminal to confirm on; use --yes")
                return .usage
            }
            guard ["y", "yes"].contains(answer.lowercased()) else {
                console.say("cache clear: nothing was deleted")
                return .success
            }
        }
        _ = try await removing { try await $0.clear(includingPinned: includesPinned) }
        return .success
    }

    /// The size and number of the entries that `include` returns `true` for, in parentheses.
    private func amount(of include: (CachedItem) -> Bool) async throws -> String {
        let entries = try await administration.list().filter(include)
        let size = SizeText.text(entries.reduce(0) { $0 &+ $1.allocatedBytes })
        let lists = entries.count(where: \.isList)
        return " (\(size), \(CountText.tracks(entries.count - lists, lists: lists)))"
    }

    /// Makes `change`, and shows how many tracks and lists it removed.
    private func removing(
        _ change: (any CacheAdministration) async throws -> CacheRemoval
    ) async throws -> CacheRemoval {
        let before = (try? await administration.list().filter(\.isList).map(\.id)) ?? []
        let removal = try await change(administration)
        let left = before.isEmpty ? [] : Set(try await administration.list().map(\.id))
        show(removal, lists: before.count { !left.contains($0) })
        return removal
    }

    private func show(_ removal: CacheRemoval, lists: Int, as words: String = "freed") {
        let tracks = CountText.tracks(max(0, removal.entriesRemoved - lists), lists: lists)
        var line = "\(words) \(SizeText.text(removal.bytesFreed)) (\(tracks))"
        if removal.entriesPinned > 0 { line += "; \(removal.entriesPinned) pinned left" }
        if removal.entriesInUse > 0 { line += "; \(removal.entriesInUse) in use left" }
        if removal.entriesMissing > 0 { line += "; \(removal.entriesMissing) not cached" }
        write(
            [
                ("removed", .integer(Int64(removal.entriesRemoved))),
                ("bytes", .integer(removal.bytesFreed)),
                ("pinned", .integer(Int64(removal.entriesPinned))),
                ("inUse", .integer(Int64(removal.entriesInUse))),
                ("unknown", .integer(Int64(removal.entriesMissing))),
            ],
            or: [line]
        )
    }
}
