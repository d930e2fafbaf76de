import Media

extension CacheCommand {
    func evict(_ sources: [String], includesPinned: Bool) async throws -> ExitCode {
        let found = await SourceTracks.resolve(sources, by: supply)
        // Half of what was named is not what was asked for.
        try Task.checkCancellation()
        for problem in found.problems { console.say(problem.safeText) }
        let report = try await administration.drop(found.urls, includesPinned: includesPinned)
        show(report)
        let failed = !found.problems.isEmpty || report.leftEntries > 0 || report.unknownSources > 0
        if report.removedEntries == 0 { return .nothingPlayed }
        return failed ? .someFailed : .success
    }

    func shrink(to size: Int64, includesPinned: Bool) async throws -> ExitCode {
        let report = try await administration.shrink(to: size, includesPinned: includesPinned)
        show(report)
        let left = try await administration.list().reduce(Int64(0)) { $0 &+ $1.allocatedBytes }
        guard left > size else { return .success }
        console.say(
            SafeText("cache evict: \(ByteSize.text(left)) are left, for the rest is pinned or in use")
        )
        return report.removedEntries == 0 ? .nothingPlayed : .someFailed
    }

    func forecast(shrinkingTo size: Int64) async throws -> ExitCode {
        show(try await administration.forecast(shrinkingTo: size), as: "would drop")
        return .success
    }

    func clear(isConfirmed: Bool, includesPinned: Bool) async throws -> ExitCode {
        if !isConfirmed {
            let what = includesPinned ? "all music, what is pinned too," : "all music that is not pinned"
            guard let answer = console.ask("Drop \(what) kept in \(SafeText(request.folder))? [y/N] ") else {
                console.say("cache clear: there is no terminal to ask on; say --yes")
                return .usage
            }
            guard ["y", "yes"].contains(answer.lowercased()) else {
                console.say("cache clear: nothing was dropped")
                return .success
            }
        }
        show(try await administration.clear(includesPinned: includesPinned))
        return .success
    }

    private func show(_ report: DropReport, as words: String = "dropped") {
        guard !request.isJSON else {
            console.write(
                EventLine.json([
                    ("removed", .integer(Int64(report.removedEntries))),
                    ("bytes", .integer(report.removedBytes)),
                    ("pinned", .integer(Int64(report.pinnedEntries))),
                    ("inUse", .integer(Int64(report.openEntries))),
                    ("unknown", .integer(Int64(report.unknownSources))),
                ])
            )
            return
        }
        var line =
            "\(words) \(CountText.of(report.removedEntries, "entry", "entries")), "
            + ByteSize.text(report.removedBytes)
        if report.pinnedEntries > 0 { line += "; \(report.pinnedEntries) pinned left" }
        if report.openEntries > 0 { line += "; \(report.openEntries) in use left" }
        if report.unknownSources > 0 { line += "; \(report.unknownSources) not kept" }
        console.write(line)
    }
}
