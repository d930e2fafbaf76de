import Foundation
import Testing

@testable import Reprise

/// The reader that needs no reflection, beside the declarations that it must agree with.
@Suite
struct PlayTextTests {
    /// One option as the declarations' own dump has it.
    private struct Declared: Decodable {
        struct Name: Decodable {
            var kind: String
            var name: String
        }

        var kind: String
        var names: [Name]?
    }

    private struct Dump: Decodable {
        struct Command: Decodable {
            var arguments: [Declared]
        }

        var command: Command
    }

    /// The long names that are declared, and whether each takes a value; without those that ask for help.
    private func declared() throws -> [(name: String, takesValue: Bool)] {
        guard
            case .show(let dump) = try Invocation.parse(
                ["--experimental-dump-help"],
                defaultCacheFolder: { nil }
            )
        else { return [] }
        let arguments = try JSONDecoder().decode(Dump.self, from: Data(dump.utf8)).command.arguments
        return arguments.flatMap { argument in
            (argument.names ?? []).filter { $0.kind == "long" && $0.name != "help" }
                .map { ("--" + $0.name, argument.kind == "option") }
        }
    }

    @Test func `every declared option is read without reflection, and means what its declaration says`()
        throws
    {
        let declared = try declared()
        #expect(declared.count > 25)
        for (name, takesValue) in declared {
            let lines =
                takesValue
                ? [[name, "x"], [name + "=x=y"], ["a", name, "x", "b", name, "z"], [name, ""]]
                : [[name], ["a", name, "b"], [name, name]]
            for line in lines {
                let read = PlayText(reading: line)
                #expect(read != nil, "\(line)")
                #expect(try read == PlayCommand.text(of: line), "\(line)")
            }
        }
    }

    @Test func `of two that contradict each other both readers take the last`() throws {
        for line in [["--shuffle", "--no-shuffle"], ["--no-shuffle", "--shuffle"], ["a", "-", "b"], []] {
            #expect(try PlayText(reading: line) == PlayCommand.text(of: line))
        }
        #expect(PlayText(reading: ["--no-shuffle", "--shuffle"])?.shuffle == true)
    }

    @Test(
        arguments: [
            ["--help"], ["-h"], ["a", "--", "-b"], ["--wobble"], ["--sink"], ["--sink", "--json"],
            ["--sink="],
            ["--json=yes"], ["--volume", "-5"], ["---completion", "a"], ["--head"],
        ]
    )
    func `what is not a plain option is left to the declarations`(line: [String]) {
        #expect(PlayText(reading: line) == nil)
    }
}
