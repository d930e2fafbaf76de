import HTTP
import Media
import Output
import Testing

@testable import Reprise

@Suite struct ConfigurationTests {
    private func configuration(_ text: String) throws(UsageError) -> Configuration {
        let configuration = Configuration(parsing: text, name: "config.toml")
        if let error = configuration.errors.first { throw error }
        return configuration
    }

    private func options(_ file: String, _ arguments: [String]) throws -> Options {
        guard case .play(let options) = try configuration(file).invocation(of: arguments) else {
            throw UsageError("not a command line that plays")
        }
        return options
    }

    /// The refusal of the file, or of the typed arguments behind it.
    private func refusal(_ file: String, _ arguments: [String] = ["x.mp3"]) -> String? {
        do {
            _ = try Configuration(parsing: file, name: "config.toml").invocation(of: arguments)
            return nil
        } catch {
            return error.description
        }
    }

    @Test func `a setting of the file counts like its option, and a typed option overrides it`() throws {
        let file = "[play]\nvolume = 30\nshuffle = true\nsink = \"null\"\n[cache]\nsize = \"2GB\"\n"
        let options = try options(file, ["x.mp3"])
        #expect(options.volume == 30 && options.shuffle == true && options.sink == .null)
        #expect(options.bounds.cacheSize == 2_000_000_000)
        #expect(options.sources == ["x.mp3"])
        let typed = try self.options(file, ["--volume", "40", "--no-shuffle", "x.mp3"])
        #expect(typed.volume == 40 && typed.shuffle == false && typed.sink == .null)
        // `false` overrides the last session, which might have been shuffled.
        let inOrder = "[play]\nshuffle = false\n"
        #expect(try self.options(inOrder, ["x.mp3"]).shuffle == false)
        #expect(try self.options(inOrder, ["--shuffle", "x.mp3"]).shuffle == true)
    }

    @Test func `a typed list replaces the one of the file`() throws {
        let file = "[network]\nheader = [\"A: 1\", \"B: 2\"]\n"
        #expect(try options(file, ["x"]).network.headers.map(\.name) == ["A", "B"])
        for typed in [["--header", "C: 3", "x"], ["x", "--header=C: 3"]] {
            #expect(try options(file, typed).network.headers.map(\.name) == ["C"])
        }
        // Behind two dashes it is a source.
        #expect(try options(file, ["--", "--header"]).network.headers.map(\.name) == ["A", "B"])
    }

    @Test func `each setting becomes its option, with the line of the file`() throws {
        let rules = "identity = [\"host=a strip=b\", \"host=c strip=d\"]"
        let file = try configuration("[play]\nvolume = 70\n[network]\nfill = true\n[cache]\n\(rules)\n")
        #expect(file.entries.map(\.line) == [2, 4, 6])
        let first = "--cache-identity=host=a strip=b"
        let second = "--cache-identity=host=c strip=d"
        #expect(file.entries.flatMap(\.arguments) == ["--volume=70", "--fill", first, second])
        // A flag that is false, an empty list and an empty table set nothing.
        let empty = try configuration("[network]\nfill = false\n[cache]\nidentity = []\n[keys]\n[play]\n")
        #expect(empty.entries.flatMap(\.arguments).isEmpty && empty.pairs.isEmpty)
    }

