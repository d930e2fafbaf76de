import Media
import Testing

@Suite
struct PlayerCommandParsingTests {
    @Test(
        arguments: [
            ("play", .play), ("pause", .pause), ("toggle", .toggle), ("stop", .stop), ("next", .next),
            ("previous", .previous), ("mute", .mute), ("shuffle", .shuffle), ("clear", .clear),
            ("reload", .reload),
            ("status", .status), ("quit", .quit), ("  quit \r", .quit), ("jump 3", .jump(3)),
            ("remove 12", .remove(12)),
            ("remove 3 5-7", .remove(TrackNumbers(places: RangeSet([2..<3, 4..<7])))),
            ("remove 7 1-9 ", .remove(TrackNumbers(places: RangeSet(0..<9)))),
            ("move 3 1", .move(3, to: 1)), ("move 3   1", .move(3, to: 1)),
            ("move 5-6 9 1", .move(TrackNumbers(places: RangeSet([4..<6, 8..<9])), to: 1)),
            ("undo", .undo), ("shuffle now", .shuffleNow), ("sort title", .sort(.title)),
            ("sort artist", .sort(.artist)), ("sort duration", .sort(.duration)),
            ("sort source", .sort(.source)),
            ("seek +10", .seek(.by(.seconds(10)))), ("seek -2.5", .seek(.by(.milliseconds(-2_500)))),
            ("seek 90", .seek(.to(.seconds(90)))), ("seek 1:30", .seek(.to(.seconds(90)))),
            ("seek 1:00:05.5", .seek(.to(.milliseconds(3_605_500)))),
            ("seek -1:00", .seek(.by(.seconds(-60)))),
            ("seek 50%", .seek(.percent(50))), ("seek 0%", .seek(.percent(0))),
            ("seek 100%", .seek(.percent(100))),
            ("seek 12.5%", .seek(.percent(12.5))), ("volume 0", .volume(0)), ("volume 100", .volume(100)),
            ("volume +5", .changeVolume(by: 5)), ("volume -5", .changeVolume(by: -5)),
            ("repeat", .setRepeat(nil)),
            ("repeat off", .setRepeat(.off)), ("repeat one", .setRepeat(.one)),
            ("repeat all", .setRepeat(.all)),
            ("gain", .setGain(nil)), ("gain off", .setGain(.off)), ("gain album", .setGain(.album)),
            ("add http://a/b c.mp3", .add("http://a/b c.mp3")), ("add  My Song.mp3 ", .add("My Song.mp3")),
            ("save /tmp/My list.m3u8", .save("/tmp/My list.m3u8")),
        ] as [(String, PlayerCommand)]
    )
    func `a line is its command`(line: String, expected: PlayerCommand) throws {
        #expect(try PlayerCommand(parsing: line) == expected)
    }

    @Test(
        arguments: [
            "", "   ", "fly", "Play", "play now", "jump", "jump 0", "jump -1", "jump x",
            "jump 99999999999999999999",
            "remove", "remove 0", "remove 0-2", "remove 3-1", "remove 1-", "remove -3", "remove 1-2-3",
            "remove 1,2", "remove ٣", "remove 1-99999999999999999999", "move 1", "move 1-2", "move 0 1",
            "move 1 2-3", "move a b", "undo 2", "sort", "sort loudness", "shuffle later", "seek", "seek x",
            "seek 1:60",
            "seek 1:2:60", "seek 1:2:3:4", "seek :5", "seek 5:", "seek +", "seek +-5", "seek 1e3",
            "seek 0x10",
            "seek ٣", "seek nan", "seek 101%", "seek -1%", "seek +5%", "seek %", "seek 0x10%", "seek 1.2.3",
            "volume",
            "volume 101", "volume -101", "volume loud", "repeat twice", "gain loud", "gain 3", "add",
            "save  ",
        ]
    )
    func `what is no command says why in one line`(line: String) {
        #expect {
            try PlayerCommand(parsing: line)
        } throws: { error in
            let text = "\(error)"
            return error is PlayerCommand.ParseError && text.contains(" ") && !text.contains("\n")
        }
    }

    @Test func `an unknown command is repeated without its controls`() {
        #expect {
            try PlayerCommand(parsing: "\u{1B}[2J")
        } throws: {
            "\($0)" == "\u{FFFD}[2J is no command"
        }
    }

    @Test(
        arguments: [
            (0, "0:00"), (59, "0:59"), (60, "1:00"), (3_599, "59:59"), (3_600, "1:00:00"),
            (36_061, "10:01:01"), (-5, "0:00"),
        ]
    )
    func `a time is shown in clock form`(seconds: Int, expected: String) {
        #expect(Duration.seconds(seconds).clockTime == expected)
    }

    @Test func `every second of a long day is read back as it is shown`() {
        let seconds = Array(0..<4_000) + Array(stride(from: 4_000, to: 100_000, by: 37))
        #expect(seconds.allSatisfy { Duration(clockTime: Duration.seconds($0).clockTime) == .seconds($0) })
    }
}
