import Media
import Testing

@testable import Reprise

@Suite
struct ValueTests {
    @Test(
        arguments: [
            ("0", 0), ("4096", 4096), ("500M", 500_000_000), ("10GB", 10_000_000_000), ("2k", 2000),
            ("1.5 GiB", 1_610_612_736), ("64KiB", 65_536), ("1B", 1), ("", nil), ("M", nil), (".5M", nil),
            ("5m", nil), ("-1", nil), ("1e9", nil), ("1.2.3", nil), ("99999999999T", nil), ("nan", nil),
        ] as [(text: String, bytes: Int64?)]
    )
    func `a size is a number and a unit`(text: String, bytes: Int64?) {
        #expect(ByteSize.parse(text) == bytes)
    }

    @Test(arguments: [("10", false), ("1.5", false), ("0", true), ("10B", true), ("2500000", true)])
    func `an option takes no small size without its unit`(text: String, isTaken: Bool) {
        #expect(((try? OptionValue.size(text)) != nil) == isTaken)
    }

    @Test(
        arguments: [
            (["XDG_CACHE_HOME": "/x/"], "/x/reprise"),
            (["XDG_CACHE_HOME": "", "HOME": "/h"], "/h/.cache/reprise"),
            (["XDG_CACHE_HOME": "rel", "HOME": "/h"], "/h/.cache/reprise"),
            (["HOME": "odd"], "/account/.cache/reprise"), ([:], "/account/.cache/reprise"),
            (["HOME": "/"], "/.cache/reprise"),
        ] as [(environment: [String: String], folder: String)]
    )
    func `the cache folder follows XDG`(environment: [String: String], folder: String) {
        let path = BasePaths.path(of: .cache, environment: { environment[$0] }, accountHome: { "/account" })
        #expect(path == folder)
    }

    @Test func `each folder has its own variable and place at home, and none exists without a home`() {
        func paths(_ environment: [String: String]) -> [String?] {
            [.cache, .configuration, .state].map { folder in
                BasePaths.path(of: folder, environment: { environment[$0] }, accountHome: { nil })
            }
        }
        let variables = ["XDG_CACHE_HOME": "/c", "XDG_CONFIG_HOME": "/o", "XDG_STATE_HOME": "/s"]
        #expect(paths(variables) == ["/c/reprise", "/o/reprise", "/s/reprise"])
        let atHome = ["/h/.cache/reprise", "/h/.config/reprise", "/h/.local/state/reprise"]
        #expect(paths(["HOME": "/h"]) == atHome)
        #expect(paths([:]) == [nil, nil, nil])
    }

    @Test(
        arguments: [
            ([], true, .screen), ([], false, .words), (["--headless"], true, .words),
            (["--headless", "--plain"], true, .words), (["--plain"], true, .plain),
            (["--plain"], false, .plain), (["--json"], false, .json), (["--json"], true, .json),
            (["--sink", "raw:-"], true, .words), (["--sink", "raw:-", "--plain"], true, .words),
            (["--sink", "raw:file"], true, .screen),
        ] as [([String], Bool, Presentation)]
    )
    func `the screen is chosen if there is one and no option asks for lines`(
        arguments: [String],
        canShowScreen: Bool,
        expected: Presentation
    ) throws {
        let options = try Options.parsed(arguments)
        #expect(Presentation(options: options, canShowScreen: canShowScreen, isTerminal: false) == expected)
        // A terminal that can show no screen gets sentences.
        guard arguments.isEmpty else { return }
        #expect(Presentation(options: options, canShowScreen: false, isTerminal: true) == .plain)
    }

    @Test func `only a screen may start with nothing to play`() throws {
        let options = try Options.parsed()
        try Session.checkSources(options, .screen)
        #expect(throws: UsageError.self) { try Session.checkSources(options, .plain) }
        try Session.checkSources(options, .plain, isQueueLeft: true)
        #expect(throws: UsageError.self) { try Session.checkSources(options, .json) }
    }

    @Test func `a tilde at the start is the home folder, and nowhere else`() {
        #expect(BasePaths.expandingHome("~/Music/a b.mp3", home: "/home/me/") == "/home/me/Music/a b.mp3")
        for path in ["~", "~other/x", "a/~/b", "/~/b", "http://h/~/a.mp3"] {
            #expect(BasePaths.expandingHome(path, home: "/home/me") == path)
        }
        for home in [nil, ""] { #expect(BasePaths.expandingHome("~/x", home: home) == "~/x") }
    }
}
