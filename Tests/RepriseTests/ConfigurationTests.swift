import Media
import Output
import Settings
import Testing

@testable import Reprise

@Suite struct ConfigurationTests {
    private func options(_ file: String, _ arguments: [String]) throws -> Options {
        let configuration = try Configuration.parse(file, name: "config.toml")
        let invocation = try Invocation.parse(configuration.extending(arguments), defaultCacheFolder: { nil })
        guard case .play(let options) = invocation else { throw UsageError("not a command line that plays") }
        return options
    }

    private func refusal(_ file: String) -> String? {
        do {
            _ = try Configuration.parse(file, name: "config.toml")
            return nil
        } catch {
            return error.description
        }
    }

    @Test func `a setting of the file holds like the option`() throws {
        let options = try options("[play]\nvolume = 30\nshuffle = true\n[cache]\nsize = \"2GB\"\n", ["x.mp3"])
        #expect(options.volume == 30)
        #expect(options.shuffle == true)
        #expect(options.keeping.size == 2_000_000_000)
        #expect(options.sources == ["x.mp3"])
    }

    @Test func `what is typed wins over the file`() throws {
        let options = try options("[play]\nvolume = 30\nsink = \"null\"\n", ["--volume", "40", "x.mp3"])
        #expect(options.volume == 40)
        #expect(options.sink == .null)
    }

    @Test(arguments: [
        ("[play]\nvolume = 300\n", "config.toml:2: play.volume is refused: --volume takes 0 to 100"),
        (
            "\n\n[cache]\nsize = \"much\"\n",
            "config.toml:4: cache.size is refused: --cache-size takes a size, as 500M or 10GB"
        ),
        ("[play]\nvolumes = 3\n", "config.toml:2: play.volumes is no setting; reprise config lists them all"),
    ])
    func `a setting that is refused is named with file and line`(_ file: String, _ expected: String) {
        #expect(refusal(file) == expected)
    }

    @Test func `every setting of the schema is an option that exists`() throws {
        let samples = [
            "--sink": "null", "--volume": "5", "--repeat": "one", "--gain": "track", "--read-ahead": "30",
            "--header": "A: b",
            "--user-agent": "x", "--cacert": "/etc/passwd", "--cache-dir": "/c", "--cache-size": "1GB",
            "--cache-age": "3", "--min-free": "1GB", "--cache-identity": "host=a.example strip=b",
            "--journal": "/j",
        ]
        for setting in SettingsSchema.reprise.settings where setting.option != "--cache-secret" {
            let value = setting.kind == .flag ? "" : "=" + (try #require(samples[setting.option]))
            #expect(throws: Never.self, "\(setting.name)") {
                _ = try Invocation.parse([setting.option + value, "x"], defaultCacheFolder: { nil })
            }
        }
    }

    @Test func `a cache command takes those settings that it has options for`() throws {
        let file = "[play]\nvolume = 3\n[cache]\ndir = \"/c\"\nsize = \"1GB\"\n"
        let configuration = try Configuration.parse(file, name: "config.toml")
        #expect(
            configuration.extending(["cache", "list", "--json"]) == [
                "cache", "list", "--cache-dir=/c", "--json",
            ]
        )
        #expect(
            configuration.extending(["cache", "fetch", "u"]) == [
                "cache", "fetch", "--cache-dir=/c", "--cache-size=1GB", "u",
            ]
        )
        #expect(configuration.extending(["cache", "keygen", "k"]) == ["cache", "keygen", "k"])
        for arguments in [["cache", "list"], ["cache", "fetch", "http://h/u"], ["cache", "keygen", "k"]] {
            #expect(throws: Never.self) {
                _ = try Invocation.parse(configuration.extending(arguments), defaultCacheFolder: { nil })
            }
        }
    }

    @Test func `config says what holds and who says so, without the values of header fields`() throws {
        let file = "[play]\nvolume = 30\n[network]\nheader = [\"Authorization: Bearer hidden\"]\n"
        let configuration = try Configuration.parse(file, name: "config.toml")
        let lines = configuration.lines(["--sink", "null"], style: TextStyle(columns: nil))
        let words = lines.map { $0.split(separator: " ").map(String.init) }
        #expect(words.contains(["play.volume", "30", "config.toml:2"]))
        #expect(words.contains(["play.sink", "null", "command", "line"]))
        #expect(words.contains(["play.repeat", "off", "default"]))
        #expect(words.contains(["network.header", "Authorization:", "…", "config.toml:4"]))
        #expect(!lines.joined().contains("hidden"))
    }

    @Test func `the folder of the file follows the rules of the base directories`() {
        #expect(
            BasePaths.configurationFolder(
                environment: { $0 == "XDG_CONFIG_HOME" ? "/x/" : "/h" },
                accountHome: { nil }
            )
                == "/x/reprise"
        )
        #expect(
            BasePaths.configurationFolder(
                environment: { $0 == "HOME" ? "/h" : "relative" },
                accountHome: { nil }
            )
                == "/h/.config/reprise"
        )
        #expect(BasePaths.configurationFolder(environment: { _ in nil }, accountHome: { nil }) == nil)
    }
}