    @Test func `tables of keys and colours are taken as they are`() throws {
        let file = try configuration("[keys]\nx = \"stop\"\n\"Ctrl-N\" = \"next\"\n")
        #expect(
            file.pairs == [
                .init(table: "keys", name: "x", value: "stop", line: 2),
                .init(table: "keys", name: "Ctrl-N", value: "next", line: 3),
            ]
        )
    }

    @Test(arguments: [
        (
            "[play]\nvolum = 3",
            "2: Unknown setting play.volum – did you mean play.volume? (reprise config lists all)"
        ),
        ("[play]\noffline = true", "2: Unknown setting play.offline (reprise config lists all)"),
        ("[cash]", "1: Unknown setting cash (reprise config lists all)"),
        ("volume = 3", "1: Unknown setting volume – did you mean play.volume? (reprise config lists all)"),
        (
            "[network]\nsze = 1",
            "2: Unknown setting network.sze – did you mean cache.size? (reprise config lists all)"
        ),
        ("[network]\nfoo = 1", "2: Unknown setting network.foo (reprise config lists all)"),
        ("\n[network]\nfill = \"yes\"", "3: network.fill takes true or false"),
        ("[play]\nvolume = [1]", "2: play.volume.0 takes one value, in quotes unless it is a number"),
        ("[play]\nvolume.loud = 3", "2: play.volume.loud takes one value, in quotes unless it is a number"),
        ("[cache]\nidentity = \"x\"", "2: cache.identity takes a list of texts: [\"…\", \"…\"]"),
        ("[keys]\nx = 3", "2: keys.x takes a text in quotes"),
        (
            "[play]\nvolume = 300",
            "2: The value '300' is invalid for '--volume <percent>': use 0 to 100"
        ),
        (
            "\n\n[cache]\nsize = \"much\"",
            "4: The value 'much' is invalid for '--cache-size <size>': use a size as 500M or 10GB"
        ),
        (
            "[network]\nheader = [\"A: 1\", \"hunter\"]",
            "2: --header takes 'Name: value' or @FILE, and no field like Range that the player sets itself"
        ),
        (
            "[cache]\noff = true\n[network]\nfill = true",
            "4: --fill needs the cache that --no-cache forbids"
        ),
    ])
    func `a refused setting is named with file and line`(_ file: String, _ expected: String) {
        #expect(refusal(file) == "config.toml:" + expected)
    }

    @Test func `config lists every error in the order of the lines, and playing names the first`() throws {
        let file = """
            [play]
            volum = 3
            gain = "loud"
            [network]
            fill = 3
            [keys]
            x = "quitt"
            [colors]
            titel = "red"
            [cache]
            size = "much"
            min-free = "1GB"
            """
        let configuration = Configuration(parsing: file, name: "c")
        guard case .configuration = try configuration.invocation(of: ["config"]) else {
            Issue.record("not config")
            return
        }
        let errors = configuration.errors.map(\.description)
        let starts = [
            "c:2: Unknown setting play.volum – did you mean play.volume?", "c:3: The value ",
            "c:5: network.fill takes true",
            "c:7: keys.x can't run this: Unknown command \"quitt\" – did you mean quit?",
            "c:9: colors.titel is not a part of the screen – did you mean title?", "c:11: The value ",
        ]
        #expect(errors.count == starts.count)
        for (error, start) in zip(errors, starts) { #expect(error.hasPrefix(start), "\(error)") }
        #expect { try configuration.invocation(of: ["x.mp3"]) } throws: {
            "\($0)" == errors[0] && ($0 as? UsageError)?.help == "reprise config for 5 more errors"
        }
        // Help, a sample and other commands that need no setting are there to repair the file.
        for words in [["--help"], ["config", "--help"], ["config", "--sample"], ["--version"]] {
            guard case .show = try configuration.invocation(of: words) else {
                Issue.record("\(words) is refused")
                continue
            }
        }
    }

    @Test func `config has its own help, and a sample in which every setting can be uncommented`() throws {
        #expect(try shown("config", "--help").contains("--sample"))
        #expect(try !shown("config", "--help").contains("--volume"))
        let sample = try shown("config", "--sample")
        let untouched = try configuration(sample)
        #expect(untouched.entries.isEmpty && untouched.pairs.isEmpty)
        let lines = sample.split(separator: "\n").map {
            $0.hasPrefix("#") && !$0.hasPrefix("# ") ? $0.dropFirst() : $0
        }
        let used = Configuration(parsing: lines.joined(separator: "\n"), name: "c")
        #expect(used.entries.map(\.setting.name).sorted() == Options.settings.map(\.name).sorted())
        #expect(used.pairs.count == 2)
        // Only what the user has to name is refused.
        for error in used.errors { #expect(error.description.contains(/'[A-Z]+'|FIELD|FILE/), "\(error)") }
        #expect(refusal(sample, ["config", "--sample", "x"])?.contains("no other option") == true)
    }

    @Test func `a line that is no TOML hides no error of other lines`() {
        let file = """
            loose
            [play]
            volum = 3
            gain =
            sink = "null"
            [colors
            title = "red"
            [cache]
            header = [ "a",
            [network]
            fill = 3\r
            [network]
            """
        let lines = Configuration(parsing: file, name: "c").errors.compactMap {
            $0.description.split(separator: ":").dropFirst().first.flatMap { Int($0) }
        }
        #expect(lines == [1, 3, 4, 6, 9, 11])
        let good = "[play]\nvolume = 3\n[cache]\nsize = \"1GB\"\n"
        for broken in ["[play\n", "= 3\n", "a = \"\n", "a = '''\n", "\u{0}\n", "[", "a = [ 1, 2"] {
            let errors = Configuration(parsing: good + broken, name: "c").errors
            #expect(!errors.isEmpty && errors.allSatisfy { $0.description.hasPrefix("c:") }, "\(errors)")
        }
    }

    @Test func `the refusal of a broken file names its line, and that of an argument no file`() {
        #expect(refusal("[play]\nvolume 3\n")?.hasPrefix("config.toml:2: ") == true)
        #expect(refusal("[play]\nvolume = 3\n", ["--start", "0"])?.contains("config.toml") == false)
    }

    @Test func `the file chooses the colours for a light background`() throws {
        let file = try configuration("[screen]\ntheme = \"light\"\n")
        #expect(file.extending(["a"]) == ["--theme=light", "a"])
        let wrong = Configuration(parsing: "[screen]\ntheme = \"pink\"\n", name: "c").errors.map(
            \.description
        )
        #expect(
            wrong.count == 1 && wrong[0].contains("use auto, dark, light, mono, midnight, ember or paper")
        )
    }

    @Test func `every setting is an option of its kind, under its own name`() {
        let declared = DeclaredCommand(Options.self).options
        for setting in Options.settings {
            let option = declared.first { $0.longNames.contains(setting.option) }
            let kind: Setting.Kind? = option.map { option in
                guard option.kind == "flag" else { return option.isRepeating ? .list : .value }
                return declared.contains { $0.longNames.contains(setting.negation) } ? .toggle : .flag
            }
            #expect(kind == setting.kind, "\(setting.name)")
        }
        #expect(
            Options.settings.map(\.name).sorted() == [
                "cache.age", "cache.dir", "cache.identity", "cache.min-free", "cache.off", "cache.secret",
                "cache.size", "network.ahead", "network.cacert", "network.fill", "network.header",
                "network.hls-quality", "network.journal", "network.metered",
                "network.read-ahead", "network.user-agent", "play.charset", "play.gain", "play.inhibit",
                "play.mpris", "play.repeat", "play.resume-after-sleep",
                "play.shuffle",
                "play.sink", "play.sink-format", "play.socket", "play.volume", "screen.no-mouse",
                "screen.tags",
                "screen.theme", "screen.waveform",
            ]
        )
    }

    @Test func `a cache command gets the settings that it has options for`() throws {
        let file = "[play]\nvolume = 3\n[cache]\ndir = \"/c\"\nsize = \"1GB\"\n"
        for (typed, extended) in [
            ("cache --json list", "cache list --cache-dir=/c --json"),
            ("cache fetch u", "cache fetch --cache-dir=/c --cache-size=1GB u"),
            ("cache keygen k", "cache keygen k"),
            // The settings do not change the completion script.
            ("--generate-completion-script bash", "--generate-completion-script bash"),
        ] {
            let arguments = typed.split(separator: " ").map(String.init)
            #expect(try configuration(file).extending(arguments).joined(separator: " ") == extended)
        }
    }

    @Test(arguments: CacheCommands.names)
    func `a cache command has an option for each setting that it gets`(name: String) throws {
        let help = try shown("cache", name, "--help")
        for setting in CacheCommands.settings(of: name) { #expect(help.contains(setting.option + " ")) }
    }

    @Test func `config lists values and origins, without the values of header fields`() throws {
        let configuration = try configuration(
            "[play]\nvolume = 30\n[network]\nheader = [\"Authorization: a, hidden\"]\n[cache]\noff = true\n"
        )
        let lines = configuration.listing(
            with: ["--sink", "null", "--no-shuffle", "--gain=track"],
            style: TextStyle(columns: nil)
        )
        let words = lines.map { $0.split(separator: " ").joined(separator: " ") }
        for line in [
            "play.volume 30 config.toml:2", "play.sink null command line", "play.shuffle false command line",
            "play.gain track command line", "cache.size 10GB default", "cache.off true config.toml:6",
            "network.fill false default", "network.header Authorization: … config.toml:4",
        ] { #expect(words.contains(line), "\(line)") }
        #expect(!lines.joined().contains("hidden"))
        let unset = try self.configuration("").listing(with: [], style: TextStyle(columns: nil))
        let rows = unset.map { $0.split(separator: " ").map(String.init) }
        #expect(rows.contains(["network.header", "default"]))
        let folder = try #require(BasePaths.path(of: .cache))
        #expect(rows.contains(["cache.dir", folder, "default"]))
    }
}
