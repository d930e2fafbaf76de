import Foundation
import Media
import TerminalUI
import Testing

@testable import Reprise

/// The documents name everything that users rely on, and do not contradict each other.
struct DocumentTests {
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path

    private static func text(_ name: String) throws -> String {
        try String(contentsOfFile: root + "/" + name, encoding: .utf8)
    }

    /// The manual page without the marks of roff.
    private static func manual() throws -> String {
        try text("docs/reprise.1").replacing("\\-", with: "-").replacing(/\\f[BIRP]/, with: "")
    }

    /// The entries of the manual's lists, a tag and its text each, as a reader sees them.
    private static func entries() throws -> [(tag: String, text: String)] {
        try manual().components(separatedBy: "\n.TP\n").dropFirst().compactMap { entry in
            let lines = entry.split(separator: "\n")
            guard lines.count > 1, let space = lines[0].firstIndex(of: " ") else { return nil }
            // `.BR > ", " <` sets its words without the blanks between them; quotes hold blanks that are
            // shown.
            let words = lines[0][space...].matches(of: /"([^"]*)"|([^" ]+)/)
            return (words.map { String($0.1 ?? $0.2 ?? "") }.joined(), String(lines[1]))
        }
    }

    @Test func `the keys and commands of the manual are those of the table`() throws {
        let uses = CommandTable.rows.flatMap(\.keyUses)
        try Self.check("keys", uses.map { (Self.tag($0.keys), $0.help.string) })
        for (name, reaches) in [
            ("commands", [.everywhere, .lines]), ("commands of keys", [.keys]),
            ("commands of the screen", [.screen]),
        ] as [(String, [CommandRow.Reach])] {
            let rows = CommandTable.rows.filter { reaches.contains($0.reach) }
            try Self.check(name, rows.map { (Self.tag($0), $0.help.string) })
        }
    }

    @Test func `the options and cache commands of the manual are those that are declared`() throws {
        let playing = DeclaredCommand(Options.self).options
        try Self.check("options", playing.compactMap { Self.entry($0) })
        let shared = Set(playing.flatMap(\.longNames))
        let declared = DeclaredCommand(CacheCommands.self).subcommands ?? []
        let commands = declared.filter { $0.commandName != "help" }
        #expect(commands.map(\.commandName) == CacheCommands.names)
        try Self.check(
            "cache commands",
            commands.map { command in
                let operands = command.options.filter { $0.kind == "positional" }.map { operand in
                    let name = (operand.valueName ?? "").uppercased() + (operand.isRepeating ? " ..." : "")
                    return operand.isOptional ? " [\(name)]" : " " + name
                }
                let own = command.options.filter { shared.isDisjoint(with: $0.longNames) }.compactMap {
                    Self.entry($0, escaping: { $0 })
                }
                let options = own.map { ".TP\n\($0.tag)\n\($0.text)\n" }.joined()
                return (
                    ".BI \"cache \(command.commandName)\" \"\(operands.joined())\"",
                    Self.text(command.abstract, command.discussion)
                        + (own.isEmpty ? "" : "\n.RS\n\(options).RE")
                )
            }
        )
    }

    /// The entry of an option; `nil` for an operand.
    private static func entry(
        _ option: DeclaredOption,
        escaping escape: (String) -> String = escaped
    ) -> (tag: String, text: String)? {
        guard option.kind != "positional" else { return nil }
        let names = (option.names ?? []).map { ($0.kind == "long" ? "--" : "-") + $0.name }
        let tag = names.map(escape).joined(separator: " \", \" ")
        let value = option.valueName?.uppercased() ?? ""
        return (
            option.kind == "flag" ? ".BR \(tag)" : ".BI \(tag) \" \(value)\"",
            text(option.abstract, option.discussion)
        )
    }

    /// The sentences, one below the other; a quote at the start of a line would be a command of roff.
    private static func text(_ sentences: String?...) -> String {
        sentences.compactMap { $0 }.joined(separator: "\n").split(separator: "\n")
            .map { $0.hasPrefix("'") ? "\\&" + $0 : String($0) }.joined(separator: "\n")
    }

    private static func tag(_ keys: [Key]) -> String {
        ".BR " + keys.map { escaped($0.name.string) }.joined(separator: " \", \" ")
    }

    private static func tag(_ row: CommandRow) -> String {
        row.syntax.isEmpty
            ? ".B " + escaped(row.name) : ".BI \(escaped(row.name)) \" \(escaped(row.syntax))\""
    }

    /// `text` as roff shows it: a plain hyphen would break lines, and a line may not begin with a quote or a
    /// dot.
    private static func escaped(_ text: String) -> String {
        (text.hasPrefix("'") || text.hasPrefix(".") ? "\\&" : "") + text.replacing("-", with: "\\-")
    }

    /// Compares a list of the manual, between its two comments, with the program's; `make manual` writes it.
    private static func check(_ name: String, _ entries: [(tag: String, text: String)]) throws {
        let page = try text("docs/reprise.1")
        let start = try #require(page.firstRange(of: ".\\\" \(name): begin\n")).upperBound
        let end = try #require(page[start...].firstRange(of: ".\\\" \(name): end\n")).lowerBound
        let list = entries.map { ".TP\n\($0.tag)\n\(escaped($0.text))\n" }.joined()
        if ProcessInfo.processInfo.environment["REPRISE_WRITE_MANUAL"] == "1" {
            let written = page[..<start] + list + page[end...]
            try written.write(toFile: root + "/docs/reprise.1", atomically: true, encoding: .utf8)
        } else {
            #expect(page[start..<end] == list, "run `make manual`")
        }
    }

    @Test func `the manual has every exit code and every color of the screen`() throws {
        let manual = try Self.manual()
        for exit in ExitCode.allCases { #expect(manual.contains("\n.B \(exit.rawValue)\n"), "\(exit)") }
        for part in ColorTable.names { #expect(manual.contains(part), "\(part)") }
    }

    @Test func `the sample of the configuration names every setting, at the head of its table`() throws {
        let manual = try Self.manual()
        // A comment goes on at the next line if it ends with a comma.
        let heads = manual.matches(of: #/\n\[(\w+)\] +# (.+?(?:,\n.*# .+)?)\n/#)
        let named = heads.flatMap { head in
            head.2.replacing(#/,\n.*# /#, with: ", ").split(separator: ", ").map { "\(head.1).\($0)" }
        }
        #expect(Set(named).isSuperset(of: Options.settings.map(\.name)), "\(named)")
    }

    @Test func `the document of events has every code, every reason of a request and every decision`() throws
    {
        let events = try Self.text("docs/events.md")
        for code in MediaError.Code.allCases { #expect(events.contains("`\(code.rawValue)`"), "\(code)") }
        for decision in JournalRecord.Decision.allCases {
            #expect(events.contains("`\(decision.rawValue)`"), "\(decision)")
        }
        for urgency in Urgency.allCases { #expect(events.contains("`\(urgency.rawValue)`"), "\(urgency)") }
    }

    @Test(arguments: EventLineTests.goldens.map(\.event))
    func `the document of events has every field`(event: PlayerEvent) throws {
        let events = try Self.text("docs/events.md")
        let line = EventLine(event, at: .zero)
        let row = try #require(events.split(separator: "\n").first { $0.hasPrefix("| `\(line.name)` |") })
        for field in line.fields { #expect(row.contains("`\(field.key)`"), "\(field.key)") }
    }

    @Test func `the keys of the README are those of the manual`() throws {
        let entries = try Self.entries()
        let section = try #require(try Self.text("README.md").split(separator: "## Keys\n").last)
        let rows = section.prefix { $0 != "#" }.matches(of: /\| (`.+`) \| (.+) \|/)
        #expect(rows.count >= 10)
        for row in rows {
            let key = row.1.replacing("`", with: "")
            #expect(entries.first { $0.tag == key }?.text == String(row.2), "\(key)")
        }
    }

    @Test func `the README names options that exist, and files that are there`() throws {
        let readme = try Self.text("README.md")
        let manual = try Self.manual()
        let options = readme.matches(of: /--[a-z][a-z-]+/)
        let links = readme.matches(of: /\]\(([^)]+)\)/)
        #expect(!options.isEmpty && !links.isEmpty)
        for option in options { #expect(manual.contains(option.output)) }
        for link in links {
            #expect(FileManager.default.fileExists(atPath: Self.root + "/" + link.1), "\(link.1)")
        }
    }

    @Test func `the README counts the kinds of faults that the tests send to the player`() throws {
        let faults = try Self.text("Tests/Origin/RepriseOrigin/Fault.swift").matches(of: /\n    case (\w+)/)
        // A stream of a radio station is no fault, and other bytes are sent only in the origin's own tests.
        let count = Set(faults.map { String($0.1) }).subtracting(["live", "otherBytes"]).count
        #expect(try Self.text("README.md").contains("Tests cover \(count) kinds of faults"))
    }
}
