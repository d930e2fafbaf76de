import Glibc
import Media

/// Does what `reprise cache` asks for, and prints it.
struct CacheCommand: Sendable {
    let administration: any CacheAdministration
    /// Takes a line for standard output.
    let write: @Sendable (String) -> Void
    /// Takes a message for standard error.
    let say: @Sendable (SafeText) -> Void
    /// Asks a question on the terminal and returns the answer; nil where there is no terminal.
    let ask: @Sendable (String) -> String?
    /// Seconds since 1970 as text.
    let time: @Sendable (Int64) -> String

    /// Runs the request; never throws: what fails is said and told by the exit code.
    func run(_ request: CacheRequest) async -> ExitCode {
        do {
            switch request.action {
            case .list: try await list(request)
            case .info(let source): return try await info(source, request)
            case .clear(let isConfirmed): return try await clear(request, isConfirmed: isConfirmed)
            }
            return .success
        } catch let error as MediaError {
            say(error.safeText)
        } catch {
            say(SafeText("the cache in \(request.folder): \(error)"))
        }
        return .couldNotStart
    }

    private func list(_ request: CacheRequest) async throws {
        let entries = try await administration.list()
        let lines = request.isJSON ? entries.map(CacheTable.json) : CacheTable.lines(entries, time: time)
        for line in lines { write(line) }
    }

    private func info(_ source: String, _ request: CacheRequest) async throws -> ExitCode {
        guard let entry = try await administration.info(source) else {
            // The source as typed may hold a secret, so it is not repeated.
            say("cache info: nothing of that source is kept; cache list shows what is")
            return .nothingPlayed
        }
        let lines = request.isJSON ? [CacheTable.json(entry)] : CacheTable.lines(entry, time: time)
        for line in lines { write(line) }
        return .success
    }

    private func clear(_ request: CacheRequest, isConfirmed: Bool) async throws -> ExitCode {
        if !isConfirmed {
            guard let answer = ask("Drop all music kept in \(SafeText(request.folder))? [y/N] ") else {
                say("cache clear: there is no terminal to ask on; say --yes")
                return .usage
            }
            guard ["y", "yes"].contains(answer.lowercased()) else {
                say("cache clear: nothing was dropped")
                return .success
            }
        }
        let clearing = try await administration.clear()
        if request.isJSON {
            write(
                EventLine.json([
                    ("removed", .integer(Int64(clearing.removedEntries))),
                    ("bytes", .integer(clearing.removedBytes)),
                    ("kept", .integer(Int64(clearing.keptEntries))),
                ])
            )
        } else {
            let kept = clearing.keptEntries > 0 ? "; \(clearing.keptEntries) in use were left" : ""
            write(
                "dropped \(clearing.removedEntries) entries, \(ByteSize.text(clearing.removedBytes))\(kept)"
            )
        }
        return .success
    }
}

extension CacheCommand {
    /// The command on this process's own terminal and streams.
    init(administration: any CacheAdministration) {
        let output = LineWriter(descriptor: STDOUT_FILENO, onReaderGone: {})
        self.init(
            administration: administration,
            write: { output.write($0) },
            say: { Messages.show($0) },
            ask: { question in
                guard isatty(STDIN_FILENO) == 1, isatty(STDERR_FILENO) == 1 else { return nil }
                _ = Array(question.utf8).withUnsafeBytes {
                    Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count)
                }
                return readLine() ?? ""
            },
            time: { CalendarTime.text(secondsSince1970: $0) }
        )
    }
}
