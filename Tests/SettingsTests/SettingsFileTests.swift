import Media
import Testing

@testable import Settings

@Suite struct SettingsFileTests {
    private static let schema = SettingsSchema(
        settings: [
            .init("play", "volume", "--volume", .value, or: "100"),
            .init("network", "fill", "--fill", .flag, or: "false"),
            .init("cache", "identity", "--cache-identity", .list, or: ""),
        ],
        openTables: ["keys"]
    )

    private func file(_ text: String) throws(SettingsFile.Refusal) -> SettingsFile {
        try SettingsFile(parsing: text, name: "config.toml", schema: Self.schema)
    }

    @Test func `each setting becomes the option that is typed`() throws {
        let file = try file(
            "[play]\nvolume = 70\n[network]\nfill = true\n[cache]\nidentity = [\"host=a strip=b\", \"host=c strip=d\"]\n"
        )
        #expect(file.entries.map(\.line) == [2, 4, 6])
        #expect(
            file.entries.flatMap(\.arguments) == [
                "--volume=70", "--fill", "--cache-identity=host=a strip=b", "--cache-identity=host=c strip=d",
            ]
        )
    }

    @Test func `a flag that is false, an empty list and an empty table say nothing`() throws {
        let file = try file("[network]\nfill = false\n[cache]\nidentity = []\n[keys]\n[play]\n")
        #expect(file.entries.flatMap(\.arguments).isEmpty)
        #expect(file.pairs.isEmpty)
    }

    @Test func `tables of the listener's own are taken as they stand`() throws {
        let file = try file("[keys]\nx = \"stop\"\n\"Ctrl-N\" = \"next\"\n")
        #expect(
            file.pairs == [
                .init(table: "keys", name: "x", value: "stop", line: 2),
                .init(table: "keys", name: "Ctrl-N", value: "next", line: 3),
            ]
        )
    }

    @Test(arguments: [
        ("[play]\nvolum = 3\n", "config.toml:2: play.volum is no setting; reprise config lists them all"),
        ("\n[network]\nfill = \"yes\"\n", "config.toml:3: network.fill takes true or false"),
        (
            "[play]\nvolume = [1, 2]\n",
            "config.toml:2: play.volume.0 takes one value, in quotes unless it is a number"
        ),
        (
            "[cache]\nidentity = \"x\"\n",
            "config.toml:2: cache.identity takes a list of texts: [\"…\", \"…\"]"
        ),
        ("[keys]\nx = 3\n", "config.toml:2: keys.x takes a text in quotes"),
        ("volume = 3\n", "config.toml:1: volume is no setting; reprise config lists them all"),
        (
            "[play]\nvolume.loud = 3\n",
            "config.toml:2: play.volume.loud takes one value, in quotes unless it is a number"
        ),
    ])
    func `what no setting can be is refused with file and line`(_ text: String, _ refusal: String) {
        let thrown = #expect(throws: SettingsFile.Refusal.self) { try file(text) }
        #expect(thrown?.description == refusal)
    }

    @Test func `the refusal of a broken file names its line`() {
        let thrown = #expect(throws: SettingsFile.Refusal.self) { try file("[play]\nvolume 3\n") }
        #expect(thrown?.description.hasPrefix("config.toml:2: ") == true)
    }

    @Test func `the command line wins over the file, and lists go together`() throws {
        let file = try file("[play]\nvolume = 70\n[cache]\nidentity = [\"host=a strip=b\"]\n")
        let effective = EffectiveSetting.all(
            of: Self.schema,
            file: file,
            arguments: ["--cache-identity", "host=c strip=d", "x.mp3", "--", "--fill"]
        )
        #expect(
            effective == [
                .init(name: "play.volume", text: "70", origin: .file(name: "config.toml", line: 2)),
                .init(name: "network.fill", text: "false", origin: .fallback),
                .init(name: "cache.identity", text: "host=a strip=b, host=c strip=d", origin: .commandLine),
            ]
        )
        let typed = EffectiveSetting.all(of: Self.schema, file: file, arguments: ["--volume=5", "--fill"])
        #expect(typed.map(\.text) == ["5", "true", "host=a strip=b"])
    }
}
