import Media

extension CacheCommand {
    func list(_ selection: EntrySelection) async throws -> ExitCode {
        let all = try await administration.list()
        let entries = selection.applied(to: all)
        if request.isJSON {
            for entry in entries { console.write(EventLine.json(EntryFields.list(entry))) }
        } else if entries.isEmpty && !all.isEmpty {
            console.write("nothing that is kept matches")
        } else {
            let table = EntryTable(style: console.style, now: console.now(), time: console.time)
            for line in table.lines(entries) { console.write(line) }
        }
        return .success
    }

    func info(_ source: String) async throws -> ExitCode {
        guard let entry = try await administration.info(try webURL(source, of: "info")) else {
            // The source as typed may hold a secret, so it is not repeated.
            console.say("cache info: nothing of that source is kept; cache list shows what is")
            return .nothingPlayed
        }
        if request.isJSON {
            console.write(EventLine.json(EntryFields.info(entry)))
        } else {
            let details = EntryDetails(style: console.style, time: console.time)
            for line in details.lines(entry) { console.write(line) }
        }
        return .success
    }
}
